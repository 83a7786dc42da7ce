//! How long a dialog waits for its answer, on a connection that is idle, and on one that is not.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::server::Connection;
use bench::frames::push_text;
use bench::load::{Piece, flood, opening};

/// How often the load is written: a busy page is not even either.
const TICK: Duration = Duration::from_millis(1);

/// Ticks between two dialogs.
const BETWEEN: u64 = 5;

/// Ends a measurement of a client that does not keep up.
const LONGEST: Duration = Duration::from_secs(20);

/// One dialog after the other, with pauses in which both sides fall asleep.
pub(crate) async fn idle(connection: &Connection, dialogs: usize) -> Result<Vec<Duration>> {
    let mut waits = Vec::with_capacity(dialogs);
    for number in 0..dialogs {
        // Not in step with anybody's clock.
        sleep(Duration::from_micros(1_000 + (number as u64 * 617) % 1_500)).await;
        waits.push(connection.dialog(number).await?);
    }
    Ok(waits)
}

/// Dialogs in the middle of so many messages a second.
pub(crate) async fn loaded(connection: &Connection, rate: u64, dialogs: usize) -> Result<Vec<Duration>> {
    let mut load = Load { piece: flood(), next: 0 };
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (begin, mut written, mut tick) = (Instant::now(), 0, 0);
    let (mut waits, mut opened) = (Vec::with_capacity(dialogs), None);
    while waits.len() < dialogs && begin.elapsed() < LONGEST {
        ticks.tick().await;
        tick += 1;
        if let Some(at) = opened
            && let Some(answered) = connection.answered().await
        {
            waits.push(answered.duration_since(at));
            opened = None;
        }
        let due = (begin.elapsed().as_secs_f64() * rate as f64) as u64;
        let count = due.saturating_sub(written).min(MOST_AT_ONCE);
        written = due;
        let before = count / 2;
        load.write(connection, before).await?;
        if opened.is_none() && tick % BETWEEN == 0 {
            let mut dialog = Vec::new();
            push_text(&mut dialog, &opening(waits.len()));
            opened = Some(Instant::now());
            connection.write(&dialog).await?;
        }
        load.write(connection, count - before).await?;
    }
    if opened.is_some() {
        connection.answer().await?;
    }
    Ok(waits)
}

/// A tick that was late does not make up for all that it missed.
const MOST_AT_ONCE: u64 = 1_000;

/// The flood, a few messages at a time.
struct Load {
    piece: Piece,
    next: usize,
}

impl Load {
    async fn write(&mut self, connection: &Connection, mut count: u64) -> Result<()> {
        while count > 0 {
            let last = (self.next + count as usize).min(self.piece.ends.len());
            let start = if self.next == 0 { 0 } else { self.piece.ends[self.next - 1] };
            connection.write(&self.piece.bytes[start..self.piece.ends[last - 1]]).await?;
            count -= (last - self.next) as u64;
            self.next = if last == self.piece.ends.len() { 0 } else { last };
        }
        Ok(())
    }
}
