//! Errors of tools, each provoked in a real browser.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::cases::answering;
use crate::relay;
use crate::seen::Seen;

pub(crate) fn all(seen: &mut Seen) {
    seen.title("What a tool refuses or fails at");
    seen.says(
        "Each after `cdp-supervisor serve --launch --detach`; an MCP client gets the same as a result with `isError`.",
    );
    seen.serve();
    seen.does(&["cdp", "Page.navigate", r#"{"url": "data:text/html,<iframe srcdoc=x></iframe>"}"#]);
    // Whoever asks the page itself takes a number for each try.
    seen.until(&["frames", "--json"], has_inner);
    dialogs(seen);
    calls(seen);
    frames(seen);
    pages(seen);
    connecting(seen);
    lines(seen);
    seen.does(&["disconnect"]);
    seen.fails(&["eval", "1"], 1);
    seen.end();
}

fn has_inner(frames: &Value) -> bool {
    frames["frames"].as_array().unwrap().iter().any(is_inner)
}

fn is_inner(frame: &Value) -> bool {
    frame["url"] == "about:srcdoc"
}

fn dialogs(seen: &mut Seen) {
    seen.fails(&["eval", "confirm('Sure?')"], 1);
    seen.fails(&["eval", "document.title"], 1);
    seen.fails(&["dialog", "accept", "--id", "d-9"], 1);
    a_dialog_from_before(seen);
    seen.does(&["dialog", "accept"]);
    seen.fails(&["dialog", "accept", "--id", "d-1"], 1);
    seen.fails(&["dialog", "accept"], 1);
}

/// Another task comes to the same browser while a dialog is open there.
fn a_dialog_from_before(seen: &mut Seen) {
    seen.says(
        "To a task that comes when the dialog is open already (`cdp-supervisor connect URL --task late`):",
    );
    seen.does(&["connect", &seen.endpoint(), "--task", "late"]);
    seen.until(&["snapshot", "--task", "late", "--json"], |it| it["pages"][0]["blocked"].is_object());
    seen.fails(&["dialog", "accept", "--task", "late"], 1);
    seen.fails(&["eval", "1", "--task", "late"], 1);
    seen.does(&["disconnect", "--task", "late"]);
    seen.says("Once the dialog is accepted by the first task:");
}

fn calls(seen: &mut Seen) {
    seen.fails(&["eval", "null.x"], 1);
    seen.fails(&["eval", "new Promise(() => {})", "--await", "--timeout", "0.5"], 1);
    seen.fails(&["cdp", "Page.navigate", "{url: about:blank}"], 2);
    seen.fails(&["cdp", "Page.disable"], 1);
    seen.fails(&["cdp", "Page.naviagte"], 1);
    seen.fails(&["result", "c-99"], 1);
    let page = seen.json(&["snapshot", "--json"])["pages"][0]["target_id"].clone();
    seen.fails(&["recover", page.as_str().unwrap(), "reload"], 1);
}

fn frames(seen: &mut Seen) {
    seen.fails(&["eval", "1", "--frame", "F"], 1);
    let frames = seen.json(&["frames", "--json"]);
    let inner = frames["frames"].as_array().unwrap().iter().find(|frame| is_inner(frame)).unwrap();
    let inner = inner["frame_id"].as_str().unwrap();
    seen.fails(&["cdp", "DOM.getDocument", "--frame", inner], 1);
    seen.does(&["eval", "document.querySelector('iframe').remove()"]);
    seen.says("Once that iframe is removed:");
    seen.fails(&["eval", "1", "--frame", inner], 1);
    seen.fails(&["eval", "location = 'about:blank', new Promise(() => {})", "--await"], 1);
}

fn pages(seen: &mut Seen) {
    let first = seen.json(&["snapshot", "--json"])["pages"][0]["target_id"].as_str().unwrap().to_owned();
    let made = seen.does(&["cdp", "Target.createTarget", r#"{"url": "about:blank"}"#]);
    let second = serde_json::from_str::<Value>(&made).unwrap()["targetId"].as_str().unwrap().to_owned();
    seen.until(&["snapshot", "--json"], |it| it["pages"].as_array().unwrap().len() == 2);
    for page in [&first, &second] {
        seen.until(&["frames", "--target", page, "--json"], |it| it["frames"][0].is_object());
        let frame = seen.json(&["frames", "--target", page, "--json"])["frames"][0]["frame_id"].clone();
        seen.is_held(&["eval", "confirm('Which?')", "--frame", frame.as_str().unwrap()]);
    }
    seen.says("With a dialog on each of two pages:");
    seen.fails(&["dialog", "accept"], 1);
    for page in [&first, &second] {
        seen.does(&["dialog", "accept", "--target", page]);
    }
    seen.does(&["cdp", "Target.closeTarget", &json!({ "targetId": second }).to_string()]);
    seen.until(&["snapshot", "--json"], |it| it["pages"].as_array().unwrap().len() == 1);
    seen.says("Once the second is closed, and when the first one's renderer crashes:");
    seen.fails(&["cdp", "Page.reload", "--target", &second], 1);
    seen.fails(&["cdp", "Page.crash"], 1);
    seen.until(&["snapshot", "--json"], |it| it["pages"][0]["crashed"] == true);
    seen.fails(&["eval", "1"], 1);
    seen.does(&["cdp", "Page.navigate", r#"{"url": "about:blank"}"#]);
}

fn connecting(seen: &mut Seen) {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let rest =
        answering("HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{\"ok\":true,\"engine\":\"camoufox\"}");
    for port in [closed, rest] {
        seen.fails(&["connect", &format!("http://127.0.0.1:{port}"), "--task", "other"], 1);
    }
}

/// What comes of something between us and the browser.
fn lines(seen: &mut Seen) {
    seen.says("Through a relay that has lost a session, as backends do, and then cuts the line in the middle of a call:");
    seen.does(&["connect", &relay::to(&seen.endpoint()), "--task", "relayed"]);
    seen.fails(&["cdp", relay::LOSES_SESSION, "--task", "relayed"], 1);
    seen.fails(&["cdp", relay::CUTS, "--task", "relayed"], 1);
    seen.does(&["disconnect", "--task", "relayed"]);
}
