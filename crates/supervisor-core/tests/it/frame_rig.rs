//! What the tests of frames share: events about frames, and pages that have some.

use serde_json::{Value, json};

use crate::rig::Rig;

pub(crate) fn attached(rig: &mut Rig, session: &str, frame: &str, parent: &str) {
    rig.event(session, "Page.frameAttached", json!({"frameId": frame, "parentFrameId": parent}));
}

pub(crate) fn detached(rig: &mut Rig, session: &str, frame: &str, reason: &str) {
    rig.event(session, "Page.frameDetached", json!({"frameId": frame, "reason": reason}));
}

pub(crate) fn session_detached(rig: &mut Rig, parent: &str, session: &str) {
    rig.event(parent, "Target.detachedFromTarget", json!({"sessionId": session}));
}

/// a.test with an iframe that went to b.test, in the order that was measured.
pub(crate) fn with_oopif() -> Rig {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "B", "P");
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    detached(&mut rig, "SP", "B", "swap");
    rig
}

/// A page that has an orphan, and the command that asked for it.
pub(crate) fn with_orphan() -> (Rig, u64) {
    let mut rig = with_oopif();
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    session_detached(&mut rig, "SP", "SB");
    let asked = rig.last_id("Page.getFrameTree");
    (rig, asked)
}

/// An iframe of another process that was there before us: the parent's process has not spoken of it.
pub(crate) fn with_oopif_from_before() -> Rig {
    let mut rig = Rig::with_page();
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    let info = json!({"targetId": "B", "type": "iframe", "url": "http://b.test/", "parentFrameId": "P"});
    let params = json!({"sessionId": "SB", "targetInfo": info, "waitingForDebugger": false});
    rig.event("SP", "Target.attachedToTarget", params);
    rig
}

pub(crate) fn listing(frame: &str, url: &str, children: &Value) -> Value {
    let origin = url.trim_end_matches('/');
    json!({"frameTree": {"frame": {"id": frame, "loaderId": "L-http://a.test/", "url": url, "securityOrigin": origin},
        "childFrames": children}})
}
