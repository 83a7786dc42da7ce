//! The process that is watched: it supervises, and tells how it is. Nothing else of the soak runs in it, so that its
//! memory, threads and handles are those of the library and of a small host.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use supervisor::supervisor_core::snapshot::GuardState;
use supervisor::{EvalOptions, Options, Reconnect, Scope, StartOptions, Status, Supervisor};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::agent::Agent;
use super::counts::Counts;
use super::process;
use super::protocol::{Binding, Order, Sample, Told};
use super::store::Store;

const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// How long everything may take to come to rest.
const REST_LIMIT: Duration = Duration::from_secs(40);

/// The watchdog of the soak's tasks: soon, so that it has something to do.
const DIALOG_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder for the journal and the recordings.
    store: PathBuf,
}

/// Reads orders until the input ends.
///
/// # Errors
/// When the driver is gone, or cannot be understood.
pub(crate) fn run(args: &Args) -> Result<()> {
    let store = Store::open(&args.store)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut orders = orders();
        Supervised::new(store).run(&mut orders).await
    })
}

/// On a thread of its own, which is there from the beginning to the end.
fn orders() -> mpsc::Receiver<String> {
    let (tell, orders) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if tell.blocking_send(line).is_err() {
                return;
            }
        }
    });
    orders
}

struct Supervised {
    started: Instant,
    supervisor: Supervisor,
    store: Store,
    agents: Vec<Agent>,
    counts: Counts,
    working: watch::Sender<bool>,
}

impl Supervised {
    fn new(store: Store) -> Self {
        Self {
            started: Instant::now(),
            supervisor: Supervisor::start(),
            store,
            agents: Vec::new(),
            counts: Counts::default(),
            working: watch::Sender::new(true),
        }
    }

    async fn run(mut self, orders: &mut mpsc::Receiver<String>) -> Result<()> {
        let mut tick = interval(SAMPLE_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => tell(&Told::Sample(self.sample()?))?,
                line = orders.recv() => match line {
                    Some(line) => {
                        let order = serde_json::from_str(&line).with_context(|| format!("an order: {line}"))?;
                        if self.obey(order).await? {
                            return Ok(());
                        }
                    }
                    None => bail!("the driver is gone"),
                },
            }
        }
    }

    /// Whether it was the last order.
    async fn obey(&mut self, order: Order) -> Result<bool> {
        match order {
            Order::Bind { tasks } => {
                let failure = self.bind(tasks).await.err().map(|error| format!("{error:#}"));
                tell(&Told::Bound { failure })?;
            }
            Order::Pause => {
                self.working.send_replace(false);
            }
            Order::Rest => {
                let failure = self.come_to_rest().await.err().map(|error| format!("{error:#}"));
                tell(&Told::Rested { sample: self.sample()?, failure })?;
            }
            Order::Work => {
                self.working.send_replace(true);
            }
            Order::End => {
                self.agents.clear();
                self.supervisor.stop_all().await;
                self.settle(Instant::now() + REST_LIMIT).await?;
                tell(&Told::Ended { sample: self.sample()? })?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn bind(&mut self, tasks: Vec<Binding>) -> Result<()> {
        self.agents.clear();
        for binding in tasks {
            let name = binding.name.clone();
            let (url, options) = (binding.url.clone(), self.options(binding)?);
            let task = self.supervisor.get_or_start(name.clone(), &url, options).await;
            let task = task.map_err(|failure| anyhow::anyhow!("{name}: {failure}"))?;
            self.counts.add("bound");
            self.agents.push(Agent::new(task, &self.counts, self.working.subscribe()));
        }
        Ok(())
    }

    /// Nothing is under way, every page answers, and what is held does not change any more.
    async fn come_to_rest(&self) -> Result<()> {
        let deadline = Instant::now() + REST_LIMIT;
        for agent in &self.agents {
            calm(agent, deadline).await.with_context(|| format!("task {}", agent.task.task_id()))?;
        }
        self.settle(deadline).await
    }

    async fn settle(&self, deadline: Instant) -> Result<()> {
        let mut last = self.sample()?;
        let mut same = 0;
        while same < 5 {
            if Instant::now() > deadline {
                bail!("what is held still changes");
            }
            sleep(Duration::from_millis(100)).await;
            let next = self.sample()?;
            let is_same = (next.handles, next.tokio_tasks, &next.records)
                == (last.handles, last.tokio_tasks, &last.records);
            // A timer that ends by itself stays for longer than five looks, and is there at some rests only.
            let passes = next.records.get("passing_deadlines").is_some_and(|count| *count > 0);
            same = if is_same && !passes { same + 1 } else { 0 };
            last = next;
        }
        Ok(())
    }

    fn sample(&self) -> Result<Sample> {
        let mut sample = process::sample()?;
        sample.at = self.started.elapsed().as_secs_f64();
        sample.counts = self.counts.all();
        self.store.tell(self.agents.iter().map(|agent| &agent.task), &mut sample);
        for agent in &self.agents {
            let held = serde_json::to_value(agent.task.holdings())?;
            for (kind, count) in held.as_object().into_iter().flatten() {
                *sample.records.entry(kind.clone()).or_default() += count.as_u64().unwrap_or(0);
            }
        }
        Ok(sample)
    }

    /// With everything that there is.
    fn options(&self, binding: Binding) -> Result<StartOptions> {
        let mut options = Options::default();
        options.dialog_policy = binding.policy;
        options.dialog_timeout = DIALOG_TIMEOUT;
        options.bridge = binding.bridge;
        options.guard = binding.guard;
        options.scope = Scope::BrowserContextId(binding.context.as_str().into());
        options.reconnect = Reconnect { tries: 1_000, within: Duration::from_secs(3_600) };
        let mut options = StartOptions::from(options);
        options.recording = Some(self.store.recording(&binding.name)?);
        options.journal = Some(self.store.keeper());
        Ok(options)
    }
}

async fn calm(agent: &Agent, deadline: Instant) -> Result<()> {
    loop {
        let why = match restless(agent).await {
            None => return Ok(()),
            Some(why) => why,
        };
        if Instant::now() > deadline {
            bail!("{why}; {}", serde_json::to_string(&*agent.task.snapshot())?);
        }
        sleep(Duration::from_millis(100)).await;
    }
}

async fn restless(agent: &Agent) -> Option<String> {
    let snapshot = agent.task.snapshot();
    if snapshot.status.status != Status::Connected {
        return Some(format!("it is {:?}", snapshot.status.status));
    }
    if snapshot.status.guard.state == GuardState::Unavailable {
        return Some(format!("its guard is {:?}", snapshot.status.guard));
    }
    if !agent.is_idle() || !snapshot.pending_dialogs.is_empty() {
        return Some("something is under way".to_owned());
    }
    for page in snapshot.pages.iter() {
        if let Err(why) = answers(agent, &page.target_id).await {
            return Some(why);
        }
    }
    None
}

/// A page at rest answers; so its session has its actor, each time.
async fn answers(agent: &Agent, page: &supervisor::TargetId) -> Result<(), String> {
    let task = &agent.task;
    let tree = task.frame_tree(Some(page)).map_err(|failure| failure.to_string())?;
    let top = tree.top.ok_or("a page without a frame")?;
    let options = EvalOptions { await_promise: false, timeout: Some(Duration::from_secs(5)) };
    let value = task.eval(Some(top.frame_id), "6 * 7", options).await;
    agent.late.fetch_after(&value).await;
    let value = value.map_err(|failure| failure.to_string())?;
    if value.value.get() == "42" { Ok(()) } else { Err(format!("6 * 7 is {}", value.value.get())) }
}

fn tell(told: &Told) -> Result<()> {
    let mut line = serde_json::to_vec(told)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    out.flush().context("the driver is gone")
}
