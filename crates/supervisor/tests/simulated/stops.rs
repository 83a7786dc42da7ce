//! `stop` takes a second at most, whatever the browser does: on a clock that only waiting moves, so it is told exactly.

use std::time::Duration;

use browser_model::{Action, Config};
use cdp_wire::page::DialogType;
use serde_json::json;
use supervisor::limits::STOP_ANSWERS;
use supervisor::{StartOptions, Status, Supervisor, Task};
use tokio::time::{Instant, sleep};

use crate::network::Network;
use crate::run::STOP;

/// For what the browser model does by itself.
const SOON: Duration = Duration::from_secs(5);

/// A task on a browser, and the way to it.
struct Stage {
    network: Network,
    supervisor: Supervisor,
    task: Task,
}

impl Stage {
    async fn new() -> Self {
        let network = Network::new(Config::default(), 1);
        let mut start = StartOptions::default();
        start.connect = Some(network.connect());
        start.seed = Some(1);
        let supervisor = Supervisor::start();
        let url = "ws://browser.test/devtools/browser/1";
        let task = supervisor.get_or_start("stops", url, start).await.unwrap();
        Self { network, supervisor, task }
    }

    async fn with_a_dialog() -> Self {
        let stage = Self::new().await;
        stage.network.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
        stage.task.wait_for(|it| it.pending_dialogs.len() == 1, SOON).await.unwrap();
        stage
    }

    /// How long it took. Nothing is open any more, and each dialog has ended once.
    async fn stops(&self) -> Duration {
        let begun = Instant::now();
        self.supervisor.stop("stops").await;
        let took = begun.elapsed();
        let last = self.task.snapshot();
        assert_eq!(last.status.status, Status::Stopped);
        assert!(last.pending_dialogs.is_empty(), "{:?}", last.pending_dialogs);
        assert!(took <= STOP, "{took:?}");
        took
    }
}

#[tokio::test(start_paused = true)]
async fn at_once_when_the_browser_answers() {
    let stage = Stage::with_a_dialog().await;
    assert!(stage.stops().await < STOP_ANSWERS);
    assert_eq!(stage.task.snapshot().recent_dialogs.len(), 1);
    assert_eq!(stage.task.snapshot().recent_dialogs[0].accepted, Some(false), "it was answered first");
}

#[tokio::test(start_paused = true)]
async fn when_the_browser_is_frozen() {
    let stage = Stage::new().await;
    stage.network.freeze();
    stage.stops().await;
}

#[tokio::test(start_paused = true)]
async fn when_the_browser_is_frozen_with_a_dialog_open() {
    let stage = Stage::with_a_dialog().await;
    stage.network.freeze();
    let took = stage.stops().await;
    assert!(took > STOP_ANSWERS / 2, "its answer is waited for: {took:?}");
    assert_eq!(stage.task.snapshot().recent_dialogs.len(), 1);
    assert_eq!(stage.task.snapshot().recent_dialogs[0].accepted, None, "nobody could answer it");
}

/// More is on the way to it than the way holds.
#[tokio::test(start_paused = true)]
async fn when_a_frozen_browser_takes_nothing_more() {
    let stage = Stage::with_a_dialog().await;
    stage.network.freeze();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (task, script) = (stage.task.clone(), format!("'{}'", "x".repeat(4_096)));
        calls.spawn(async move {
            let params = json!({ "source": script }).to_string();
            task.call(supervisor::Place::Active, "Page.addScriptToEvaluateOnNewDocument", params, None).await
        });
    }
    sleep(Duration::from_millis(10)).await;
    stage.stops().await;
    let ended = calls.join_all().await;
    assert!(ended.iter().all(Result::is_err), "none could be answered");
}

#[tokio::test(start_paused = true)]
async fn when_the_browser_floods_with_a_dialog_open() {
    let stage = Stage::with_a_dialog().await;
    let session = stage.network.truth().sessions.first().cloned().unwrap();
    let argument = json!({ "type": "string", "value": "x".repeat(1_000) });
    let params = json!({ "type": "error", "args": [argument], "executionContextId": 1, "timestamp": 1.0 });
    let event = json!({ "method": "Runtime.consoleAPICalled", "params": params, "sessionId": session });
    stage.network.flood(event.to_string());
    stage.task.wait_for(|it| it.counts.meters.messages > 2_000, SOON).await.unwrap();
    stage.stops().await;
    assert_eq!(stage.task.snapshot().recent_dialogs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn when_the_browser_is_gone_with_a_dialog_open() {
    let stage = Stage::with_a_dialog().await;
    stage.network.dials_fail(u8::MAX);
    stage.network.break_socket();
    stage.task.wait_for(|it| it.status.status == Status::Reconnecting, SOON).await.unwrap();
    stage.stops().await;
    assert_eq!(stage.task.snapshot().recent_dialogs.len(), 1);
}

/// It is being dialled, and does not answer the door.
#[tokio::test(start_paused = true)]
async fn while_a_reconnect_hangs() {
    let stage = Stage::with_a_dialog().await;
    stage.network.dial_takes(Duration::from_secs(3_600));
    stage.network.break_socket();
    sleep(Duration::from_secs(3)).await;
    assert_eq!(stage.task.snapshot().status.status, Status::Reconnecting);
    stage.stops().await;
}
