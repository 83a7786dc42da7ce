//! The bundle for a report: all that helps, and no secrets.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::finding::Finding;
use super::machine;
use crate::error::CliError;
use crate::settings::{self, Loaded};

/// Writes it, for its owner alone: what to hand on is his choice.
pub(super) fn write(path: &Path, loaded: &Loaded, findings: &[Finding]) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(&content(loaded, findings)).map_err(std::io::Error::from)? + "\n";
    let text = without_home(text, loaded);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| CliError::File { what: "write", path: path.to_owned(), source })
}

fn content(loaded: &Loaded, findings: &[Finding]) -> Value {
    let names: Vec<_> = loaded.around.variables().map(|(name, _)| name.to_string_lossy()).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "core_version": supervisor_transcript::CORE_VERSION,
        "system": machine::system(),
        "findings": findings,
        "settings": settings::shown_as_json(loaded),
        "journal": crate::journal::listed(loaded),
        "environment_names": names,
    })
}

/// A home folder often has its owner's name.
fn without_home(text: String, loaded: &Loaded) -> String {
    match loaded.around.home() {
        Some(home) if home.components().count() > 1 => {
            let written = json!(home).to_string();
            text.replace(written.trim_matches('"'), "~")
        }
        _ => text,
    }
}
