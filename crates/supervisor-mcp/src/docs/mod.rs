//! The documents that are made from the code: schemas for programs, and the tools in words.

mod markdown;

use serde_json::{Map, Value, json};
use supervisor::{Failure, Recorded, Snapshot};

use crate::schema;
use crate::session::described;
use crate::status::ServerStatus;
use crate::tools::TOOLS;

/// A document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// Where it belongs, from the root of the repository.
    pub path: &'static str,
    /// What is in it.
    pub text: String,
}

/// All documents that this crate makes.
#[must_use]
pub fn documents() -> Vec<Document> {
    let tools: Vec<_> = TOOLS.iter().map(|entry| json!(described(entry))).collect();
    vec![
        Document { path: "docs/tools.md", text: markdown::tools() },
        Document {
            path: "docs/schema/tools.json",
            text: pretty(&json!({ "$comment": PROMISE, "tools": tools })),
        },
        Document {
            path: "docs/schema/snapshot.json",
            text: titled("Snapshot", schema::written::<Snapshot>()),
        },
        Document { path: "docs/schema/events.json", text: titled("Event", schema::written::<Recorded>()) },
        Document {
            path: "docs/schema/status.json",
            text: titled("ServerStatus", schema::written::<ServerStatus>()),
        },
        Document { path: "docs/schema/error.json", text: titled("Error", schema::written::<Failure>()) },
    ]
}

/// What stays: said in the schema itself, because it travels alone.
const PROMISE: &str = "Names and shapes stay; fields are only added, and enumerations may grow. Pass over what you do not know.";

fn titled(title: &str, mut schema: Map<String, Value>) -> String {
    schema.insert("title".into(), title.into());
    schema.insert("$comment".into(), PROMISE.into());
    pretty(&Value::Object(schema))
}

fn pretty(value: &Value) -> String {
    // Printing a tree of values to a string cannot fail.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
