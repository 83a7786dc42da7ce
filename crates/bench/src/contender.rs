//! What is measured: each contender is a process of its own with the same interface. It gets `--url` and `--conns`, prints
//! `READY` when all connections are attached, accepts every dialog, and ends when the sockets close.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a contender may take to attach.
const ATTACH: Duration = Duration::from_secs(180);

/// A program to be measured.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// Somebody else's: measured once in a run, for some of them take long.
    pub(crate) is_peer: bool,
    command: Vec<PathBuf>,
}

/// Where the programs are.
pub(crate) struct Places {
    /// The folder of the built programs.
    pub(crate) built: PathBuf,
    /// The folder of the peers that are not part of the workspace; none when only we are measured.
    pub(crate) peers: Option<PathBuf>,
}

/// The floor: everything is compared to it.
pub(crate) const FLOOR: &str = "floor";
/// We.
pub(crate) const OURS: &str = "cdp-supervisor";

/// All of them, the floor first.
pub(crate) fn all(places: &Places) -> Vec<Contender> {
    let built = |name, program: &str, arguments: &[&str]| {
        let mut command = vec![places.built.join(program)];
        command.extend(arguments.iter().map(PathBuf::from));
        Contender { name, is_peer: false, command }
    };
    let mut all = vec![
        built(FLOOR, "bench-floor", &[]),
        built("envelope", "bench-floor", &["--envelope"]),
        built(OURS, "cdp-supervisor", &["bench-client"]),
    ];
    all.extend(places.peers.iter().flat_map(|folder| peers(folder)));
    all
}

fn peers(folder: &Path) -> Vec<Contender> {
    let peer = |name, command| Contender { name, is_peer: true, command };
    let node = |name, script: &str| peer(name, vec!["node".into(), folder.join(script)]);
    vec![
        peer("chromiumoxide", vec![folder.join("bench-chromiumoxide")]),
        node("puppeteer-core", "puppeteer.mjs"),
        node("playwright-core", "playwright.mjs"),
    ]
}

/// A contender that runs. It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    pid: u32,
}

impl Contender {
    /// A host that reads snapshots all the time.
    pub(crate) fn inside(built: &Path) -> Self {
        Self { name: "inside", is_peer: false, command: vec![built.join("bench-inside"), "snapshot".into()] }
    }

    /// The same under a program that looks on, if it is ours.
    pub(crate) fn under(mut self, program: &str) -> Self {
        if self.name == OURS {
            self.command.splice(0..0, program.split_whitespace().map(PathBuf::from));
        }
        self
    }

    pub(crate) fn start(&self, url: &str, connections: usize) -> Result<Running> {
        let (program, arguments) = self.command.split_first().context("no program")?;
        let mut command = Command::new(program);
        command.args(arguments).args(["--url", url, "--conns", &connections.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let pid = child.id().context("it ended at once")?;
        Ok(Running { child, pid })
    }
}

impl Running {
    /// Waits until all its connections are attached.
    pub(crate) async fn ready(&mut self) -> Result<()> {
        let out = self.child.stdout.as_mut().context("its output is gone")?;
        let mut line = String::new();
        timeout(ATTACH, BufReader::new(out).read_line(&mut line))
            .await
            .context("it did not attach in time")??;
        if line.trim() != "READY" {
            bail!("it said {:?} and not READY", line.trim());
        }
        Ok(())
    }

    /// What it says after that, until it ends.
    pub(crate) async fn last_words(&mut self) -> Result<String> {
        let out = self.child.stdout.as_mut().context("its output is gone")?;
        let mut said = String::new();
        timeout(ATTACH, out.read_to_string(&mut said)).await.context("it did not end")??;
        Ok(said)
    }

    /// The processor time of all its threads.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid))?;
        let mut total = Duration::ZERO;
        for task in tasks {
            // One that has just ended is one that had nothing to do.
            let Ok(text) = std::fs::read_to_string(task?.path().join("schedstat")) else { continue };
            let nanoseconds = text.split(' ').next().unwrap_or_default().parse()?;
            total += Duration::from_nanos(nanoseconds);
        }
        Ok(total)
    }

    /// The memory that it holds, in bytes.
    pub(crate) fn memory(&self) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kibibytes * 1024)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait().await?)
    }
}
