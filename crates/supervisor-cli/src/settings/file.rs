//! The file with the settings.

use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::around::{Around, resolved};
use super::error::SettingsError;
use super::given::{Given, Layer, unknown};
use super::keys::{self, Form, KEYS};
use super::similar::most_similar;
use super::source::Source;
use super::yaml::{self, Content, Node};

/// Its name where none is given.
const NAME: &str = "config.yaml";

/// More than any settings have: something else was named by mistake, and is not read whole.
const MAX_BYTES: u64 = 1024 * 1024;

/// Finds the file, and reads it.
///
/// # Errors
/// When there is a file that cannot be read.
pub(crate) fn layer(
    named: Option<&Path>,
    around: &Around,
) -> Result<(Option<PathBuf>, Layer), SettingsError> {
    match find(named, around)? {
        Some((path, text)) => {
            let layer = parsed(&path, &text, around.home().as_deref());
            Ok((Some(path), layer))
        }
        None => Ok((None, Layer::default())),
    }
}

/// The named one; else the one in the working directory, else the user's own.
fn find(named: Option<&Path>, around: &Around) -> Result<Option<(PathBuf, String)>, SettingsError> {
    let unreadable = |path: &Path, source| SettingsError::Unreadable { path: path.to_owned(), source };
    if let Some(path) = named {
        return read(path).map(|text| Some((path.to_owned(), text))).map_err(|error| unreadable(path, error));
    }
    let here = PathBuf::from(NAME);
    for path in [Some(here), around.config().map(|folder| folder.join(NAME))].into_iter().flatten() {
        match read(&path) {
            Ok(text) => return Ok(Some((path, text))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(unreadable(&path, error)),
        }
    }
    Ok(None)
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_BYTES {
        true => Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {MAX_BYTES} bytes"))),
        false => Ok(text),
    }
}

fn parsed(path: &Path, text: &str, home: Option<&Path>) -> Layer {
    let mut reader = Reader { path, home, layer: Layer::default() };
    match yaml::read(text) {
        Ok(node) => reader.document(node),
        Err(error) => {
            let source = Source::File { path: path.to_owned(), line: error.line };
            reader.layer.problem("", format!("it is no YAML: {}", error.why), source);
        }
    }
    reader.layer
}

struct Reader<'a> {
    path: &'a Path,
    home: Option<&'a Path>,
    layer: Layer,
}

impl Reader<'_> {
    fn document(&mut self, node: Node) {
        let line = node.line;
        match node.content {
            Content::Plain(Value::Null) => {}
            Content::Map(sections) => {
                sections.into_iter().for_each(|(name, line, node)| self.section(&name, line, node))
            }
            _ => self.problem("", line, "expected sections with keys, such as `browser:`"),
        }
    }

    fn section(&mut self, section: &str, line: u64, node: Node) {
        let known: Vec<_> = KEYS.iter().map(|key| key.parts().0).collect();
        if !known.contains(&section) {
            let why = match most_similar(section, known) {
                Some(meant) => format!("there is no such section; did you mean {meant}?"),
                None => unknown(section),
            };
            return self.problem(section, line, &why);
        }
        match node.content {
            Content::Plain(Value::Null) => {}
            Content::Map(entries) => {
                entries.into_iter().for_each(|(name, line, node)| self.key(section, &name, line, node))
            }
            _ => self.problem(section, line, "expected keys with values, such as `key: value`"),
        }
    }

    fn key(&mut self, section: &str, name: &str, line: u64, node: Node) {
        let path = format!("{section}.{name}");
        let Some(key) = keys::find(&path) else { return self.problem(&path, line, &unknown(&path)) };
        let value = match (key.form, node.value()) {
            (Form::Path, Value::String(written)) => self.placed(&written),
            (_, value) => value,
        };
        let inside = match node.content {
            Content::Map(entries) => entries.into_iter().map(|(name, line, _)| (name, line)).collect(),
            _ => Vec::new(),
        };
        self.layer.given.push(Given { key, value, source: self.source(line), inside });
    }

    /// Relative to the file.
    fn placed(&self, written: &str) -> Value {
        let base = self.path.parent().unwrap_or(Path::new(""));
        resolved(written, base, self.home).to_string_lossy().into_owned().into()
    }

    fn problem(&mut self, key: &str, line: u64, why: &str) {
        let source = self.source(line);
        self.layer.problem(key, why, source);
    }

    fn source(&self, line: u64) -> Source {
        Source::File { path: self.path.to_owned(), line: Some(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let layer = parsed(Path::new("c.yaml"), text, None);
        layer
            .problems
            .iter()
            .map(|problem| format!("{}: {}: {}", problem.source, problem.key, problem.why))
            .collect()
    }

    #[test]
    fn keys_that_are_not_there_are_told_with_their_line() {
        let text = "browser:\n  dialog_polcy: x\n  socket: y\nbowser: {}\nqqq: 1\nlog: []\njournal:\n";
        assert_eq!(
            problems(text),
            [
                "c.yaml:2: browser.dialog_polcy: there is no such key; did you mean browser.dialog_policy?",
                "c.yaml:3: browser.socket: there is no such key; did you mean serve.socket?",
                "c.yaml:4: bowser: there is no such section; did you mean browser?",
                "c.yaml:5: qqq: there is no such key",
                "c.yaml:6: log: expected keys with values, such as `key: value`",
            ]
        );
        assert_eq!(problems("- a\n"), ["c.yaml:1: : expected sections with keys, such as `browser:`"]);
        assert!(problems("browser: [\n")[0].contains("it is no YAML"));
    }

    #[test]
    fn a_relative_path_starts_at_the_file() {
        let layer = parsed(
            Path::new("/etc/x/c.yaml"),
            "serve: {socket: a.sock}\njournal: {path: ~/j}\n",
            Some(Path::new("/h")),
        );
        let values: Vec<_> = layer.given.iter().map(|given| given.value.clone()).collect();
        assert_eq!(values, ["/etc/x/a.sock", "/h/j"]);
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.yaml");
        let size = usize::try_from(MAX_BYTES).unwrap();
        std::fs::write(&path, "#".repeat(size)).unwrap();
        assert!(layer(Some(&path), &Around::default()).is_ok());
        std::fs::write(&path, "#".repeat(size + 1)).unwrap();
        assert!(layer(Some(&path), &Around::default()).unwrap_err().to_string().contains("more than"));
    }
}
