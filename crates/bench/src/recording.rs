//! A recording of a busy page, in memory.

use supervisor_core::{
    At, Beginning, Command, DialogPolicy, EndpointKind, Epoch, Input, Machine, Net, Options, Req,
};
use supervisor_transcript::{Header, Writer};

use crate::ids::{PAGE, SESSION, URL};
use crate::load::event;
use serde_json::json;

/// The one connection.
pub const EPOCH: Epoch = Epoch(1);

/// How a task begins that accepts every dialog.
#[must_use]
pub fn beginning() -> Beginning {
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::AutoAccept;
    Beginning { options, ..Beginning::default() }
}

/// What the browser says until its page is known.
#[must_use]
pub fn opening_texts() -> [String; 2] {
    let info = json!({"targetId": PAGE, "type": "page", "url": URL});
    let attached = json!({"sessionId": SESSION, "targetInfo": info, "waitingForDebugger": false});
    let frame =
        json!({"id": PAGE, "loaderId": "L0", "url": URL, "securityOrigin": URL, "mimeType": "text/html"});
    let navigated = json!({"frame": frame, "type": "Navigation"});
    [
        event(None, "Target.attachedToTarget", &attached),
        event(Some(SESSION), "Page.frameNavigated", &navigated),
    ]
}

/// What happens before the browser says anything.
#[must_use]
pub fn opening_inputs() -> [Input<'static>; 2] {
    [
        Input::Host { req: Req(1), command: Command::Start },
        Input::Net(Net::Connected { epoch: EPOCH, endpoint: EndpointKind::Browser }),
    ]
}

/// A machine that knows its page.
#[must_use]
pub fn machine() -> Machine {
    let mut machine = Machine::new(&beginning());
    for input in opening_inputs() {
        machine.step(At(0), input);
    }
    for text in &opening_texts() {
        machine.step(At(0), Input::Received { epoch: EPOCH, text });
    }
    machine
}

/// A recording in which a page says all this, a message each ten microseconds.
#[must_use]
pub fn recording<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::begin(&Header::new(beginning(), URL), &mut out);
    for input in opening_inputs() {
        writer.input(At(0), &input, &mut out);
    }
    for text in &opening_texts() {
        writer.input(At(0), &Input::Received { epoch: EPOCH, text }, &mut out);
    }
    for (number, text) in texts.enumerate() {
        writer.input(At(10 * number as u64), &Input::Received { epoch: EPOCH, text }, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{LIFE, life};

    #[test]
    fn a_recording_of_frames_replays_to_an_event_each() {
        let lives: Vec<String> = (0..10 * LIFE).map(|n| life(n / LIFE, n % LIFE)).collect();
        let replayed = supervisor_transcript::drive(&recording(lives.iter().map(String::as_str))).unwrap();
        assert_eq!(replayed.counts.inputs, 2 + 2 + 10 * LIFE as u64);
        assert!(replayed.events.len() >= 10 * (LIFE - 1), "{} events", replayed.events.len());
        assert_eq!(replayed.snapshot.pages.len(), 1);
        assert!(replayed.snapshot.frame_tree.children.is_empty());
    }
}
