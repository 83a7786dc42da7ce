//! What holds of every simulated step holds of every recorded one.
#![allow(clippy::disallowed_methods)] // a test may read files

use std::path::Path;

use simulator::audit;

#[test]
fn every_recording_keeps_the_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts");
    let mut audited = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.to_string_lossy().ends_with(".cdp.jsonl") {
            let kept = audit(&std::fs::read(&path).unwrap());
            assert!(kept.is_ok(), "{}: {}", path.display(), kept.unwrap_err());
            audited += 1;
        }
    }
    assert!(audited >= 8, "{audited} recordings");
}
