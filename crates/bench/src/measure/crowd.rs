//! Many tasks in one process: what each holds, and how fast all come, are asked and go.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::contender::{Contender, Running};
use crate::measure::AFTERMATH;
use crate::server::{Connection, Server};
use bench::frames::push_text;
use bench::load::{attached, navigated};

/// Iframes of a page that is not small.
const FRAMES: usize = 50;

/// A contender with many connections.
pub(crate) struct Crowd {
    running: Running,
    connections: Vec<Arc<Connection>>,
    /// From the start of the process until all are attached.
    pub(crate) attached_in: Duration,
}

/// What a crowd holds and does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// Bytes a task, beyond what the process holds with one.
    pub(crate) idle: f64,
    /// Bytes of the whole process, divided by the tasks.
    pub(crate) whole: f64,
    /// The same with fifty iframes each.
    pub(crate) with_frames: f64,
    /// From the start of the process until a dialog on each was answered.
    pub(crate) all_answered: Duration,
    /// From the signal until the process has ended.
    pub(crate) stopped_in: Duration,
}

/// Starts a contender with so many tasks at once.
async fn gather(contender: &Contender, size: usize) -> Result<Crowd> {
    let mut server = Server::start()?;
    let begin = Instant::now();
    let mut running = contender.start(&server.url(), size)?;
    running.ready().await?;
    let attached_in = begin.elapsed();
    let mut connections = Vec::with_capacity(size);
    for _ in 0..size {
        connections.push(server.connection().await?);
    }
    Ok(Crowd { running, connections, attached_in })
}

pub(crate) async fn measure(contender: &Contender, size: usize) -> Result<Figures> {
    let base = memory(contender, 1).await?.idle;
    let mut crowd = gather(contender, size).await?;
    let all_answered = crowd.attached_in + crowd.dialogs().await?;
    let stopped_in = crowd.stop().await?;
    let held = memory(contender, size).await?;
    let each = |bytes: u64| bytes.saturating_sub(base) as f64 / (size - 1).max(1) as f64;
    Ok(Figures {
        idle: each(held.idle),
        whole: held.idle as f64 / size as f64,
        with_frames: each(held.with_frames),
        all_answered,
        stopped_in,
    })
}

/// What a whole process holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) idle: u64,
    pub(crate) with_frames: u64,
}

/// Of tasks that do nothing, and of the same with fifty iframes each.
pub(crate) async fn memory(contender: &Contender, size: usize) -> Result<Memory> {
    let mut crowd = gather(contender, size).await?;
    sleep(4 * AFTERMATH).await;
    let idle = crowd.running.memory()?;
    crowd.frames().await?;
    sleep(4 * AFTERMATH).await;
    let with_frames = crowd.running.memory()?;
    crowd.stop().await?;
    Ok(Memory { idle, with_frames })
}

impl Crowd {
    /// A dialog on each connection, all at once; how long until the last is answered.
    async fn dialogs(&self) -> Result<Duration> {
        let begin = Instant::now();
        let mut asking = JoinSet::new();
        for connection in &self.connections {
            let connection = Arc::clone(connection);
            asking.spawn(async move { connection.dialog(0).await });
        }
        while let Some(answered) = asking.join_next().await {
            answered??;
        }
        Ok(begin.elapsed())
    }

    /// Gives each page its iframes.
    async fn frames(&self) -> Result<()> {
        let mut coming = Vec::new();
        for number in 0..FRAMES {
            push_text(&mut coming, &attached(number));
            push_text(&mut coming, &navigated(number));
        }
        for connection in &self.connections {
            connection.write(&coming).await?;
        }
        Ok(())
    }

    /// Ends the contender by a signal; how long until it was gone.
    async fn stop(&mut self) -> Result<Duration> {
        let pid = i32::try_from(self.running.pid()).ok().and_then(Pid::from_raw).context("no process id")?;
        let begin = Instant::now();
        kill_process(pid, Signal::TERM)?;
        self.running.ended().await?;
        let took = begin.elapsed();
        for connection in &self.connections {
            connection.closed().await;
        }
        Ok(took)
    }
}
