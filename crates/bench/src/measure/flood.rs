//! A page that talks as fast as the socket takes it.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::time::sleep;

use crate::measure::{AFTERMATH, Pair};
use bench::load::{PIECE, flood};

/// What one message cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flood {
    pub(crate) processor: Duration,
    pub(crate) wall: Duration,
    pub(crate) messages: u32,
}

/// It is over when a dialog after the last message was answered.
pub(crate) async fn measure(pair: &Pair, messages: usize) -> Result<Flood> {
    let (piece, pieces) = (flood(), messages.div_ceil(PIECE));
    let before = pair.running.processor_time()?;
    let begin = Instant::now();
    for _ in 0..pieces {
        pair.connection.write(&piece.bytes).await?;
    }
    pair.connection.dialog(0).await?;
    let wall = begin.elapsed();
    sleep(AFTERMATH).await;
    let processor = pair.running.processor_time()?.saturating_sub(before);
    Ok(Flood { processor, wall, messages: u32::try_from(pieces * PIECE)? })
}

impl Flood {
    /// Nanoseconds of processor time a message.
    pub(crate) fn processor_each(&self) -> f64 {
        self.processor.as_secs_f64() * 1e9 / f64::from(self.messages)
    }

    /// Nanoseconds a message.
    pub(crate) fn wall_each(&self) -> f64 {
        self.wall.as_secs_f64() * 1e9 / f64::from(self.messages)
    }
}
