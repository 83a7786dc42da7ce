//! The settings that hold, as YAML with the source of each value, or as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::keys::KEYS;
use super::layers::Loaded;
use super::source::Source;
use super::yaml;

/// A file that says the same, secrets apart, with a comment for each value that says where it comes from.
pub(crate) fn yaml(loaded: &Loaded) -> String {
    let mut text = match &loaded.file {
        Some(path) => format!("# {}\n", path.display()),
        None => "# no file was found\n".to_owned(),
    };
    let (mut section, width) = ("", width(loaded));
    for (path, value, source) in entries(loaded) {
        let (its, name) = path.split_once('.').unwrap_or((path, ""));
        if its != section {
            section = its;
            let _ = writeln!(text, "{section}:");
        }
        let line = format!("{name}: {}", written(&value));
        let _ = writeln!(text, "  {line:width$}  # {source}");
    }
    text
}

/// The same for programs: each key with its value and where it comes from.
pub(crate) fn json(loaded: &Loaded) -> Value {
    let keys: Map<_, _> = entries(loaded)
        .map(|(path, value, source)| (path.to_owned(), json!({"value": value, "source": source})))
        .collect();
    json!({"file": loaded.file, "settings": keys})
}

/// What somebody gave: each key with its value and where it comes from.
pub(crate) fn given(loaded: &Loaded) -> impl Iterator<Item = (&'static str, String, Source)> {
    let all = entries(loaded).filter(|(.., source)| *source != Source::Default);
    all.map(|(path, value, source)| (path, written(&value), source))
}

fn entries(loaded: &Loaded) -> impl Iterator<Item = (&'static str, Value, Source)> {
    // Writing plain settings to a tree of values cannot fail.
    let mut values = serde_json::to_value(&loaded.settings).unwrap_or_default();
    KEYS.iter().map(move |key| {
        let (section, name) = key.parts();
        (key.path, values[section][name].take(), loaded.source(key))
    })
}

/// So wide that the comments stand below each other, unless a value is very long.
fn width(loaded: &Loaded) -> usize {
    const WIDEST: usize = 48;
    let lines = entries(loaded).map(|(path, value, _)| {
        let name = path.split_once('.').map_or(path, |(_, name)| name);
        name.len() + 2 + written(&value).chars().count()
    });
    lines.filter(|width| *width <= WIDEST).max().unwrap_or(0)
}

/// A value as YAML writes it in one line. JSON is YAML; a text needs its quotes only where it would be read as something
/// else.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Null => "~".to_owned(),
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Object(entries) if !entries.is_empty() => {
            let entries = entries.iter().map(|(name, value)| format!("{name}: {}", written(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    let steers = |c: char| c.is_control() || ",[]{}\"'#".contains(c);
    let read = || yaml::read(&format!("k: {text}")).map(|node| node.value());
    !text.contains(steers) && read() == Ok(json!({"k": text}))
}

#[cfg(test)]
mod tests {
    use super::super::around::Around;
    use super::super::{load, url};
    use super::*;

    fn loaded(text: &str) -> Loaded {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.yaml");
        std::fs::write(&path, text).unwrap();
        load(Some(&path), vec![url("wss://u:secret@h.test/?token=secret")], &Around::default()).unwrap()
    }

    #[test]
    fn what_is_shown_says_the_same_when_it_is_read() {
        let text = "browser: {bridge: on, bridge_host: 12.34, headers: {}}\njournal: {path: '/a b: #c'}\n";
        let first = loaded(&text.replace("12.34", "\"12.34\""));
        let shown = yaml(&first);
        assert!(shown.contains("bridge_host: \"12.34\""), "{shown}");
        let second = loaded(&shown);
        assert_eq!(
            serde_json::to_value(&second.settings).unwrap(),
            serde_json::to_value(&first.settings).unwrap()
        );
    }

    #[test]
    fn each_value_has_its_source_and_no_secret_is_shown() {
        let loaded = loaded("browser:\n  headers:\n    X-Key: secret\n");
        let (yaml, json) = (yaml(&loaded), json(&loaded));
        assert!(!format!("{yaml}{json}").contains("secret"), "{yaml}{json}");
        let line = |name: &str| yaml.lines().find(|line| line.contains(name)).unwrap();
        assert!(line("headers:").contains("{X-Key: (hidden)}") && line("headers:").ends_with("c.yaml:2"));
        assert!(line("cdp_url:").contains("wss://h.test/") && line("cdp_url:").ends_with("# URL"));
        assert!(line("socket:").ends_with("# default"));
        let settings = &json["settings"];
        assert_eq!(
            settings["browser.cdp_url"],
            json!({"value": "wss://h.test/", "source": {"from": "flag", "name": "URL"}})
        );
        assert_eq!(settings["browser.headers"]["source"]["line"], 2);
        assert_eq!(settings["log.level"], json!({"value": "info", "source": {"from": "default"}}));
    }
}
