//! What a layer says.

use serde_json::Value;

use super::error::Problem;
use super::keys::{KEYS, Key};
use super::similar::most_similar;
use super::source::Source;

/// A value for a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Given {
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    pub(crate) source: Source,
    /// The lines of what is inside of the value, by name.
    pub(crate) inside: Vec<(String, u64)>,
}

/// What a layer says, and what it says wrongly.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    pub(crate) given: Vec<Given>,
    pub(crate) problems: Vec<Problem>,
}

impl Given {
    /// A value without anything inside.
    pub(crate) fn new(key: &'static Key, value: Value, source: Source) -> Self {
        Self { key, value, source, inside: Vec::new() }
    }

    /// Where something inside of it is.
    pub(crate) fn source_of(&self, inside: Option<&str>) -> Source {
        let line = self.inside.iter().find(|(name, _)| Some(name.as_str()) == inside).map(|(_, line)| *line);
        match (&self.source, line) {
            (Source::File { path, .. }, Some(line)) => Source::File { path: path.clone(), line: Some(line) },
            (source, _) => source.clone(),
        }
    }
}

impl Layer {
    /// A text for a key, from a variable or a flag.
    pub(crate) fn text(&mut self, key: &'static Key, text: &str, source: Source) {
        match key.value(text) {
            Ok(value) => self.given.push(Given::new(key, value, source)),
            Err(why) => self.problem(key.path, why, source),
        }
    }

    pub(crate) fn problem(&mut self, key: &str, why: impl Into<String>, source: Source) {
        self.problems.push(Problem { source, key: key.to_owned(), why: why.into() });
    }
}

/// What to say about a key that is not there.
pub(crate) fn unknown(path: &str) -> String {
    match meant(path) {
        Some(meant) => format!("there is no such key; did you mean {meant}?"),
        None => "there is no such key".to_owned(),
    }
}

/// A key whose name is that, in whatever section, is meant more likely than one that looks like the whole.
fn meant(path: &str) -> Option<&'static str> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let same = KEYS.iter().find(|key| key.parts().1 == name).map(|key| key.path);
    same.or_else(|| most_similar(path, KEYS.iter().map(|key| key.path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_the_wrong_section_is_found_in_the_right_one() {
        assert!(unknown("browser.socket").ends_with("did you mean serve.socket?"));
        assert!(unknown("browser.dialog_polcy").ends_with("did you mean browser.dialog_policy?"));
        assert_eq!(unknown("zzz.qqq"), "there is no such key");
    }
}
