//! What the operating system says of this process.

use std::fs;

use anyhow::{Context, Result};

use super::protocol::Sample;

/// Memory, threads, handles and tokio tasks of this process, now.
///
/// # Errors
/// Where there is no Linux `/proc`.
pub(super) fn sample() -> Result<Sample> {
    Ok(Sample {
        rss_kib: resident_kib()?,
        heap_kib: crate::HEAP.allocated() as u64 / 1024,
        threads: entries("/proc/self/task")?,
        // The listing itself holds one.
        handles: entries("/proc/self/fd")? - 1,
        tokio_tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks() as u64,
        ..Sample::default()
    })
}

fn resident_kib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("a soak needs Linux's /proc")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|rest| rest.trim().split(' ').next()?.parse().ok());
    number.context("/proc/self/status names no VmRSS")
}

fn entries(folder: &str) -> Result<u64> {
    Ok(fs::read_dir(folder).with_context(|| format!("reading {folder}"))?.count() as u64)
}
