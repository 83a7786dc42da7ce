//! Frames that may raise no dialogs are left to the browser by the bridge.

use std::time::Duration;

use serde_json::json;
use supervisor_core::limits::BRIDGE_HOLD;

use crate::bridge_rig::{ask, bridged, element, pending};

#[test]
fn a_frame_that_may_raise_no_dialogs_is_left_to_the_browser() {
    let mut rig = bridged();
    rig.attach_iframe("SP", "B", "SB", "P");
    // The request may come before it is known.
    ask(&mut rig, "SB", "R1", "B", "confirm");
    assert_eq!((pending(&mut rig), rig.sent_as("Fetch.failRequest").len()), (0, 0));
    element(&mut rig, &json!(["sandbox", "allow-scripts"]));
    assert_eq!((pending(&mut rig), rig.sent_as("Fetch.failRequest").len()), (0, 1));
    ask(&mut rig, "SB", "R2", "B", "confirm");
    assert_eq!((pending(&mut rig), rig.sent_as("Fetch.failRequest").len()), (0, 2));
    assert_eq!(rig.machine.meters().bridge_refused, 0, "it did nothing wrong");
    // What is below it may not either, wherever it lives.
    rig.event("SB", "Page.frameAttached", json!({"frameId": "C", "parentFrameId": "B"}));
    ask(&mut rig, "SB", "R3", "C", "confirm");
    assert_eq!(pending(&mut rig), 0);
}

#[test]
fn a_frame_that_may_asks_as_soon_as_that_is_known_or_its_parent_is_too_slow_to_say() {
    let mut rig = bridged();
    rig.attach_iframe("SP", "B", "SB", "P");
    ask(&mut rig, "SB", "R1", "B", "confirm");
    ask(&mut rig, "SB", "R2", "B", "confirm");
    assert_eq!(rig.sent_as("Fetch.failRequest").len(), 1, "one at a time");
    element(&mut rig, &json!(["sandbox", "allow-scripts allow-modals"]));
    assert_eq!(pending(&mut rig), 1);
    let mut slow = bridged();
    slow.attach_iframe("SP", "B", "SB", "P");
    ask(&mut slow, "SB", "R1", "B", "confirm");
    slow.advance(BRIDGE_HOLD - Duration::from_millis(1));
    assert_eq!(pending(&mut slow), 0);
    slow.advance(Duration::from_millis(1));
    assert_eq!(pending(&mut slow), 1);
}

#[test]
fn a_request_that_waits_to_be_decided_goes_with_its_page() {
    for detaches in [true, false] {
        let mut rig = bridged();
        rig.attach_iframe("SP", "B", "SB", "P");
        ask(&mut rig, "SB", "R1", "B", "confirm");
        if detaches {
            rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": "SB"}));
        } else {
            let started = json!({"frameId": "P", "url": "http://x/", "loaderId": "L", "navigationType": "differentDocument"});
            rig.event("SP", "Page.frameStartedNavigating", started);
        }
        assert_eq!(rig.sent_as("Fetch.failRequest").len(), usize::from(!detaches));
        rig.advance(Duration::from_secs(2));
        assert_eq!((pending(&mut rig), rig.machine.state().bridge.held.len()), (0, 0));
    }
}
