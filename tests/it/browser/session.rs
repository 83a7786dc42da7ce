//! Sessions: errors, deadlines and ends.

use std::time::Duration;

use integration_tests::{RawClient, Stage, patience};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::Route;
use supervisor::{Code, Event, EventStream, FrameId, Observed};
use tokio::time::timeout;

/// Calls that are sent while the page is being closed: some of them reach a session that the browser has given up
/// already. Each one ends, and says what happened.
#[tokio::test(flavor = "multi_thread")]
async fn s100_calls_to_a_session_that_is_being_closed_all_end() {
    let stage = Stage::new(Site::new().page("/", "")).await;
    let page = stage.add_page("b.test", "/").await.target_id;
    let frame = stage.main_frame(&page).await;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    client.post("Target.closeTarget", json!({ "targetId": page }), None);
    let mut ends = Vec::new();
    while ends.last() != Some(&Some(Code::FrameGone)) {
        let calls = (0..20).map(|_| stage.eval_within(Some(&frame), "1", patience()));
        let results = futures_util::future::join_all(calls).await;
        ends.extend(results.into_iter().map(|result| result.err().map(|failure| failure.code)));
    }
    let expected =
        [None, Some(Code::PageGone), Some(Code::FrameGone), Some(Code::SessionClosed), Some(Code::Navigated)];
    assert!(ends.iter().all(|end| expected.contains(end)), "{ends:?}");
    assert_eq!(stage.value(None, "1").await, json!(1), "the other page is untouched");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s101_an_unknown_method_is_the_browsers_error_with_its_name() {
    let stage = Stage::new(Site::new().page("/", "")).await;
    stage.open("a.test", "/").await;
    let unknown = stage.call("Unknown.method", json!({ "any": "thing" }));
    let (failed, fine) =
        tokio::join!(unknown, stage.eval(None, "new Promise(done => setTimeout(done, 50, 7))"));
    let failure = failed.unwrap_err();
    let told = failure.detail.cdp.clone().unwrap();
    assert_eq!((failure.code, told.code), (Code::CdpError, -32601));
    assert!(failure.message.contains("Unknown.method"), "{}", failure.message);
    assert!(told.message.contains("wasn't found"), "{}", told.message);
    assert_eq!(fine.unwrap(), json!(7), "others are unaffected");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s101_wrong_parameters_are_the_browsers_error() {
    let stage = Stage::new(Site::new().page("/", "")).await;
    stage.open("a.test", "/").await;
    let failure = stage.call("Page.navigate", json!({ "url": 7 })).await.unwrap_err();
    assert_eq!((failure.code, failure.detail.cdp.clone().unwrap().code), (Code::CdpError, -32602));
    assert!(failure.message.contains("Page.navigate"), "{}", failure.message);
    stage.end().await;
}

/// How often subscribers are told that this session ended, until that frame is gone.
async fn ends_until(events: &mut EventStream, of: &Route, gone: &FrameId) -> usize {
    let mut ends = 0;
    loop {
        let Some(Observed::Event(it)) = events.recv().await else { panic!("the events ended") };
        match &it.event {
            Event::SessionGone { route } if route == of => ends += 1,
            Event::FrameGone { frame } if frame == gone => return ends,
            _ => {}
        }
    }
}

/// An iframe that comes home to its parent's process: the browser ends its session, the frame stays.
#[tokio::test(flavor = "multi_thread")]
async fn s102_a_session_that_the_browser_ends_is_told_of_once() {
    let frames = "<iframe id=one src='http://b.test:{PORT}/'></iframe>\
                  <iframe id=two src='http://c.test:{PORT}/'></iframe>";
    let site = Site::new().page_for("a.test", "/", frames).page("/", "").page("/home", "");
    let stage = Stage::new(site).await;
    stage.open("a.test", "/").await;
    let (one, two) = (stage.frame("b.test").await, stage.frame("c.test").await);
    let session = Route::Session(one.session_id.clone().unwrap());
    let mut events = stage.task.events();
    stage.value(None, "void (one.src = '/home')").await;
    let home = stage.frame("/home").await;
    assert_eq!((&home.frame_id, home.is_oopif, home.session_id), (&one.frame_id, false, None));
    stage.value(None, "two.remove()").await;
    let told = timeout(patience(), ends_until(&mut events, &session, &two.frame_id)).await;
    assert_eq!(told, Ok(1));
    assert_eq!(stage.value(Some(&one.frame_id), "location.pathname").await, json!("/home"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s103_a_call_ends_at_its_deadline_and_its_late_reply_is_dropped() {
    let stage = Stage::new(Site::new().page("/", "")).await;
    stage.open("a.test", "/").await;
    let never =
        stage.eval_within(None, "new Promise(done => window.done = done)", Duration::from_millis(50)).await;
    assert_eq!(never.unwrap_err().code, Code::Timeout);
    stage.value(None, "done('late')").await;
    assert_eq!(stage.value(None, "1").await, json!(1), "the late reply came before this one, and hit nobody");
    assert_eq!(stage.task.snapshot().counts.meters.protocol_violations, 0);
    stage.end().await;
}
