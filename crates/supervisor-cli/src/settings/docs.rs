//! `docs/configuration.md`, made from the table and the types.

use std::fmt::Write as _;

use serde_json::Value;

use super::describe::{SCHEMA, description, json_schema, schema};
use super::keys::{CDP_URL_VARIABLE, Flag, KEYS, Key};
use super::show::written;

const HEAD: &str = "\
# Configuration

Made from the code; `cargo xtask docs` writes it anew. The schema for editors is in `schema/config.json`.

A value comes from the first of these that gives one:

1. a flag of the command line, for the subcommands that supervise (`mcp`, `serve`, `watch`, `record`); those that say how the browser
   is reached (`network`, `browser.headers`, `timeouts.start_s`) for `probe` and `doctor` too;
2. a variable of the environment. An empty one gives none; `~` means none, as in YAML. `BROWSER_CDP_URL` is taken for
   `browser.cdp_url`, after our own name for it;
3. one file: the one that `--config` names, else `config.yaml` in the working directory, else
   `$XDG_CONFIG_HOME/cdp-supervisor/config.yaml` (`~/.config` where that is not set);
4. the default.

`cdp-supervisor config` prints what holds and where each value comes from, without secrets; `cdp-supervisor config --schema` prints
the schema. Keys stay and keep their meaning until the next major version; keys are only added, and enumerations may grow. A key that is not there, or a value that cannot be meant so, is an error that names file, line and key; all of
them are told at once, and nothing is started (exit code 2). `--config /dev/null` reads no file.

A key is replaced as a whole, `headers` too. In the file, a relative path starts at the file's folder and `~/` is the home
folder. The URL, the proxy and the values of headers may hold secrets: they are never shown, logged, journalled or recorded. A file with
secrets should be readable by its owner alone.

";

/// All of it.
fn markdown() -> String {
    let mut text = HEAD.to_owned();
    let _ = writeln!(text, "```yaml\n{}```\n", defaults());
    let mut section = "";
    for key in &KEYS {
        let (its, _) = key.parts();
        if its != section {
            section = its;
            let about = SCHEMA["properties"][section]["description"].as_str().unwrap_or_default();
            let _ = writeln!(
                text,
                "\n## `{section}`\n\n{about}\n\n| key | default | variable, flag | what |\n|---|---|---|---|"
            );
        }
        let _ = writeln!(text, "{}", row(key));
    }
    text
}

fn defaults() -> String {
    let mut text = String::new();
    let mut section = "";
    for key in &KEYS {
        let (its, name) = key.parts();
        if its != section {
            section = its;
            let _ = writeln!(text, "{section}:");
        }
        let _ = writeln!(text, "  {name}: {}", written(&schema(key)["default"]));
    }
    text
}

fn row(key: &Key) -> String {
    let also = if key.flag == Flag::Url { format!(", `{CDP_URL_VARIABLE}`") } else { String::new() };
    format!(
        "| `{}` | `{}` | `{}`{also}, {} | {}{} |",
        key.path,
        written(&schema(key)["default"]),
        key.variable(),
        flag(key),
        description(key).replace('|', "\\|"),
        accepted(schema(key)),
    )
}

fn flag(key: &Key) -> String {
    match key.flag {
        Flag::Url => "the URL of the command line".to_owned(),
        Flag::Value(name, value) => format!("`--{name} {value}`"),
        Flag::Header(name) => format!("`--{name} 'NAME: VALUE'`"),
        Flag::On(name) | Flag::Off(name) => format!("`--{name}`"),
    }
}

/// Which values are taken, where the type says more than its name.
fn accepted(schema: &Value) -> String {
    let words = words(schema);
    if !words.is_empty() {
        return format!(" One of {}.", words.join(", "));
    }
    match (&schema["type"], &schema["minimum"], &schema["maximum"]) {
        (Value::String(kind), Value::Null, most) if kind == "number" => {
            format!(" More than 0, at most {most}.")
        }
        (Value::String(kind), least, most) if kind == "integer" => format!(" From {least} to {most}."),
        _ => String::new(),
    }
}

/// The words of an enumeration, however the schema writes it.
fn words(schema: &Value) -> Vec<String> {
    let ways = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or(std::slice::from_ref(schema));
    let listed = ways.iter().flat_map(|way| way["enum"].as_array().cloned().unwrap_or_default());
    let single = ways.iter().filter_map(|way| way.get("const").cloned());
    listed.chain(single).filter_map(|word| Some(format!("`{}`", word.as_str()?))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::around::Around;
    use crate::settings::load;
    use crate::settings::model::Settings;

    /// Set, it writes them instead: `cargo xtask docs`.
    const UPDATE: &str = "UPDATE_DOCS";

    #[test]
    fn documents_are_up_to_date() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for (path, text) in [("configuration.md", markdown()), ("schema/config.json", json_schema())] {
            let path = docs.join(path);
            if std::env::var_os(UPDATE).is_some() {
                std::fs::write(&path, &text).unwrap();
            }
            let there = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(there == text, "{} is not what the code says: run `cargo xtask docs`", path.display());
        }
    }

    #[test]
    fn the_example_is_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.yaml");
        std::fs::write(&path, defaults()).unwrap();
        let loaded = load(Some(&path), vec![], &Around::default()).unwrap();
        assert_eq!(loaded.settings, Settings::default());
    }

    #[test]
    fn words_and_bounds_are_told() {
        let text = markdown();
        assert!(text.contains("One of `must_respond`, `auto_dismiss`, `auto_accept`."), "{text}");
        assert!(text.contains("More than 0, at most 86400."), "{text}");
        assert!(text.contains("From 8 to 1048576."), "{text}");
    }
}
