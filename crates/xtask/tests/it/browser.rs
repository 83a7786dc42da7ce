//! On a real Chromium.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A short run: everything happens, everything that is held at rest is the same each time, and a page is written.
#[test]
fn a_short_soak_is_flat() {
    let folder = tempfile::tempdir().unwrap();
    let mut soak = Command::new(env!("CARGO_BIN_EXE_xtask"));
    soak.args(["soak", "--fast", "--minutes", "0.4", "--out"]).arg(folder.path());
    let output = soak.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));

    let page = std::fs::read_to_string(folder.path().join("soak.html")).unwrap();
    assert!(page.contains("<title>Soak</title>"));
    let record = &read(&folder.path().join("soak.json"))["record"];
    for kind in ["dialog ended", "crash", "reconnected", "iframe attached", "popup attached", "call ended"] {
        let count = record["last"]["counts"][kind].as_u64().unwrap_or(0);
        assert!(count > 0, "no {kind}: {said}");
    }
    assert!(record["driven"]["swap"].as_u64() > Some(0), "{said}");
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
