//! A conversation as a document.

use std::fmt::Write as _;

use integration_tests::Exchange;
use serde_json::{Map, Value, json};

const HEAD: &str = "\
# What a client and the server say

From a run on a real Chromium: the test `transcript` (in `tests/it`) has this conversation again each time, and holds it against this page, ids and times apart.
`UPDATE_DOCS=1 cargo test -p integration-tests --test it transcript` writes it anew. `→` is what the client sends on the standard input of `cdp-supervisor mcp`, one message a line;
`←` is what it reads on its standard output, here only the structured content, which is the text of the result too. Fields that do not matter here are left out as `\"…\"`. The fields
that are there stay ([semantics.md](semantics.md#snapshots-and-events)); more may come.

## A dialog in the middle of a call
";

const MOMENTS: &str = "
## Which tools are there when

| | `tools/list` has | the server sent `list_changed` | `browser_eval` with `6 * 7` gives |
|---|---|---|---|
";

/// What is always shown of a result; the snapshot's other fields are left out.
const SHOWN: [&str; 14] = [
    "success",
    "task_id",
    "status",
    "stale",
    "pending_dialogs",
    "recent_dialogs",
    "opened_dialogs",
    "frame_tree",
    "error",
    "action",
    "dialog",
    "value",
    "call_id",
    "next_dialog",
];

/// The document, as far as it has come.
pub(super) struct Markdown {
    text: String,
    steps: usize,
}

/// The tools at some moment.
#[derive(Clone)]
pub(super) struct Moment {
    name: &'static str,
    tools: Vec<String>,
    gives: String,
    told: bool,
}

impl Moment {
    pub(super) fn new(name: &'static str, tools: Vec<String>, evaluated: &Value, told: bool) -> Self {
        let gives = match evaluated["error"]["code"].as_str() {
            Some(code) => format!("`{code}`"),
            None => format!("`{}`", evaluated["value"]),
        };
        Self { name, tools, gives, told }
    }
}

impl Markdown {
    pub(super) fn new() -> Self {
        Self { text: HEAD.to_owned(), steps: 0 }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A request with its result.
    pub(super) fn exchange(&mut self, title: &str, exchange: &Exchange) {
        self.steps += 1;
        let (steps, took) = (self.steps, exchange.took.as_millis().max(1));
        let _ = writeln!(self.text, "\n### {steps}. {title}\n\n```json\n→ {}", exchange.request);
        let shown = serde_json::to_string_pretty(&shown(exchange.content())).unwrap();
        let _ = writeln!(self.text, "← {shown}\n```\n\nAfter {took} ms.");
    }

    /// What came without having been asked for.
    pub(super) fn notification(&mut self, message: &Value) {
        let _ = writeln!(self.text, "\n```json\n← {message}\n```");
    }

    pub(super) fn moments(&mut self, moments: &[Moment]) {
        self.text.push_str(MOMENTS);
        for Moment { name, tools, gives, told } in moments {
            let tools: Vec<_> =
                tools.iter().map(|tool| format!("`{}`", tool.trim_start_matches("browser_"))).collect();
            let (count, tools) = (tools.len(), tools.join(", "));
            let told = if *told { "yes" } else { "" };
            let _ = writeln!(self.text, "| {name} | {count}: {tools} | {told} | {gives} |");
        }
    }
}

fn shown(content: &Value) -> Value {
    let all = content.as_object().unwrap();
    let mut shown: Map<_, _> = all
        .iter()
        .filter(|(name, _)| SHOWN.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if shown.len() < all.len() {
        shown.insert("…".to_owned(), json!("…"));
    }
    Value::Object(shown)
}
