//! A page with more frames than the snapshot shows: whatever becomes of those that are not shown, what is shown is what a
//! snapshot made afresh shows. The rig compares the two after each input.

use proptest::prelude::*;
use serde_json::json;

use crate::rig::Rig;

/// A few more than are shown, so that they come and go at the edge.
const FRAMES: usize = 36;

/// What happens to a frame, by its number.
#[derive(Debug, Clone)]
enum Happens {
    Comes,
    ComesBelow(usize),
    HasDocument,
    HasContext,
    Goes,
    Swaps,
    HasSession,
    LosesSession,
    Crashes,
    /// The page has a new document.
    AllGo,
}

fn happens() -> impl Strategy<Value = (usize, Happens)> {
    let what = prop_oneof![
        8 => Just(Happens::Comes),
        2 => (0..FRAMES + 8).prop_map(Happens::ComesBelow),
        6 => Just(Happens::HasDocument),
        2 => Just(Happens::HasContext),
        6 => Just(Happens::Goes),
        1 => Just(Happens::Swaps),
        2 => Just(Happens::HasSession),
        1 => Just(Happens::LosesSession),
        1 => Just(Happens::Crashes),
    ];
    let what = prop_oneof![60 => what, 1 => Just(Happens::AllGo)];
    (0..FRAMES + 8, what)
}

fn name(number: usize) -> String {
    format!("F{number}")
}

fn play(rig: &mut Rig, number: usize, what: &Happens) {
    let (frame, session) = (name(number), format!("S{number}"));
    let mut page = |method: &str, params| rig.event("SP", method, params);
    match what {
        Happens::Comes => page("Page.frameAttached", json!({"frameId": frame, "parentFrameId": "P"})),
        Happens::ComesBelow(above) => {
            page("Page.frameAttached", json!({"frameId": frame, "parentFrameId": name(*above)}));
        }
        Happens::HasDocument => {
            let parent =
                rig.machine.state().frames.get(&frame.as_str().into()).and_then(|it| it.parent.clone());
            let parent = parent.map_or("P".to_owned(), |parent| parent.as_str().to_owned());
            let url = format!("http://a.test/{number}/{}", rig.events.len());
            rig.navigated("SP", &frame, Some(&parent), &url);
        }
        Happens::HasContext => rig.context_of("SP", &frame, number as i64, "http://sandbox.test"),
        Happens::Goes => page("Page.frameDetached", json!({"frameId": frame, "reason": "remove"})),
        Happens::Swaps => page("Page.frameDetached", json!({"frameId": frame, "reason": "swap"})),
        Happens::HasSession => rig.attach_iframe("SP", &frame, &session, "P"),
        Happens::LosesSession => {
            rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": session, "targetId": frame}));
        }
        Happens::Crashes => rig.event(&session, "Inspector.targetCrashed", json!({})),
        Happens::AllGo => rig.navigated("SP", "P", None, "http://a.test/next"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_of_a_crowd_is_what_is_there(then in prop::collection::vec(happens(), 1..80)) {
        let mut rig = Rig::with_page();
        for number in 0..FRAMES {
            play(&mut rig, number, &Happens::Comes);
        }
        for (number, what) in &then {
            play(&mut rig, *number, what);
        }
    }
}
