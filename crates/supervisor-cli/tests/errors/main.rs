//! `docs/errors.md`: one of each kind of error, as a user sees it. Each further run must say the same, ids, ports and times apart.
#![allow(clippy::unwrap_used)]

mod cases;
#[path = "../../../../tests/it/transcript/likeness.rs"]
mod likeness;
mod relay;
mod seen;
mod tools;

use std::path::{Path, PathBuf};

use likeness::likeness;
use serde_json::Value;

/// Set, the document is written instead of compared.
const UPDATE: &str = "UPDATE_DOCS";

const HEAD: &str = "\
# Each kind of error, as it is seen

Made by a test that runs these commands each time (`crates/supervisor-cli/tests/errors`; `UPDATE_DOCS=1` writes this page anew). Standard error says what, why and what to do next; standard
output has nothing then. `#` is the exit code: 1 refused or failed, 2 the command line or the settings are wrong, 3 no browser or no server. What to do about connections at length:
[troubleshooting.md](troubleshooting.md).

Codes, such as `no_dialog`, keep their names and meanings; new ones may come ([schema/error.json](schema/error.json) has all of them, each is below). The words are for people, and may change.
";

/// These need a Chromium.
mod browser {
    use super::*;

    #[test]
    fn the_document_says_what_is_seen() {
        let mut seen = seen::Seen::new(HEAD);
        cases::command_line(&mut seen);
        cases::settings(&mut seen);
        cases::nothing_there(&mut seen);
        cases::connections(&mut seen);
        tools::all(&mut seen);
        cases::files(&mut seen);
        compare(&seen.text);
    }
}

#[test]
fn the_document_has_every_code() {
    let schema = std::fs::read_to_string(docs("schema/error.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let codes = schema["$defs"]["Code"]["oneOf"].as_array().unwrap();
    let there = std::fs::read_to_string(docs("errors.md")).unwrap();
    let is_there = |code: &&Value| there.contains(&format!("\nerror: {}: ", code["const"].as_str().unwrap()));
    let missing: Vec<_> = codes.iter().filter(|code| !is_there(code)).map(|code| &code["const"]).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(codes.len() > 20, "{codes:?}");
}

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

fn compare(text: &str) {
    let path = docs("errors.md");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap();
    let (there, now) = (likeness(&there), likeness(text));
    for (line, (there, now)) in there.lines().zip(now.lines()).enumerate() {
        assert_eq!(now, there, "line {} of {}; set {UPDATE}=1 to write it", line + 1, path.display());
    }
    assert_eq!(now.lines().count(), there.lines().count());
}
