//! Events are kept for longer than a process lives: each must be read back as it was written.

use serde_json::json;
use supervisor_core::{Command, Event, Place};

use crate::rig::{Rig, accept};

#[test]
fn every_event_is_read_back_as_it_was_written() {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.eval("P");
    rig.call(Place::Active, "DOM.getDocument");
    rig.opening("SP", "P", "prompt", "?");
    rig.respond(None, accept());
    rig.closed("SP", "P", true, "dflt");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(id, json!({}));
    rig.event("SP", "Inspector.targetCrashed", json!({}));
    rig.host(Command::Stop);
    assert!(rig.events.len() > 30);
    for event in &rig.events {
        let recorded = supervisor_core::Recorded { seq: 1, at: supervisor_core::At(2), event: event.clone() };
        let json = serde_json::to_string(&recorded).unwrap();
        match serde_json::from_str::<supervisor_core::Recorded>(&json) {
            Ok(read) => assert_eq!(read.event, *event),
            Err(error) => panic!("{error}: {json}"),
        }
    }
    assert!(rig.events.iter().any(|event| matches!(event, Event::DialogOpened { .. })));
}
