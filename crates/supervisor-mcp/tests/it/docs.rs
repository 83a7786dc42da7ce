//! The documents that are made from the code are those that are in the repository.

use std::path::Path;

use supervisor_mcp::docs::documents;

/// Set, it writes them instead: `cargo xtask docs`.
const UPDATE: &str = "UPDATE_DOCS";

/// A schema travels alone, so each says by itself what stays.
#[test]
fn every_schema_says_what_stays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let schemas: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(schemas.len() >= 6, "{schemas:?}");
    for path in schemas {
        let schema: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let promise = schema["$comment"].as_str().unwrap_or_default();
        assert!(promise.contains("stay") && promise.contains("added"), "{}: {promise:?}", path.display());
    }
}

#[test]
fn documents_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut stale = Vec::new();
    for document in documents() {
        let path = root.join(document.path);
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &document.text).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != document.text {
            stale.push(document.path);
        }
    }
    assert!(stale.is_empty(), "not what the code says: {stale:?}; run `cargo xtask docs`");
}
