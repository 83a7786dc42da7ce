//! A connection that ends, drips or is garbled anywhere between the first byte and the end of the handshake.

use std::time::Duration;

use integration_tests::{FaultyWire, Manner, Plan, ScriptedPeer, patience};
use supervisor::{Code, Failure, Options, Stage, Status, Supervisor};

use super::{in_time, start};

/// More than a handshake has.
const ENOUGH: usize = 4_000;

fn is_typed(failure: &Failure) -> Stage {
    assert_eq!(failure.code, Code::StartFailed, "{failure}");
    failure.detail.stage.unwrap_or_else(|| panic!("no stage: {failure}"))
}

/// Connects with the wire cut after 0, 1, 2, … bytes, until it was not cut before the handshake was done.
async fn starts_cut_everywhere(reset: bool) {
    let peer = ScriptedPeer::start(Manner::Browser).await;
    let wire =
        FaultyWire::to(peer.port(), move |n| Plan { cut_after: Some(n), reset, ..Plan::default() }).await;
    let mut stages = Vec::new();
    for cut in 0..ENOUGH {
        match start(&wire.through(&peer.url()), patience()).await {
            Ok(_) => {
                assert!(cut > 129, "the answer to the upgrade alone has so many bytes");
                for stage in [Stage::Upgrade, Stage::Handshake] {
                    assert!(stages.contains(&stage), "never {stage:?}: {stages:?}");
                }
                return;
            }
            Err(failure) => {
                let stage = is_typed(&failure);
                // A reset may come before the connection was looked at: then it never was one.
                let expected = [Stage::Upgrade, Stage::Handshake, Stage::Tcp];
                assert!(expected[..if reset { 3 } else { 2 }].contains(&stage), "{failure}");
                stages.push(stage);
            }
        }
    }
    panic!("no connection after {} tries", wire.connections());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_cut_at_any_byte_fails_with_its_stage() {
    starts_cut_everywhere(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_reset_at_any_byte_fails_with_its_stage() {
    starts_cut_everywhere(true).await;
}

/// Each byte of the answer to the upgrade, turned over. It may be one that nobody looks at; otherwise the start fails.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_with_any_byte_garbled_connects_or_fails_with_its_stage() {
    let peer = ScriptedPeer::start(Manner::Browser).await;
    let wire = FaultyWire::to(peer.port(), |n| Plan { garble: Some(n), ..Plan::default() }).await;
    for _ in 0..160 {
        if let Err(failure) = start(&wire.through(&peer.url()), Duration::from_secs(2)).await {
            let stage = is_typed(&failure);
            assert!([Stage::Upgrade, Stage::Handshake].contains(&stage), "{failure}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wire_that_drips_is_slow_and_works() {
    let peer = ScriptedPeer::start(Manner::Browser).await;
    // Single bytes are taken for an attack on the upgrade by the WebSocket library, which says so.
    let drip = Some((3, Duration::ZERO));
    let wire = FaultyWire::to(peer.port(), move |_| Plan { drip, ..Plan::default() }).await;
    let (_supervisor, task) = start(&wire.through(&peer.url()), patience()).await.unwrap();
    task.wait_for(|it| it.frame_tree.top.is_some(), patience()).await.unwrap();
}

/// A wire so slow that the handshake cannot be done in time: the limit holds, and the stage is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_wire_that_is_too_slow_fails_within_the_limit() {
    let peer = ScriptedPeer::start(Manner::Browser).await;
    let drip = Some((1, Duration::from_millis(200)));
    let wire = FaultyWire::to(peer.port(), move |_| Plan { drip, ..Plan::default() }).await;
    let failure = start(&wire.through(&peer.url()), Duration::from_millis(800)).await.unwrap_err();
    assert_eq!(failure.detail.stage, Some(Stage::Upgrade), "{failure}");
}

/// The first connection ends in the middle of a message, the second in the upgrade, the third in the handshake; the fourth
/// holds. Each failed attempt says why, and none of them ends the task.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconnect_that_is_cut_is_tried_again() {
    let peer = ScriptedPeer::start(Manner::Browser).await;
    let cuts = [3_000, 50, 200];
    let plan = move |n: usize| Plan { cut_after: cuts.get(n).copied(), reset: n == 1, ..Plan::default() };
    let wire = FaultyWire::to(peer.port(), plan).await;
    let supervisor = Supervisor::start();
    let url = wire.through(&peer.url());
    let task = in_time(supervisor.get_or_start("t", &url, Options::default())).await.unwrap();
    // Replies until the first connection has had its bytes.
    while task.snapshot().status.status == Status::Connected {
        let call = task.call(supervisor::Place::Active, "DOM.getDocument", "{}", None);
        if let Err(failure) = in_time(call).await {
            let expected = [Code::Disconnected, Code::PageGone, Code::FrameNotFound];
            assert!(expected.contains(&failure.code), "{failure}");
        }
    }
    let back =
        task.wait_for(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some(), patience());
    back.await.unwrap();
    assert_eq!(wire.connections(), 4);
}
