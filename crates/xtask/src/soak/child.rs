//! The supervising process, seen from the driver.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

use super::protocol::{Binding, Order, Sample, Told};

/// For an order to be done; longer than the other side gives itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// One heap for all threads, and what is freed goes back: otherwise the memory of the process is for the larger part what
/// the allocator keeps for later, which hides ours. glibc reads these; what is set already is left.
const ALLOCATOR: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "65536")];

/// A process of its own. Dropping it kills it.
pub(super) struct Child {
    _process: tokio::process::Child,
    orders: ChildStdin,
    told: Receiver<Told>,
    samples: Samples,
}

/// All samples that it told so far.
pub(super) type Samples = Arc<Mutex<Vec<Sample>>>;

impl Child {
    /// Starts this program once more, as the one that is watched. It writes into this folder.
    pub(super) fn start(store: &Path) -> Result<Self> {
        let program = std::env::current_exe()?;
        let mut process = Command::new(program)
            .arg(super::SUPERVISED)
            .arg(store)
            .envs(ALLOCATOR.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("starting the process that is watched")?;
        let orders = process.stdin.take().context("its standard input")?;
        let output = process.stdout.take().context("its standard output")?;
        let (samples, (tell, told)) = (Samples::default(), channel(1));
        tokio::spawn(listen(output, Arc::clone(&samples), tell));
        Ok(Self { _process: process, orders, told, samples })
    }

    pub(super) fn samples(&self) -> Samples {
        Arc::clone(&self.samples)
    }

    pub(super) async fn bind(&mut self, tasks: Vec<Binding>) -> Result<()> {
        match self.ask(&Order::Bind { tasks }).await? {
            Told::Bound { failure: None } => Ok(()),
            Told::Bound { failure: Some(failure) } => bail!("binding: {failure}"),
            other => bail!("binding was answered with {other:?}"),
        }
    }

    /// Has it make no more calls, until it has rested.
    pub(super) async fn pause(&mut self) -> Result<()> {
        self.send(&Order::Pause).await
    }

    /// Has it come to rest and go on. Gives what it held at rest, or why it is not at rest.
    pub(super) async fn rest(&mut self) -> Result<Result<Sample, String>> {
        let rested = self.ask(&Order::Rest).await?;
        self.send(&Order::Work).await?;
        match rested {
            Told::Rested { sample, failure: None } => Ok(Ok(sample)),
            Told::Rested { failure: Some(failure), .. } => Ok(Err(failure)),
            other => bail!("rest was answered with {other:?}"),
        }
    }

    pub(super) async fn end(&mut self) -> Result<Sample> {
        match self.ask(&Order::End).await? {
            Told::Ended { sample } => Ok(sample),
            other => bail!("the end was answered with {other:?}"),
        }
    }

    async fn ask(&mut self, order: &Order) -> Result<Told> {
        self.send(order).await?;
        let told = timeout(PATIENCE, self.told.recv()).await.context("the watched process is silent")?;
        told.context("the watched process is gone")
    }

    async fn send(&mut self, order: &Order) -> Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.orders.write_all(&line).await?;
        self.orders.flush().await.context("the watched process is gone")
    }
}

async fn listen(output: ChildStdout, samples: Samples, tell: Sender<Told>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(Told::Sample(sample)) => samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample),
            Ok(told) => {
                let _ = tell.send(told).await;
            }
            Err(error) => eprintln!("not understood ({error}): {line}"),
        }
    }
}
