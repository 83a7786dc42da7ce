//! Iframes that come and go while many others stay.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use crate::measure::{AFTERMATH, Pair};
use bench::frames::push_text;
use bench::load::{LIFE, attached, life, navigated};

/// Nanoseconds of processor time for each event of an iframe's life, while `live` others are there.
pub(crate) async fn measure(pair: &Pair, live: usize, lives: usize) -> Result<f64> {
    let mut standing = Vec::new();
    for number in 0..live {
        push_text(&mut standing, &attached(number));
        push_text(&mut standing, &navigated(number));
    }
    pair.connection.write(&standing).await?;
    pair.connection.dialog(0).await?;
    sleep(AFTERMATH).await;
    let mut moving = Vec::new();
    for number in live..live + lives {
        (0..LIFE).for_each(|step| push_text(&mut moving, &life(number, step)));
    }
    let before = pair.running.processor_time()?;
    pair.connection.write(&moving).await?;
    pair.connection.dialog(0).await?;
    sleep(AFTERMATH).await;
    let spent: Duration = pair.running.processor_time()?.saturating_sub(before);
    Ok(spent.as_secs_f64() * 1e9 / (lives * LIFE) as f64)
}
