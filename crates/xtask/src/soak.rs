//! `cargo xtask soak`: a real browser that does everything for a long time, and a look at what the supervising process
//! holds meanwhile.
//!
//! The supervising process is one of its own, so that only its memory counts. This one drives the pages over a connection
//! of its own, cuts the line between the two now and then, and has everything come to rest once a round: then what is held
//! must be what was held before.

mod agent;
mod child;
mod commit;
mod counts;
mod hand;
mod late;
mod names;
mod play;
mod process;
mod protocol;
mod report;
mod scene;
mod site;
mod store;
mod supervised;
mod verdict;
mod wire;
mod world;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use child::Child;
use counts::Counts;
use hand::Hand;
use play::{cut, play, rescue};
use protocol::Sample;
use store::Place;
use verdict::Verdict;
use world::World;

pub(crate) use supervised::{Args as SupervisedArgs, run as run_supervised};

/// The hidden chore that is the process that is watched.
pub(crate) const SUPERVISED: &str = "soak-supervised";

/// From one rest to the next, in a long run.
const ROUND: Duration = Duration::from_secs(45);

/// So many rounds has a short run.
const ROUNDS: u32 = 5;

/// A run goes on until there were so many rests: otherwise there is nothing to compare.
const RESTS: usize = 4;

/// So many rounds without enough rests: then something is wrong.
const ROUNDS_IN_VAIN: u32 = 30;

/// How long a scene of each tab and the pause after it take together, at least: the machine is for others too.
const PACE: Duration = Duration::from_millis(4_500);

/// From one cut to the next.
const CUT_EVERY: Duration = Duration::from_secs(18);

/// Where the line is cut more often than this, tasks have no guard: one whose main connection is lost just after its guard
/// came, and again, gives it up as the cause.
const GUARDED_FROM: Duration = Duration::from_secs(15);

/// How often the browser is replaced by another.
const RESTART_EVERY: u32 = 12;

/// How often a line is printed.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long. Memory is judged from half an hour on.
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// The folder for `soak.html` and `soak.json`.
    #[arg(long, default_value = "target/soak")]
    out: PathBuf,
    /// The folder for the journal and the recordings, to look into what went wrong; otherwise they are deleted afterwards.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Do as much as the machine can, in the place of a quarter of one core.
    #[arg(long)]
    fast: bool,
}

/// Runs, and writes a page with charts.
///
/// # Errors
/// When something did not work, or what is held grew.
pub(crate) fn run(args: &Args) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (record, went) = runtime.block_on(async {
        let mut soak = Soak::start(args).await?;
        let went = soak.run().await;
        soak.end(went).await
    })?;
    let verdict = Verdict::of(&record);
    report::write(&args.out, &record, &verdict)?;
    print!("{verdict}");
    println!("written: {}", args.out.join("soak.html").display());
    went?;
    if !verdict.is_flat() {
        bail!("what is held is not flat");
    }
    Ok(())
}

/// All that a run leaves.
#[derive(Debug, Default, serde::Serialize)]
struct Record {
    /// What was watched: the commit that it was built from.
    commit: String,
    browser: String,
    minutes: f64,
    samples: Vec<Sample>,
    rests: Vec<Sample>,
    /// Why a rest did not come.
    restless: Vec<String>,
    /// Before the first task, and after the last.
    first: Sample,
    last: Sample,
    /// What the driver did.
    driven: std::collections::BTreeMap<String, u64>,
}

struct Soak {
    world: World,
    child: Child,
    _store: Place,
    counts: Counts,
    begun: Instant,
    length: Duration,
    round: Duration,
    pace: Duration,
    cut_every: Duration,
    turns: Vec<usize>,
    record: Record,
}

impl Soak {
    async fn start(args: &Args) -> Result<Self> {
        let length = Duration::try_from_secs_f64(args.minutes * 60.0).context("--minutes")?;
        let round = ROUND.min(length / ROUNDS);
        let pace = if args.fast { Duration::ZERO } else { PACE };
        let store = Place::of(args.keep.as_deref())?;
        let mut child = Child::start(store.path())?;
        let cut_every = CUT_EVERY.min(round / 3);
        let world = World::start(cut_every >= GUARDED_FROM).await?;
        let first = child.rest().await?.map_err(anyhow::Error::msg)?;
        child.bind(world.bindings.clone()).await?;
        let (commit, browser) = (commit::name(), world.browser_version());
        let record = Record { commit, browser, minutes: args.minutes, first, ..Record::default() };
        let turns = (0..world.tabs.len()).map(|tab| tab * 4).collect();
        let (counts, begun) = (Counts::default(), Instant::now());
        Ok(Self { world, child, _store: store, counts, begun, length, round, pace, cut_every, turns, record })
    }

    async fn run(&mut self) -> Result<()> {
        let samples = self.child.samples();
        let (begun, length, counts) = (self.begun, self.length, self.counts.clone());
        let progress = tokio::spawn(report::progress(samples, counts, begun, length, PROGRESS_EVERY));
        let mut went = Ok(());
        for round in 1.. {
            let is_over = self.begun.elapsed() >= self.length;
            let is_judged = self.record.rests.len() >= RESTS || round > ROUNDS_IN_VAIN;
            if (is_over && is_judged) || went.is_err() {
                break;
            }
            went = self.one_round(round).await;
        }
        progress.abort();
        went
    }

    async fn one_round(&mut self, round: u32) -> Result<()> {
        let end = Instant::now() + self.round;
        let (pace, cut_every) = (self.pace, self.cut_every);
        let (world, counts) = (&self.world, &self.counts);
        let tabs = world.tabs.iter().zip(&mut self.turns);
        let playing =
            futures_util::future::join_all(tabs.map(|(tab, turn)| play(world, counts, tab, turn, end, pace)));
        let helping = rescue(world, counts);
        tokio::select! {
            _ = async { tokio::join!(playing, cut(world, counts, end, cut_every)) } => {}
            () = helping => {}
        }
        if !self.world.is_alive() {
            self.counts.add("browser died");
            println!("the browser died; {}", self.world.last_words());
            return self.another_browser().await;
        }
        if round.is_multiple_of(RESTART_EVERY) {
            self.counts.add("browser replaced");
            return self.another_browser().await;
        }
        self.child.pause().await?;
        match self.empty_all().await {
            Ok(()) => self.rest().await,
            Err(error) => {
                println!("a tab could not be emptied: {error:#}");
                self.counts.add("browser stuck");
                self.another_browser().await
            }
        }
    }

    async fn another_browser(&mut self) -> Result<()> {
        self.world.restart().await.context("another browser")?;
        self.child.bind(self.world.bindings.clone()).await
    }

    async fn empty_all(&self) -> Result<()> {
        let blank = self.world.pages.url("a.test", "/rest");
        for tab in &self.world.tabs {
            let hand = Hand { task: self.world.task.clone(), target: tab.target.clone() };
            hand.free(&blank).await.with_context(|| format!("{:?}", tab.role))?;
        }
        Ok(())
    }

    /// Everything is quiet: what is held now is what is always held.
    async fn rest(&mut self) -> Result<()> {
        match self.child.rest().await? {
            Ok(sample) => self.record.rests.push(sample),
            Err(why) => {
                eprintln!("no rest: {why}");
                self.record.restless.push(why);
            }
        }
        Ok(())
    }

    /// The record, and how the run went, if both sides could be ended.
    async fn end(mut self, went: Result<()>) -> Result<(Record, Result<()>)> {
        let last = self.child.end().await;
        self.world.end().await?;
        self.record.driven = self.counts.all();
        self.record.samples =
            std::mem::take(&mut *self.child.samples().lock().unwrap_or_else(|it| it.into_inner()));
        let went = went.and(last.map(|last| self.record.last = last));
        Ok((self.record, went))
    }
}
