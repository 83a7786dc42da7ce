//! `bench-inside`: what can be measured only inside the process of a host: reading snapshots, and replaying.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bench::load::{self, LIFE, PIECE};
use bench::recording::recording;
use clap::Parser;
use rustix::time::{ClockId, clock_gettime};
use supervisor::{Bridge, DialogPolicy, Options, StartOptions, Supervisor, Task};
use supervisor_transcript::drive;

/// What is measured.
#[derive(Parser)]
enum Args {
    /// Prints READY once it is attached, and when the browser leaves the nanoseconds of one read of the snapshot: half of
    /// all reads took no longer, and the longest.
    Snapshot {
        /// Where the browser is.
        #[arg(long)]
        url: String,
        /// As each contender has it.
        #[arg(long, default_value_t = 1)]
        conns: usize,
    },
    /// Prints what is replayed in a second: messages of a flood, and events of frames.
    Replay,
}

#[tokio::main]
async fn main() -> Result<()> {
    match Args::parse() {
        Args::Snapshot { url, conns: _ } => snapshot(&url).await,
        Args::Replay => replay(),
    }
}

/// Reads in one sample: the clock is looked at twice for each.
const READS: u32 = 1_000;

async fn snapshot(url: &str) -> Result<()> {
    let mut options = Options::default();
    (options.dialog_policy, options.bridge, options.reconnect.tries) =
        (DialogPolicy::AutoAccept, Bridge::Off, 0);
    let supervisor = Supervisor::start();
    let task = supervisor.get_or_start("inside", url, StartOptions::from(options)).await?;
    task.wait_for(|snapshot| !snapshot.pages.is_empty(), Duration::from_secs(30)).await?;
    println!("READY");
    let reader = thread::spawn({
        let task = task.clone();
        move || read_until_the_end(&task)
    });
    task.wait_for_end().await;
    let mut samples = reader.join().ok().context("the reader failed")?;
    samples.sort_unstable();
    let each = |at: usize| samples.get(at).map_or(0.0, |all| all.as_secs_f64() * 1e9 / f64::from(READS));
    println!("{:.1} {:.1}", each(samples.len() / 2), each(samples.len().saturating_sub(1)));
    Ok(())
}

/// As a host reads that asks all the time, on a thread of its own.
fn read_until_the_end(task: &Task) -> Vec<Duration> {
    let mut samples = Vec::new();
    while !task.snapshot().status.stale {
        let begin = Instant::now();
        for _ in 0..READS {
            black_box(task.snapshot());
        }
        samples.push(begin.elapsed());
        // There are events between two samples, also where there are fewer processors than threads.
        thread::yield_now();
    }
    samples
}

/// Messages of each recording.
const MESSAGES: usize = 500_000;

fn replay() -> Result<()> {
    let flood: Vec<String> = load::messages().collect();
    let flood = recording((0..MESSAGES).map(|number| flood[number % PIECE].as_str()));
    let lives: Vec<String> = (0..PIECE).map(|n| load::life(n / LIFE, n % LIFE)).collect();
    let lives = recording((0..MESSAGES).map(|number| lives[number % PIECE].as_str()));
    let (messages, _) = replayed(&flood)?;
    let (_, events) = replayed(&lives)?;
    println!("{messages:.0} {events:.0}");
    Ok(())
}

/// Inputs and events a second of processor time.
fn replayed(recording: &[u8]) -> Result<(f64, f64)> {
    let begin = processor_time();
    let replayed = drive(recording)?;
    let seconds = (processor_time() - begin).as_secs_f64();
    anyhow::ensure!(replayed.counts.inputs as usize > MESSAGES, "the recording was not read to its end");
    Ok((replayed.counts.inputs as f64 / seconds, replayed.events.len() as f64 / seconds))
}

fn processor_time() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(spent.tv_sec.try_into().unwrap_or(0), spent.tv_nsec.try_into().unwrap_or(0))
}
