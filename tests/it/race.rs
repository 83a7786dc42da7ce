//! The host, the watchdog and another client answer the same dialog at the same moment, over real sockets, a thousand
//! times. One wins each time, and all are told the truth.

use std::collections::BTreeMap;
use std::time::Duration;

use integration_tests::{RawClient, ScriptedBrowser, accept, patience};
use serde_json::json;
use supervisor::supervisor_core::dialog::ClosedBy;
use supervisor::{
    Answered, Bridge, Code, DialogChoice, DialogView, Event, Failure, Options, Place, StartOptions,
    Supervisor, Task,
};
use tokio::time::{Instant, sleep_until};

/// At least so many rounds, and on until each has won a tenth of them.
const ROUNDS: usize = 1_000;
/// Only a machine on which one of them can never win comes here.
const MOST_ROUNDS: usize = 3_000;
/// When the watchdog answers. Time enough for the host to see the dialog before.
const WATCHDOG: Duration = Duration::from_millis(6);
/// By how much the start of the others moves after each round.
const STEP: i64 = 40;
/// How far chance moves it, both ways.
const CHANCE: i64 = 400;
const SEED: u64 = 0x5EED;

/// The clients of the browser, in the order of their connections.
const SUPERVISOR: u64 = 1;
const SECOND: u64 = 2;

/// Evenly spread numbers from a seed.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn chance(&mut self) -> i64 {
        (self.next() % (2 * CHANCE as u64 + 1)) as i64 - CHANCE
    }
}

/// When a party starts, in microseconds after the dialog opened. Whoever wins starts later next time and whoever loses
/// earlier, so that each wins a third, however fast the machine is.
struct Start(i64);

impl Start {
    fn at(&self, opened: Instant, draw: &mut Draw) -> Instant {
        let after = (self.0 + draw.chance()).max(0);
        opened + Duration::from_micros(after as u64)
    }

    fn learn(&mut self, won: bool) {
        self.0 = (self.0 + if won { 2 * STEP } else { -STEP }).max(0);
    }
}

/// Timers have milliseconds: the rest is waited for awake.
async fn exactly(moment: Instant) {
    sleep_until(moment - Duration::from_millis(1)).await;
    while Instant::now() < moment {
        tokio::task::yield_now().await;
    }
}

struct Race {
    browser: ScriptedBrowser,
    task: Task,
    second: RawClient,
    session: String,
    draw: Draw,
    host: Start,
    other: Start,
    wins: BTreeMap<&'static str, usize>,
}

impl Race {
    async fn round(&mut self, number: usize) {
        self.browser.ask(&format!("round {number}"));
        let opened = Instant::now();
        let (host_at, other_at) =
            (self.host.at(opened, &mut self.draw), self.other.at(opened, &mut self.draw));
        let accepts = self.draw.next().is_multiple_of(2);
        let host = async {
            let shown = self.task.wait_for(|it| is_there(it, number), patience()).await.unwrap();
            let id = dialog_of(&shown, number).id;
            exactly(host_at).await;
            let choice = DialogChoice { dialog_id: Some(id), target_id: None };
            self.task.respond(choice, accept()).await
        };
        let other = async {
            exactly(other_at).await;
            let answer = json!({ "accept": accepts });
            self.second.send("Page.handleJavaScriptDialog", answer, Some(&self.session)).await
        };
        let (host, other) = tokio::join!(host, other);
        let ended = self.task.wait_for(|it| has_ended(it, number), patience()).await.unwrap();
        let ended = dialog_of(&ended, number);
        let won = self.won();
        assert_eq!(
            (ended.closed_by.unwrap(), ended.accepted),
            (closed_by(won), self.browser.winner().map(|it| it.accept))
        );
        told(won, &host, &ended);
        assert_eq!(other.get("result").is_some(), won == "second", "{other}");
        *self.wins.entry(won).or_default() += 1;
        self.settle().await;
        self.host.learn(won == "host");
        self.other.learn(won == "second");
    }

    /// A losing answer may still be under way, and would hit the next dialog: that is another story. The reply to what is sent
    /// after it says that it has arrived.
    async fn settle(&self) {
        let barrier = self.task.call(Place::Active, "Browser.getVersion", "{}", None).await;
        barrier.unwrap_or_else(|failure| panic!("{failure:?}"));
    }

    /// Who it was in truth. The host accepts and the watchdog dismisses.
    fn won(&self) -> &'static str {
        let winner = self.browser.winner().unwrap();
        match (winner.client, winner.accept) {
            (SUPERVISOR, true) => "host",
            (SUPERVISOR, false) => "watchdog",
            (SECOND, _) => "second",
            other => panic!("{other:?}"),
        }
    }

    fn is_over(&self, rounds: usize) -> bool {
        let least = ["host", "watchdog", "second"].map(|who| self.wins.get(who).copied().unwrap_or(0));
        rounds >= ROUNDS && least.iter().all(|wins| 10 * wins >= rounds)
    }
}

fn dialog_of(snapshot: &supervisor::Snapshot, number: usize) -> DialogView {
    let message = format!("round {number}");
    let mut all = snapshot.pending_dialogs.iter().chain(snapshot.recent_dialogs.iter());
    all.find(|it| it.message == message).cloned().unwrap()
}

fn is_there(snapshot: &supervisor::Snapshot, number: usize) -> bool {
    let message = format!("round {number}");
    snapshot.pending_dialogs.iter().chain(snapshot.recent_dialogs.iter()).any(|it| it.message == message)
}

fn has_ended(snapshot: &supervisor::Snapshot, number: usize) -> bool {
    let message = format!("round {number}");
    snapshot.recent_dialogs.iter().any(|it| it.message == message)
}

fn closed_by(won: &str) -> ClosedBy {
    match won {
        "host" => ClosedBy::Agent,
        "watchdog" => ClosedBy::Watchdog,
        _ => ClosedBy::Remote,
    }
}

/// The host hears that it won, or who did.
fn told(won: &str, host: &Result<Answered, Failure>, ended: &DialogView) {
    match host {
        Ok(answered) => assert_eq!((won, answered.dialog.id), ("host", ended.id)),
        Err(failure) => {
            assert_eq!(failure.code, Code::AlreadyClosed, "{failure:?}");
            assert_eq!(failure.detail.won_by.as_deref(), Some(closed_by(won).as_str()), "{failure:?}");
            assert_eq!(failure.detail.misdirected_to, None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn host_watchdog_and_a_second_client_race_a_thousand_times_and_one_wins_each() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("race.cdp.jsonl");
    let browser = ScriptedBrowser::start().await;
    let supervisor = Supervisor::start();
    let mut options = Options::default();
    options.dialog_timeout = WATCHDOG;
    // A dialog that another client closes at once would bring the bridge on.
    options.bridge = Bridge::Off;
    let mut options = StartOptions::from(options);
    options.recording = Some(recording.clone().into());
    let task = supervisor.get_or_start("race", &browser.url(), options).await.unwrap();
    task.wait_for(|it| it.frame_tree.top.is_some(), patience()).await.unwrap();
    let second = RawClient::connect(&browser.url()).await;
    let session = second.attach("PAGE").await;
    let start = || Start(i64::try_from(WATCHDOG.as_micros()).unwrap());
    let (draw, wins) = (Draw(SEED), BTreeMap::new());
    let mut race = Race { browser, task, second, session, draw, host: start(), other: start(), wins };
    let mut rounds = 0;
    while !race.is_over(rounds) && rounds < MOST_ROUNDS {
        race.round(rounds).await;
        rounds += 1;
    }
    println!("{rounds} rounds, won by {:?}", race.wins);
    assert!(race.is_over(rounds), "{:?}", race.wins);
    supervisor.stop("race").await;
    each_ended_once(&std::fs::read(recording).unwrap(), rounds);
}

/// Each dialog opened once and ended once, and a replay of it all agrees.
fn each_ended_once(recording: &[u8], rounds: usize) {
    let replayed = supervisor_transcript::check(recording).unwrap();
    let mut opened = BTreeMap::new();
    let mut ended = BTreeMap::new();
    for recorded in &replayed.events {
        match &recorded.event {
            Event::DialogOpened { id, .. } => *opened.entry(*id).or_insert(0) += 1,
            Event::DialogEnded { id, .. } => *ended.entry(*id).or_insert(0) += 1,
            _ => {}
        }
    }
    assert_eq!((opened.len(), opened.values().max()), (rounds, Some(&1)));
    assert_eq!(opened, ended);
}
