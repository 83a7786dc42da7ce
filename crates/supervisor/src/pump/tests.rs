use std::time::Duration;

use supervisor_core::Lane;
use tokio::task::yield_now;
use tokio::time::{advance, sleep};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::*;
use crate::rig::{NARROW, Rig, WIDE, pumping};

async fn lost(rig: &mut Rig) -> String {
    match rig.told.recv().await {
        Some(TaskMessage::Net(Conn::Main, Net::Lost { epoch: Epoch(1), reason })) => reason,
        _ => panic!("the loss"),
    }
}

async fn next(browser: &mut Socket) -> Message {
    browser.next().await.unwrap().unwrap()
}

/// The next message that is no part of the handshake.
async fn next_of_ours(browser: &mut Socket) -> String {
    loop {
        let text = next(browser).await.into_text().unwrap().to_string();
        if !text.starts_with('{') {
            return text;
        }
    }
}

/// How many messages more were handled each time that another task had its turn.
async fn steps(slot: Arc<Slot>, total: u64) -> Vec<u64> {
    let (mut seen, mut steps) = (0, Vec::new());
    while seen < total {
        let now = slot.shell().machine.meters().messages;
        steps.push(now - seen);
        seen = now;
        behind_others().await;
    }
    steps
}

/// Back into the queue of whoever is ready; `yield_now` waits until that queue is empty.
async fn behind_others() {
    let mut is_behind = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_behind, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn others_have_their_turn_after_a_batch() {
    let (rig, mut browser) = pumping(WIDE, Lanes::default()).await;
    let total = 10 * BATCH_MESSAGES as u64;
    for n in 0..total {
        browser.feed(Message::text(n.to_string())).await.unwrap();
    }
    browser.flush().await.unwrap();
    let steps = tokio::spawn(steps(Arc::clone(&rig.slot), total)).await.unwrap();
    assert!(steps.iter().all(|step| *step <= BATCH_MESSAGES as u64), "{steps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_bounded_in_bytes() {
    let (rig, mut browser) = pumping(WIDE, Lanes::default()).await;
    let large = "x".repeat(BATCH_BYTES / 2 + 1);
    for _ in 0..6 {
        browser.feed(Message::text(large.clone())).await.unwrap();
    }
    browser.flush().await.unwrap();
    let steps = tokio::spawn(steps(Arc::clone(&rig.slot), 6)).await.unwrap();
    assert!(steps.iter().all(|step| *step <= 2), "{steps:?}");
}

/// The lock is not fair: a socket that floods has to ask.
#[tokio::test(start_paused = true)]
#[allow(clippy::await_holding_lock)] // that is what is tested
async fn a_host_that_wants_the_machine_comes_before_the_next_batch() {
    let (rig, mut browser) = pumping(WIDE, Lanes::default()).await;
    while next(&mut browser).await.to_text().unwrap().contains("Browser.getVersion") {}
    let held = rig.slot.shell();
    let slot = Arc::clone(&rig.slot);
    let host = std::thread::spawn(move || slot.shell().machine.meters().messages);
    while !rig.slot.is_wanted() {
        std::thread::yield_now();
    }
    browser.send(Message::text("early")).await.unwrap();
    // If it did not ask, it would wait here for the shell that this very thread holds.
    for _ in 0..10 {
        yield_now().await;
    }
    drop(held);
    assert_eq!(host.join().unwrap(), 0);
    while rig.meters().messages == 0 {
        yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_loss_comes_after_the_last_message() {
    let (mut rig, mut browser) = pumping(WIDE, Lanes::default()).await;
    browser.send(Message::text("last")).await.unwrap();
    browser.send(Message::binary(vec![0; 3])).await.unwrap();
    SinkExt::close(&mut browser).await.unwrap();
    assert_eq!(lost(&mut rig).await, "the browser closed the connection");
    assert_eq!((rig.meters().messages, rig.meters().protocol_violations), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_loss_and_a_pong_is_none() {
    let (mut rig, mut browser) = pumping(WIDE, Lanes::default()).await;
    for _ in 0..10 {
        sleep(SILENCE * 2 / 3).await;
        browser.send(Message::Pong(Bytes::new())).await.unwrap();
    }
    assert!(rig.told.try_recv().is_err());
    let begin = Instant::now();
    assert!(lost(&mut rig).await.contains("not even a pong"));
    assert!((SILENCE..SILENCE * 4 / 3).contains(&begin.elapsed()), "{:?}", begin.elapsed());
}

#[test]
fn a_message_that_is_too_long_says_how_long() {
    let error = CapacityError::MessageTooLong { size: 300, max_size: 200 };
    assert!(reason(&Error::Capacity(error)).starts_with("a message of 300 bytes is longer than"));
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_cannot_be_written_to_is_a_loss() {
    let (mut rig, browser) = pumping(NARROW, Lanes::default()).await;
    rig.lanes.send(Lane::Urgent, "x".repeat(4 * NARROW).into()).unwrap();
    drop(browser);
    assert!(!lost(&mut rig).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_urgent_overtakes_host_calls() {
    let lanes = Lanes::default();
    for (lane, text) in [(Lane::Host, "h1"), (Lane::Host, "h2"), (Lane::Urgent, "u1"), (Lane::Urgent, "u2")] {
        lanes.send(lane, text.into()).unwrap();
    }
    let (_rig, mut browser) = pumping(WIDE, lanes).await;
    for text in ["u1", "u2", "h1", "h2"] {
        assert_eq!(next_of_ours(&mut browser).await, text);
    }
}

#[tokio::test(start_paused = true)]
async fn one_message_at_most_stands_before_an_answer() {
    let (rig, mut browser) = pumping(NARROW, Lanes::default()).await;
    // More than the pipe holds: the first is being written while the others wait.
    let large = Utf8Bytes::from("x".repeat(64 * 1024));
    for _ in 0..10 {
        rig.lanes.send(Lane::Host, large.clone()).unwrap();
    }
    sleep(Duration::from_secs(1)).await;
    rig.lanes.send(Lane::Urgent, "answer".into()).unwrap();
    assert_eq!(next_of_ours(&mut browser).await.len(), large.as_str().len());
    assert_eq!(next_of_ours(&mut browser).await, "answer");
}

#[tokio::test(start_paused = true)]
async fn closing_writes_what_is_urgent_and_no_more() {
    let (mut rig, mut browser) = pumping(NARROW, Lanes::default()).await;
    // What is being written is written to its end.
    rig.lanes.send(Lane::Host, "x".repeat(4 * NARROW).into()).unwrap();
    sleep(Duration::from_secs(1)).await;
    rig.lanes.send(Lane::Host, "call".into()).unwrap();
    rig.lanes.send(Lane::Urgent, "answer".into()).unwrap();
    rig.lanes.close();
    assert_eq!(next_of_ours(&mut browser).await.len(), 4 * NARROW);
    assert_eq!(next_of_ours(&mut browser).await, "answer");
    assert_eq!(next(&mut browser).await, Message::Close(None));
    // The browser answers the close as it is read on.
    assert!(browser.next().await.is_none());
    rig.pump.await.unwrap();
    assert!(rig.told.try_recv().is_err(), "it was told to close: that is no loss");
}

#[tokio::test(start_paused = true)]
async fn an_idle_socket_is_pinged() {
    let (_rig, mut browser) = pumping(WIDE, Lanes::default()).await;
    let begin = Instant::now();
    while next(&mut browser).await != Message::Ping(Bytes::new()) {}
    assert_eq!(begin.elapsed().as_secs(), PING_EVERY.as_secs());
}

/// A beat that is handled late, as on a busy machine: less time lies between it and the next.
#[tokio::test(start_paused = true)]
async fn a_late_beat_puts_off_no_ping() {
    let (_rig, mut browser) = pumping(WIDE, Lanes::default()).await;
    advance(BEAT).await;
    advance(BEAT + Duration::from_millis(3)).await;
    while next(&mut browser).await != Message::Ping(Bytes::new()) {}
    let begin = Instant::now();
    while next(&mut browser).await != Message::Ping(Bytes::new()) {}
    assert!(begin.elapsed() <= PING_EVERY, "{:?}", begin.elapsed());
}
