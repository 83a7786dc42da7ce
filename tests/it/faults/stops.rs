//! `stop` takes a second, whatever the browser does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use integration_tests::{Manner, SESSION};
use serde_json::json;
use supervisor::Status;

use super::{Faulted, in_time};

/// The promise is a second; the rest is for a loaded machine.
pub(crate) const BOUND: Duration = Duration::from_secs(4);

impl Faulted {
    async fn stops(&self) {
        let begun = Instant::now();
        assert!(in_time(self.supervisor.stop("t")).await);
        assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
        let last = self.task.snapshot();
        assert_eq!(last.status.status, Status::Stopped);
        assert!(last.pending_dialogs.is_empty(), "{:?}", last.pending_dialogs);
    }
}

/// Nothing is answered any more, and a dialog is open.
#[tokio::test(flavor = "multi_thread")]
async fn with_a_browser_that_hangs_with_a_dialog_open() {
    let it = Faulted::start(Manner::IgnoresAnswers).await;
    it.connection.opens_dialog("nobody will close it");
    it.until(|it| !it.pending_dialogs.is_empty()).await;
    it.stops().await;
    assert_eq!(it.task.snapshot().recent_dialogs.len(), 1);
}

/// A peer that sends as fast as it is read, with a dialog open that it never closes.
#[tokio::test(flavor = "multi_thread")]
async fn with_a_browser_that_floods_with_a_dialog_open() {
    let it = Faulted::start(Manner::IgnoresAnswers).await;
    it.connection.opens_dialog("nobody will close it");
    it.until(|it| !it.pending_dialogs.is_empty()).await;
    let (flood, goes_on) = (it.connection.sender(), Arc::new(AtomicBool::new(true)));
    let flooding = tokio::spawn({
        let goes_on = Arc::clone(&goes_on);
        async move {
            let params = json!({ "type": "error", "args": [{ "type": "string", "value": "x".repeat(2_000) }],
                "executionContextId": 1, "timestamp": 1.0 });
            let event =
                json!({ "method": "Runtime.consoleAPICalled", "params": params, "sessionId": SESSION });
            let text = event.to_string();
            while goes_on.load(Ordering::Relaxed) && flood.send(&text).await {}
        }
    });
    it.until(|it| it.counts.meters.messages > 2_000).await;
    it.stops().await;
    goes_on.store(false, Ordering::Relaxed);
    flooding.await.unwrap();
}

/// The browser went with a dialog open: it is being looked for.
#[tokio::test(flavor = "multi_thread")]
async fn with_a_browser_that_is_gone() {
    let it = Faulted::start(Manner::Browser).await;
    it.connection.opens_dialog("it goes with the browser");
    it.until(|it| !it.pending_dialogs.is_empty()).await;
    let Faulted { supervisor, task, peer, connection, events } = it;
    drop((connection, peer));
    task.wait_for(|it| it.status.status == Status::Reconnecting, integration_tests::patience())
        .await
        .unwrap();
    let begun = Instant::now();
    assert!(in_time(supervisor.stop("t")).await);
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    assert_eq!(task.snapshot().status.status, Status::Stopped);
    drop(events);
}
