//! What the tests of the bridge have in common: its requests as the browser reports them, and what is sent for them.

use serde_json::{Value, json};
use supervisor_core::dialog::{ClosedBy, Reason};
use supervisor_core::{Bridge, Command, Options, Place};

use crate::rig::Rig;

pub(crate) fn options(bridge: Bridge) -> Options {
    let mut options = Options::default();
    options.bridge = bridge;
    options
}

pub(crate) fn bridged() -> Rig {
    Rig::with_page_and(options(Bridge::On))
}

/// What stands between two marks of the script that was given to the session.
pub(crate) fn of_script(rig: &Rig, before: &str, after: &str) -> String {
    let sent = rig.sent_as("Page.addScriptToEvaluateOnNewDocument");
    let source = sent.first().expect("the script was sent")["params"]["source"].as_str().unwrap();
    let (_, rest) = source.split_once(before).unwrap();
    rest.split_once(after).unwrap().0.to_owned()
}

pub(crate) fn url(rig: &Rig) -> String {
    "https://".to_owned() + &of_script(rig, "'POST', 'https://", "'")
}

pub(crate) fn body(rig: &Rig, kind: &str, message: &str) -> String {
    let token = of_script(rig, r#"{"token":""#, r#"""#);
    json!({"token": token, "kind": kind, "message": message, "preset": "dflt"}).to_string()
}

/// A request as the browser reports it.
pub(crate) fn request(rig: &Rig, id: &str, frame: &str, kind: &str) -> Value {
    json!({"requestId": id, "frameId": frame, "resourceType": "XHR",
        "request": {"url": url(rig), "method": "POST", "headers": {}, "postData": body(rig, kind, "sure?")}})
}

/// An iframe in another process whose element is known to allow dialogs.
pub(crate) fn attach_iframe(rig: &mut Rig) {
    rig.attach_iframe("SP", "B", "SB", "P");
    if rig.machine.state().bridge.on {
        element(rig, &json!(["src", "x"]));
    }
}

pub(crate) fn ask(rig: &mut Rig, session: &str, id: &str, frame: &str, kind: &str) {
    let event = request(rig, id, frame, kind);
    rig.event(session, "Fetch.requestPaused", event);
}

/// The replies that were sent to the script: session, request and what the body says.
pub(crate) fn replies(rig: &Rig) -> Vec<(String, String, String)> {
    let sent = rig.sent_as("Fetch.fulfillRequest").into_iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    sent.map(|it| {
        let params = &it["params"];
        (text(&it["sessionId"]), text(&params["requestId"]), plain(params["body"].as_str().unwrap()))
    })
    .collect()
}

/// Base64 back to text.
pub(crate) fn plain(body: &str) -> String {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = body.bytes().filter(|byte| *byte != b'=').map(digit).collect();
    let groups = bits.chunks(4).flat_map(|group| {
        let number =
            group.iter().enumerate().fold(0_u32, |sum, (at, bits)| sum | u32::from(*bits) << (18 - 6 * at));
        let bytes = number.to_be_bytes();
        bytes[1..group.len()].to_vec()
    });
    String::from_utf8(groups.collect()).unwrap()
}

pub(crate) fn confirm_last(rig: &mut Rig) {
    let id = rig.last_id("Fetch.fulfillRequest");
    rig.reply(id, json!({}));
}

pub(crate) fn last_end(rig: &mut Rig) -> (Option<ClosedBy>, Option<Reason>, Option<bool>) {
    let snapshot = rig.snapshot();
    let last = snapshot.recent_dialogs.last().expect("a dialog that ended");
    (last.closed_by, last.reason, last.accepted)
}

/// The answers of the parent's process about the element of the iframe `B`.
pub(crate) fn element(rig: &mut Rig, attributes: &Value) {
    let id = rig.last_id("DOM.getFrameOwner");
    assert_eq!(rig.sent_as("DOM.getFrameOwner").last().unwrap()["sessionId"], "SP");
    rig.reply(id, json!({"backendNodeId": 7}));
    let id = rig.last_id("DOM.describeNode");
    rig.reply(id, json!({"node": {"nodeId": 0, "attributes": attributes}}));
}

pub(crate) fn call(rig: &mut Rig, method: &str, params: &Value) {
    let (place, params) = (Place::Active, params.to_string());
    rig.host(Command::Call { place, method: method.to_owned(), params, timeout_ms: None });
}

pub(crate) fn pending(rig: &mut Rig) -> usize {
    rig.snapshot().pending_dialogs.len()
}
