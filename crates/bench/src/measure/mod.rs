//! The workloads, one file each: each is played to one contender and gives its figures.

pub(crate) mod churn;
pub(crate) mod crowd;
pub(crate) mod dialog;
pub(crate) mod flood;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use crate::contender::{Contender, Running};
use crate::server::{Connection, Server};

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// Messages of the flood.
    pub(crate) flood: usize,
    /// Dialogs of each measurement of their latency.
    pub(crate) dialogs: usize,
    /// Iframes that come and go among those that stay.
    pub(crate) lives: usize,
    /// Tasks in one process.
    pub(crate) crowd: usize,
}

impl Scale {
    pub(crate) const FULL: Self = Self { flood: 500_000, dialogs: 1_000, lives: 10_000, crowd: 1_000 };
    pub(crate) const QUICK: Self = Self { flood: 100_000, dialogs: 200, lives: 2_000, crowd: 200 };
}

/// What a contender does after it was last asked something, such as writing a journal, is part of its cost: so long is waited
/// for it.
const AFTERMATH: Duration = Duration::from_millis(500);

/// A contender with one connection.
pub(crate) struct Pair {
    pub(crate) running: Running,
    pub(crate) connection: Arc<Connection>,
}

/// Starts a contender and waits until it is attached and at rest.
pub(crate) async fn attach(contender: &Contender) -> Result<Pair> {
    let mut server = Server::start()?;
    let mut running = contender.start(&server.url(), 1)?;
    let connection = server.connection().await?;
    running.ready().await?;
    sleep(AFTERMATH).await;
    // The first of anything is slow everywhere.
    for number in 0..20 {
        connection.dialog(number).await?;
    }
    Ok(Pair { running, connection })
}

/// The value below which this part of the samples lies.
pub(crate) fn quantile(samples: &[Duration], part: f64) -> Duration {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let at = ((sorted.len() as f64) * part) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_samples() {
        let samples: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(quantile(&samples, 0.5), Duration::from_millis(51));
        assert_eq!(quantile(&samples, 0.99), Duration::from_millis(100));
        assert_eq!(quantile(&samples, 1.0), Duration::from_millis(100));
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
    }
}
