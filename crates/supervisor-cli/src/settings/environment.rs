//! The variables that give settings.

use super::around::{Around, resolved};
use super::given::Layer;
use super::keys::{self, CDP_URL_VARIABLE, Form, KEYS, PREFIX};
use super::similar::most_similar;
use super::source::Source;

/// They begin as ours do, and tell the project's own tests which browser to run on.
const OF_THE_TESTS: [&str; 2] = ["CDP_SUPERVISOR_BROWSER", "CDP_SUPERVISOR_NO_BROWSER"];

/// What the variables say. An empty one says nothing.
pub(crate) fn layer(around: &Around) -> Layer {
    let mut layer = Layer::default();
    let ours = around.variables().filter_map(|(name, value)| {
        let name = name.to_str()?;
        let is_ours = name.starts_with(PREFIX) && !OF_THE_TESTS.contains(&name);
        (is_ours && !value.is_empty()).then_some((name, value))
    });
    // First, so that our own name for the same key wins.
    let others = around.variables().filter(|(name, value)| *name == CDP_URL_VARIABLE && !value.is_empty());
    for (name, value) in others.map(|(_, value)| (CDP_URL_VARIABLE, value)).chain(ours) {
        let source = Source::Environment { name: name.to_owned() };
        match value.to_str() {
            Some(text) => variable(&mut layer, name, text, source, around),
            None => layer.problem(name, "its value is not UTF-8", source),
        }
    }
    layer
}

fn variable(layer: &mut Layer, name: &str, text: &str, source: Source, around: &Around) {
    let named = if name == CDP_URL_VARIABLE {
        keys::find("browser.cdp_url")
    } else {
        KEYS.iter().find(|key| key.variable() == name)
    };
    match named {
        Some(key) if key.form == Form::Path && text != "~" => {
            let path = resolved(text, "".as_ref(), around.home().as_deref());
            layer.text(key, &path.to_string_lossy(), source);
        }
        Some(key) => layer.text(key, text, source),
        None => layer.problem(name, unknown(name), source),
    }
}

fn unknown(name: &str) -> String {
    let known: Vec<_> = KEYS.iter().map(keys::Key::variable).collect();
    match most_similar(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("there is no such variable; did you mean {meant}?"),
        None => "there is no such variable".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_variable_that_is_not_there_is_told() {
        let around = Around::with([
            ("CDP_SUPERVISOR_BROWSER_CDP_ULR", "secret"),
            ("CDP_SUPERVISOR_NO_BROWSER", "1"),
            ("CDP_SUPERVISOR_LOG_LEVEL", ""),
        ]);
        let layer = layer(&around);
        assert_eq!((layer.given.len(), layer.problems.len()), (0, 1));
        assert_eq!(
            layer.problems[0].why,
            "there is no such variable; did you mean CDP_SUPERVISOR_BROWSER_CDP_URL?"
        );
    }

    #[test]
    fn our_own_name_comes_after_the_one_that_others_know() {
        let around = Around::with([
            ("BROWSER_CDP_URL", "http://a.test"),
            ("CDP_SUPERVISOR_BROWSER_CDP_URL", "http://b.test"),
        ]);
        let values: Vec<_> = layer(&around).given.into_iter().map(|given| given.value).collect();
        assert_eq!(values, [json!("http://a.test"), json!("http://b.test")]);
    }
}
