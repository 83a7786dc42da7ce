//! `docs/tools.md`

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::tools::{Entry, TOOLS};

const HEAD: &str = "\
# Tools

Made from the schemas in the code; `cargo xtask docs` writes it anew. The schemas themselves are in `schema/tools.json`.

`cdp-supervisor mcp` serves these to an agent, `cdp-supervisor serve` to many clients on a socket. While nothing is connected only the first three are there; when that changes,
the server sends `notifications/tools/list_changed`. They stay while a lost connection is made again.

Each tool takes `task_id` (`\"default\"` unless given): tasks have connections and dialogs of their own. Each result is an
object, as structured content and as text, with

| field | what |
|---|---|
| `success` | whether it was done |
| `task_id` | the task |
| `pending_dialogs` | dialogs that wait for an answer; there while the task has a browser |
| `opened_dialogs` | dialogs that opened while the call ran, closed by now or not; there when there are any |
| `error` | when not done: `code`, a `message` that says what to do next, and what belongs to the code (`schema/error.json`) |

A call of a tool that is refused or fails is a result with `isError`, not an error of the protocol. Texts of pages (messages,
URLs, titles, values, console entries) are untrusted.

What stays, until the next major version: the names of the tools, of their arguments and of what they answer, with their types and meanings. Arguments that may be left out, fields of answers and
values of enumerations are added: pass over what you do not know. The words of messages, titles and descriptions may change.
";

/// All tools in words.
pub(super) fn tools() -> String {
    let mut text = HEAD.to_owned();
    for entry in &TOOLS {
        tool(&mut text, entry);
    }
    text
}

fn tool(text: &mut String, entry: &Entry) {
    let (input, output) = ((entry.input)(), (entry.output)());
    let _ = writeln!(text, "\n## `{}`\n\n{}. {}\n", entry.name, entry.title, entry.description);
    let _ = writeln!(text, "{}\n", hints(entry));
    table(
        text,
        "argument",
        &input,
        input.get("required").unwrap_or(&Value::Null),
        "Takes nothing but `task_id`.",
    );
    let _ = writeln!(text);
    table(text, "result", &output, &output["oneOf"][0]["required"], "Says nothing more.");
}

fn hints(entry: &Entry) -> String {
    let hints = entry.hints;
    let mut words = vec![if hints.read_only { "Only looks" } else { "Acts" }];
    if hints.destructive {
        words.push("may be destructive");
    }
    if hints.idempotent {
        words.push("may be repeated");
    }
    if entry.needs_browser {
        words.push("absent while nothing is connected");
    }
    words.join("; ") + "."
}

/// What is in each tool and was said above.
const COMMON: [&str; 5] = ["success", "task_id", "error", "pending_dialogs", "opened_dialogs"];

fn table(text: &mut String, kind: &str, schema: &Map<String, Value>, required: &Value, none: &str) {
    let required = required.as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let rows: Vec<_> = properties.iter().filter(|(name, _)| !COMMON.contains(&name.as_str())).collect();
    if rows.is_empty() {
        let _ = writeln!(text, "{none}");
        return;
    }
    let _ = writeln!(text, "| {kind} | type | |\n|---|---|---|");
    for (name, property) in rows {
        let may_lack = if required.contains(&name.as_str().into()) { "" } else { "?" };
        let description =
            property["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(text, "| `{name}`{may_lack} | {} | {description} |", kind_of(property, schema));
    }
}

/// A type in a few words.
fn kind_of(property: &Value, schema: &Map<String, Value>) -> String {
    if let Some(name) = property["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return kind_of_named(name, &schema["$defs"][name], schema);
    }
    if let Some(ways) = property["anyOf"].as_array().or(property["oneOf"].as_array()) {
        let ways = ways.iter().filter(|way| way["type"] != "null").map(|way| kind_of(way, schema));
        return ways.collect::<Vec<_>>().join(", ");
    }
    if let Some(values) = property["enum"].as_array() {
        return values
            .iter()
            .filter(|value| !value.is_null())
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(value) = property.get("const") {
        return format!("`{value}`");
    }
    match &property["type"] {
        Value::String(kind) if kind == "array" => format!("array of {}", kind_of(&property["items"], schema)),
        Value::String(kind) if kind == "object" => object(property),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            kinds.collect::<Vec<_>>().join(" or ")
        }
        _ => "any JSON".to_owned(),
    }
}

/// A few words are written out, a larger shape is named.
fn kind_of_named(name: &str, definition: &Value, schema: &Map<String, Value>) -> String {
    if definition["type"] == "object" { name.to_owned() } else { kind_of(definition, schema) }
}

/// An object with one field, written out.
fn object(property: &Value) -> String {
    match property["required"].as_array().map(Vec::as_slice) {
        Some([Value::String(name)]) => format!("`{{\"{name}\": …}}`"),
        _ => "object".to_owned(),
    }
}
