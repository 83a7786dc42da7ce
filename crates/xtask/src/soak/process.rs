//! What the operating system says of this process.

use std::fs;

use anyhow::{Context, Result};

use super::protocol::Sample;

/// Memory, threads, handles and tokio tasks of this process, now.
///
/// # Errors
/// Where there is no Linux `/proc`.
pub(super) fn sample() -> Result<Sample> {
    let status = fs::read_to_string("/proc/self/status").context("a soak needs Linux's /proc")?;
    let (threads, store_threads) = threads()?;
    Ok(Sample {
        rss_kib: status_kib(&status, "VmRSS:")?,
        own_kib: status_kib(&status, "RssAnon:")?,
        heap_kib: crate::HEAP.allocated() as u64 / 1024,
        threads,
        store_threads,
        // The listing itself holds one.
        handles: entries("/proc/self/fd")? - 1,
        tokio_tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks() as u64,
        ..Sample::default()
    })
}

fn status_kib(status: &str, name: &str) -> Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.trim().split(' ').next()?.parse().ok());
    number.with_context(|| format!("/proc/self/status names no {name}"))
}

/// Ours and those of sled, which has a pool of its own for the whole process: seven, and more for some seconds.
fn threads() -> Result<(u64, u64)> {
    let (mut ours, mut store) = (0, 0);
    for entry in fs::read_dir("/proc/self/task").context("reading /proc/self/task")? {
        // One that has just ended is none.
        match fs::read_to_string(entry?.path().join("comm")) {
            Ok(name) if name.starts_with("sled-io") => store += 1,
            Ok(_) => ours += 1,
            Err(_) => {}
        }
    }
    Ok((ours, store))
}

fn entries(folder: &str) -> Result<u64> {
    Ok(fs::read_dir(folder).with_context(|| format!("reading {folder}"))?.count() as u64)
}
