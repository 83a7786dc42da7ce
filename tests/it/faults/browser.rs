//! The same wire with a real Chromium at its end.

use std::time::Duration;

use integration_tests::{FaultyWire, Plan, Stage, accept, patience};
use page_server::Site;
use serde_json::json;
use supervisor::{Options, Status};

use super::start;

fn port_of(url: &str) -> u16 {
    let (_, rest) = url.split_once("://").unwrap();
    rest.split('/').next().unwrap().rsplit_once(':').unwrap().1.parse().unwrap()
}

fn site() -> Site {
    Site::new().page("/", "<h1>here</h1>")
}

/// Asked over HTTP and by WebSocket, cut after each number of bytes: both connections of a start have the same plan.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_cut_anywhere_fails_with_its_stage_and_harms_no_later_one() {
    let stage = Stage::new(site()).await;
    for url in [stage.browser.http_url(), stage.browser.ws_url()] {
        let mut cut = 0;
        loop {
            let plan = move |_| Plan { cut_after: Some(cut), ..Plan::default() };
            let wire = FaultyWire::to(port_of(url), plan).await;
            match start(&wire.through(url), patience()).await {
                Ok(_) => break,
                Err(failure) => {
                    assert_eq!(failure.code, supervisor::Code::StartFailed, "{cut}: {failure}");
                    assert!(failure.detail.stage.is_some(), "{cut}: {failure}");
                }
            }
            cut += 7;
            assert!(cut < 10_000, "no start came through");
        }
        assert!(cut > 129, "{cut}");
    }
    // Nothing of all that is left in the browser.
    stage.open("a.test", "/").await;
    stage.value(None, "setTimeout(() => window.answer = confirm('still?'))").await;
    stage.dialog().await;
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// One byte of what a browser says, turned over: in the answer to the upgrade, in the head of a frame, in a message.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_with_a_garbled_byte_connects_or_fails_with_its_stage_and_harms_no_later_one() {
    let stage = Stage::new(site()).await;
    let url = stage.browser.ws_url();
    let wire = FaultyWire::to(port_of(url), |n| Plan { garble: Some(n * 7), ..Plan::default() }).await;
    let mut failures = 0;
    for n in 0..60 {
        if let Err(failure) = start(&wire.through(url), Duration::from_secs(3)).await {
            failures += 1;
            assert_eq!(failure.code, supervisor::Code::StartFailed, "byte {}: {failure}", n * 7);
            assert!(failure.detail.stage.is_some(), "byte {}: {failure}", n * 7);
        }
    }
    assert!(failures > 10, "{failures}: the status line and the key alone are more");
    stage.open("a.test", "/").await;
    stage.value(None, "setTimeout(() => window.answer = confirm('still?'))").await;
    stage.dialog().await;
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// A large reply that is cut, or reset, in its middle: the call ends, the connection is made again.
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_cut_in_its_middle_ends_its_call_and_the_connection_is_made_again() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    for reset in [false, true] {
        let url = stage.browser.ws_url().to_owned();
        let cut = move |n| Plan { cut_after: (n == 0).then_some(1_000_000), reset, ..Plan::default() };
        let wire = FaultyWire::to(port_of(&url), cut).await;
        stage.rejoin(&wire.through(&url), Options::default()).await;
        stage.until(|it| it.frame_tree.top.is_some()).await;
        let failure = stage.eval(None, "'x'.repeat(5_000_000)").await.unwrap_err();
        assert_eq!(failure.code, supervisor::Code::Disconnected);
        stage.until(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some()).await;
        let whole = stage.value(None, "'x'.repeat(5_000_000)").await;
        assert_eq!(whole.as_str().map(str::len), Some(5_000_000));
        assert_eq!(wire.connections(), 2);
    }
    stage.end().await;
}

/// Bytes that come in threes, and slowly in bursts: everything works.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_wire_is_only_slow() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let url = stage.browser.ws_url().to_owned();
    for drip in [(3, Duration::ZERO), (256, Duration::from_millis(5))] {
        let wire = FaultyWire::to(port_of(&url), move |_| Plan { drip: Some(drip), ..Plan::default() }).await;
        stage.rejoin(&wire.through(&url), Options::default()).await;
        stage.until(|it| it.frame_tree.top.is_some()).await;
        stage.value(None, "setTimeout(() => window.answer = confirm('slow?'))").await;
        stage.dialog().await;
        stage.answer(accept()).await;
        assert_eq!(stage.value(None, "answer").await, json!(true));
    }
    stage.end().await;
}
