//! What screens are tested with.

use std::sync::Arc;

use ratatui::layout::Size;
use serde_json::{Value, json};
use supervisor::{ConsoleView, Recorded, Snapshot};

use super::keys::Key;
use super::model::{Effect, Input, Model};

/// Noon of some day.
const OPENED: f64 = 1_764_504_000.0;

/// A dialog that waits on the first page.
pub(super) fn dialog(number: u64, kind: &str, message: &str) -> Value {
    json!({"id": format!("d-{number}"), "type": kind, "message": message, "default_prompt": "",
        "opened_at": OPENED, "frame_id": "FRAME_A", "target_id": "PAGE_A_000001", "session_id": "S1",
        "url": "https://shop.example/cart", "source": "native", "answerable": true})
}

/// The same once it has ended.
pub(super) fn ended(number: u64, by: &str, accepted: Option<bool>) -> Value {
    let mut dialog = dialog(number, "confirm", "Leave?");
    dialog["closed_at"] = json!(OPENED + 1.0);
    dialog["closed_by"] = json!(by);
    dialog["accepted"] = json!(accepted);
    if by == "remote" {
        dialog["reason"] = json!("navigation");
    }
    dialog
}

fn frame(id: &str, parent: &str, url: &str, is_oopif: bool) -> Value {
    json!({"frame_id": id, "parent_frame_id": parent, "url": url, "origin": "", "name": "", "is_oopif": is_oopif,
        "target_id": "PAGE_A_000001", "crashed": false})
}

fn page(id: &str, url: &str, title: &str) -> Value {
    json!({"target_id": id, "session_id": "S1", "url": url, "title": title, "active": false, "crashed": false,
        "unresponsive": false, "pending_dialogs": 0})
}

/// Two pages, the first with nested frames, and nothing open.
pub(super) fn quiet() -> Value {
    let mut first = page("PAGE_A_000001", "https://shop.example/cart", "Your cart");
    first["active"] = json!(true);
    json!({
        "pending_dialogs": [], "recent_dialogs": [ended(1, "agent", Some(true)), ended(2, "remote", None)],
        "frame_tree": {"top": {"frame_id": "FRAME_A", "url": "https://shop.example/cart", "origin": "", "name": "",
            "is_oopif": false, "target_id": "PAGE_A_000001", "crashed": false},
            "children": [frame("FRAME_B", "FRAME_A", "about:srcdoc", false),
                frame("FRAME_C", "FRAME_A", "https://ads.example.net/", true),
                frame("FRAME_D", "FRAME_C", "https://deep.example.org/", true)],
            "truncated": false},
        "status": "connected", "stale": false, "browser": "Chrome/156.0.8078.73",
        "pages": [first, page("PAGE_B_000002", "https://news.example/", "News")],
        "counts": {"dialogs_seen": 2, "console_dropped": 0, "messages": 321, "bytes": 456_789, "unknown_messages": 1},
        "version": 7
    })
}

/// The same with these dialogs open.
pub(super) fn with(pending: &[Value]) -> Value {
    let mut snapshot = quiet();
    snapshot["pages"][0]["pending_dialogs"] = json!(pending.len());
    snapshot["pending_dialogs"] = json!(pending);
    snapshot
}

/// The connection was lost while a dialog was open, and one page was stuck before.
pub(super) fn reconnecting() -> Value {
    let mut open = dialog(3, "alert", "Saved");
    open["answerable"] = json!(false);
    let mut snapshot = with(&[open]);
    for (key, value) in [("status", json!("reconnecting")), ("stale", json!(true)), ("attempt", json!(3))] {
        snapshot[key] = value;
    }
    snapshot["last_error"] = json!("connection refused");
    snapshot["pages"][0]["unresponsive"] = json!(true);
    snapshot["pages"][1]["crashed"] = json!(true);
    snapshot["pages"][1]["blocked"] =
        json!({"reason": "reopening", "suspected": true, "remedies": ["close"]});
    snapshot
}

/// Pages that try to steer the terminal.
pub(super) fn hostile() -> Value {
    let zalgo = format!("z{}", "\u{301}".repeat(40));
    let mut prompt = dialog(3, "prompt", "a\u{1b}[2J\u{1b}]0;owned\u{7}\r\n✓ all is well\u{202e}drawkcab");
    prompt["default_prompt"] = json!("日本語の長い文字列と絵文字🎉👩‍👩‍👧");
    prompt["url"] = json!(format!("https://{zalgo}.example/\u{9b}31m"));
    let mut snapshot = with(&[prompt, dialog(4, "alert", &"寬".repeat(200))]);
    snapshot["pages"][0]["title"] = json!(format!("{zalgo}\u{200f}عنوان"));
    snapshot["pages"][1]["url"] = json!("https://news.example/\u{0}\u{8}\u{8}\u{8}");
    snapshot["frame_tree"]["children"][0]["name"] = json!("\u{1b}c");
    snapshot
}

/// What a snapshot of JSON is.
pub(super) fn read(snapshot: Value) -> Arc<Snapshot> {
    Arc::new(serde_json::from_value(snapshot).unwrap())
}

/// An event of JSON.
pub(super) fn event(seq: u64, event: &Value) -> Arc<Recorded> {
    let mut recorded = json!({"seq": seq, "at": seq * 1_500_000});
    recorded.as_object_mut().unwrap().append(&mut event.as_object().unwrap().clone());
    Arc::new(serde_json::from_value(recorded).unwrap())
}

/// A screen with a console and a log.
pub(super) fn model(snapshot: Value, size: Size) -> Model {
    let entry = |at: f64, level: &str, text: &str| {
        json!({"at": OPENED + at, "level": level, "text": text, "url": "https://shop.example/cart.js", "line": 41,
            "column": 3, "frame_id": null, "target_id": "PAGE_A_000001"})
    };
    let console: ConsoleView = serde_json::from_value(json!({"dropped": 4,
        "errors": [entry(1.0, "exception", "TypeError: cart is undefined\n    at \u{1b}[31mbuy")],
        "warnings": [entry(2.0, "warning", "deprecated")]}))
    .unwrap();
    let mut model =
        Model::new("ws://127.0.0.1:9222/devtools/browser/…".into(), read(snapshot), console, size);
    for (seq, told) in [
        json!({"event": "connected", "epoch": 1}),
        json!({"event": "call_started", "req": 1, "call": "c-1", "route": "S1", "frame": "FRAME_A",
            "method": "Runtime.evaluate", "eval": true, "deadline": 9}),
        json!({"event": "call_ended", "call": "c-1", "end": {"failed": "dialog_opened"}}),
    ]
    .iter()
    .enumerate()
    {
        model.handle(Input::Event(event(seq as u64 + 1, told)));
    }
    model
}

/// Presses keys; gives what the last one asks for.
pub(super) fn press(model: &mut Model, keys: &[Key]) -> Option<Effect> {
    keys.iter().map(|key| model.handle(Input::Key(key.clone()))).last().flatten()
}

/// The keys of a text.
pub(super) fn typed(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).collect()
}
