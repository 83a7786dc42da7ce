//! One seed: what happens, and what must have come of it.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use browser_model::{Config, menu};
use simulator::{Draw, audit, rules};
use supervisor::{
    DialogPolicy, EventStream, Observed, Options, Recorded, Snapshot, StartOptions, Status, Supervisor,
};
use supervisor_transcript::{Replayed, check, drive};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::host::Host;
use crate::network::Network;

/// Longer than every deadline of the machine but those of calls and of late results.
const QUIET: Duration = Duration::from_secs(30);

/// Dialogs that people close one after the other at most.
const MOST_DIALOGS: usize = 100;

/// `stop` is bounded to a second; the rest is for what the timer rounds up.
pub(crate) const STOP: Duration = Duration::from_millis(1_010);

/// One in so many seeds is not recorded.
const UNRECORDED: u64 = 4;

/// For the thread that writes the recording, in time that passes.
const WRITTEN: Duration = Duration::from_secs(30);

/// What happened in so many runs.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) inputs: u64,
    pub(crate) events: usize,
    pub(crate) answered: u64,
    pub(crate) connections: u32,
}

impl Report {
    pub(crate) fn add(&mut self, other: &Self) {
        self.inputs += other.inputs;
        self.events += other.events;
        self.answered += other.answered;
        self.connections += other.connections;
    }
}

/// What is left of a run for the comparison with its recording.
struct Live {
    events: Vec<Recorded>,
    snapshot: std::sync::Arc<Snapshot>,
    truth: browser_model::Truth,
    answered: u64,
}

/// Runs a seed.
///
/// # Errors
/// The rule that was broken.
pub(crate) fn seed(seed: u64, ops: u64, recording: &Path) -> Result<Report, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).build().map_err(|error| error.to_string())?;
    // How long `stop` takes can only be told of a run that is not recorded; of one that is, everything else.
    let recording = (!seed.is_multiple_of(UNRECORDED)).then_some(recording);
    let live = runtime.block_on(live(seed, ops, recording))?;
    match recording {
        Some(recording) => agrees(&live, &whole(recording)?),
        None => Ok(Report { events: live.events.len(), answered: live.answered, ..Report::default() }),
    }
}

async fn live(seed: u64, ops: u64, recording: Option<&Path>) -> Result<Live, String> {
    let mut draw = Draw::of_seed(seed);
    let config = Config::from_bits(u16::try_from(draw.below(1 << 11)).unwrap_or_default());
    let network = Network::new(config, seed | 1);
    let mut options = Options::default();
    options.dialog_policy =
        [DialogPolicy::MustRespond, DialogPolicy::MustRespond, DialogPolicy::AutoDismiss][draw.below(3)];
    options.call_timeout = Duration::from_secs([1, 5, 30][draw.below(3)]);
    let mut start = StartOptions::from(options.clone());
    start.recording = recording.map(|path| path.to_owned().into());
    start.connect = Some(network.connect());
    start.seed = Some(seed);
    let supervisor = Supervisor::start();
    let started = supervisor.get_or_start("simulated", "ws://browser.test/devtools/browser/1", start).await;
    let task = started.map_err(|failure| format!("a browser that answers is connected to: {failure}"))?;
    let (mut stream, mut events) = (task.events(), Vec::new());
    let mut host = Host::new(task.clone(), options);
    for _ in 0..ops {
        happen(&network, &mut host, &mut draw).await;
        gather(&mut stream, &mut events)?;
    }
    settle(&network).await;
    host.all_answered().await?;
    let truth = network.truth();
    stop(&supervisor, recording.is_some()).await?;
    gather(&mut stream, &mut events)?;
    Ok(Live { events, snapshot: task.snapshot(), truth, answered: host.answered })
}

/// Of a run that is recorded, `stop` waits for the thread that writes. That has a clock of its own: paused time runs out
/// meanwhile.
async fn stop(supervisor: &Supervisor, recorded: bool) -> Result<(), String> {
    let stopped = supervisor.stop("simulated");
    if !recorded {
        return timeout(STOP, stopped).await.map(drop).map_err(|_| "stop takes a second at most".to_owned());
    }
    let ((tell, passed), (_stopped, until)) = (oneshot::channel(), mpsc::channel::<()>());
    std::thread::spawn(move || {
        if until.recv_timeout(WRITTEN) == Err(RecvTimeoutError::Timeout) {
            let _ = tell.send(());
        }
        // Otherwise it is over, and nobody listens.
    });
    tokio::select! {
        biased;
        _ = stopped => Ok(()),
        Ok(()) = passed => Err("stop hangs".to_owned()),
    }
}

async fn happen(network: &Network, host: &mut Host, draw: &mut Draw) {
    match draw.below(30) {
        0..=11 => {
            let menu = menu();
            let total: u32 = menu.iter().map(|entry| entry.weight).sum();
            let mut left = u32::try_from(draw.below(total as usize)).unwrap_or_default();
            let entry = menu.iter().find(|entry| match left.checked_sub(entry.weight) {
                Some(less) => {
                    left = less;
                    false
                }
                None => true,
            });
            if let Some(entry) = entry {
                network.act((entry.make)(draw.bytes()));
            }
        }
        12..=21 => host.ask(draw),
        22..=26 => sleep(draw.up_to(Duration::from_millis(40))).await,
        27 => sleep(draw.up_to(Duration::from_secs(20))).await,
        28 => host.leave_one(),
        _ => match draw.below(4) {
            0 => network.break_socket(),
            1 => network.dials_fail(u8::try_from(draw.below(4)).unwrap_or_default()),
            2 => network.dial_takes(draw.up_to(Duration::from_secs(5))),
            _ => network.pace(draw.up_to(Duration::from_millis(400))),
        },
    }
}

/// Nothing is under way any more, and no dialog is open.
async fn settle(network: &Network) {
    network.calm();
    sleep(QUIET).await;
    for _ in 0..MOST_DIALOGS {
        if !network.close_a_dialog() {
            break;
        }
        sleep(Duration::from_secs(1)).await;
    }
    network.calm();
    sleep(QUIET).await;
}

fn gather(stream: &mut EventStream, events: &mut Vec<Recorded>) -> Result<(), String> {
    while let Some(observed) = stream.try_recv() {
        match observed {
            Observed::Event(event) => events.push((*event).clone()),
            Observed::Lagged(missed) => {
                return Err(format!("a subscriber that reads misses nothing: {missed}"));
            }
        }
    }
    Ok(())
}

/// The file once it tells of the end. Its thread has a clock of its own: on paused time `stop` does not wait for it.
fn whole(recording: &Path) -> Result<Vec<u8>, String> {
    let deadline = Instant::now() + WRITTEN;
    loop {
        let read = std::fs::read(recording).map_err(|error| format!("{}: {error}", recording.display()))?;
        let status = drive(&read).map(|replayed| replayed.snapshot.status.status);
        if matches!(status, Ok(Status::Stopped | Status::Failed)) || Instant::now() > deadline {
            return Ok(read);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The recording gives the events and the snapshot of the run, keeps all rules, and what it led to was true.
fn agrees(live: &Live, recording: &[u8]) -> Result<Report, String> {
    let replayed = check(recording).map_err(|error| format!("a replay is the live run: {error}"))?;
    same_events(live, &replayed)?;
    let is_same = replayed.snapshot == live.snapshot;
    is_same.then_some(()).ok_or("a replay is the live run: the snapshots differ")?;
    let machine = audit(before_stop(recording))?;
    let is_true = std::panic::catch_unwind(|| rules::truth::holds(&machine, &live.truth));
    is_true.map_err(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())?;
    Ok(Report {
        inputs: replayed.counts.inputs,
        events: replayed.events.len(),
        answered: live.answered,
        connections: machine.state().connection.epoch.0,
    })
}

/// A subscriber came after the start, and then missed nothing.
fn same_events(live: &Live, replayed: &Replayed) -> Result<(), String> {
    let Some(first) = live.events.first() else { return Err("a subscriber is told: no event".to_owned()) };
    let same = replayed.events.iter().skip_while(|event| event.seq < first.seq);
    match same.eq(&live.events) {
        true => Ok(()),
        false => Err("a replay is the live run: the events differ".to_owned()),
    }
}

/// The recording up to where the host asked to stop: what comes then undoes what is compared with the truth.
fn before_stop(recording: &[u8]) -> &[u8] {
    const STOP_LINE: &[u8] = b"\"msg\":{\"command\":\"stop\"}";
    let at = recording.windows(STOP_LINE.len()).rposition(|window| window == STOP_LINE);
    let end = at.and_then(|at| recording[..at].iter().rposition(|byte| *byte == b'\n'));
    end.map_or(recording, |end| &recording[..=end])
}
