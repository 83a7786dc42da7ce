//! What a busy page says, built once.

use serde_json::{Value, json};

use crate::frames::push_text;
use crate::ids::{PAGE, SESSION, URL, frame};

/// The length of a message of the flood.
pub const MESSAGE: usize = 350;

/// Of so many messages one is of a frame, and the others are of the console.
const ONE_FRAME_IN: usize = 20;

/// Messages in a built piece of the flood: large enough that no two pieces follow closely, small enough to be built at once.
pub const PIECE: usize = 2_000;

/// Messages of one life of an iframe.
pub const LIFE: usize = 4;

/// A piece of the flood, and where each message ends.
#[derive(Debug)]
pub struct Piece {
    /// The frames, one after the other.
    pub bytes: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<usize>,
}

/// 95 % console calls, 5 % events of iframes that come, load and go.
#[must_use]
pub fn flood() -> Piece {
    let mut piece = Piece { bytes: Vec::new(), ends: Vec::new() };
    for text in messages() {
        push_text(&mut piece.bytes, &text);
        piece.ends.push(piece.bytes.len());
    }
    piece
}

/// The messages of a piece.
pub fn messages() -> impl Iterator<Item = String> {
    (0..PIECE).map(|number| match number % ONE_FRAME_IN == ONE_FRAME_IN - 1 {
        true => life(FLOOD_FRAMES + number / ONE_FRAME_IN / LIFE, number / ONE_FRAME_IN % LIFE),
        false => console(number),
    })
}

/// Above the numbers of all frames that live.
const FLOOD_FRAMES: usize = 1 << 24;

/// A console call of 350 bytes.
#[must_use]
pub fn console(number: usize) -> String {
    let make = |text: &str| {
        let stack = json!({"callFrames": [{"functionName": "tick", "scriptId": "7",
            "url": "http://bench.test/app.js", "lineNumber": 12, "columnNumber": 8}]});
        // As Chromium orders them.
        let params = format!(
            r#"{{"type":"log","args":[{{"type":"string","value":"{text}"}}],"executionContextId":1,"timestamp":1764500000{number:06}.5,"stackTrace":{stack}}}"#
        );
        format!(r#"{{"method":"Runtime.consoleAPICalled","params":{params},"sessionId":"{SESSION}"}}"#)
    };
    let short = make("").len();
    make(&"x".repeat(MESSAGE.saturating_sub(short)))
}

/// A step in the life of an iframe: it is attached, has a document, has loaded, and is removed.
#[must_use]
pub fn life(number: usize, step: usize) -> String {
    let id = frame(number);
    let (method, params) = match step {
        0 => return attached(number),
        1 => return navigated(number),
        2 => ("Page.frameStoppedLoading", json!({"frameId": id})),
        _ => ("Page.frameDetached", json!({"frameId": id, "reason": "remove"})),
    };
    padded(method, params)
}

/// An iframe comes.
#[must_use]
pub fn attached(number: usize) -> String {
    padded("Page.frameAttached", json!({"frameId": frame(number), "parentFrameId": PAGE}))
}

/// An iframe has a document.
#[must_use]
pub fn navigated(number: usize) -> String {
    let frame = json!({"id": frame(number), "parentId": PAGE, "loaderId": format!("L{number}"), "name": "",
        "url": format!("{URL}frame/{number}"), "securityOrigin": "http://bench.test",
        "domainAndRegistry": "bench.test", "mimeType": "text/html"});
    padded("Page.frameNavigated", json!({"frame": frame, "type": "Navigation"}))
}

/// A field that nobody knows makes it 350 bytes long, where it is not already.
fn padded(method: &str, mut params: Value) -> String {
    params["padding"] = "".into();
    let short = event(Some(SESSION), method, &params).len();
    params["padding"] = "x".repeat(MESSAGE.saturating_sub(short)).into();
    event(Some(SESSION), method, &params)
}

/// A dialog opens.
#[must_use]
pub fn opening(number: usize) -> String {
    let params = json!({"url": URL, "frameId": PAGE, "message": format!("Question {number}?"), "type": "confirm",
        "hasBrowserHandler": true, "defaultPrompt": ""});
    event(Some(SESSION), "Page.javascriptDialogOpening", &params)
}

/// It was closed.
#[must_use]
pub fn closed() -> String {
    let params = json!({"frameId": PAGE, "result": true, "userInput": ""});
    event(Some(SESSION), "Page.javascriptDialogClosed", &params)
}

/// An event as Chromium writes it: the method first, the session last.
#[must_use]
pub fn event(session: Option<&str>, method: &str, params: &Value) -> String {
    let session = session.map(|id| format!(r#","sessionId":"{id}""#)).unwrap_or_default();
    format!(r#"{{"method":"{method}","params":{params}{session}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_flood_have_their_length() {
        assert_eq!(console(7).len(), MESSAGE);
        for step in 0..LIFE {
            let text = life(3, step);
            assert!((MESSAGE..MESSAGE + 60).contains(&text.len()), "{}: {text}", text.len());
            assert!(serde_json::from_str::<Value>(&text).is_ok());
        }
        assert!(serde_json::from_str::<Value>(&console(7)).is_ok());
    }
}
