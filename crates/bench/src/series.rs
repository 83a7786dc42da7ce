//! How our figures and those of the floor grow: with the tasks in a process, with the frames of a page, with the messages a
//! second.

use std::fmt::Write as _;

use anyhow::Result;

use crate::contender::{Contender, FLOOR, OURS};
use crate::measure::{Scale, attach, churn, crowd, dialog, quantile};
use crate::report::{head, number};
use crate::run::micros;

/// Tasks in one process.
const TASKS: [usize; 4] = [1, 100, 1_000, 5_000];

/// Iframes that are there while others come and go.
const FRAMES: [usize; 4] = [10, 1_000, 10_000, 100_000];

/// Messages a second.
const RATES: [u64; 4] = [0, 10_000, 100_000, 200_000];

/// All of them, as Markdown.
pub(crate) async fn tables(contenders: &[Contender], scale: Scale) -> Result<String> {
    let chosen: Vec<_> = contenders.iter().filter(|it| [FLOOR, OURS].contains(&it.name)).collect();
    let mut out = String::new();
    out.push_str(&memory(&chosen).await?);
    out.push_str(&frames(&chosen, scale).await?);
    out.push_str(&rates(&chosen, scale).await?);
    Ok(out)
}

/// What whole processes hold.
async fn memory(contenders: &[&Contender]) -> Result<String> {
    let columns = [
        "tasks in the process",
        "contender",
        "whole process, idle",
        "a task more, idle",
        "whole process, 50 frames each",
        "a task more, 50 frames each",
    ];
    let mut out = format!("\n{}", head(&columns));
    for contender in contenders {
        let mut one = None;
        for tasks in TASKS {
            let held = crowd::memory(contender, tasks).await?;
            let one = *one.get_or_insert(held);
            let each = |all: u64, first: u64| match tasks {
                1 => String::new(),
                more => {
                    format!("{} kB", number(all.saturating_sub(first) as f64 / 1e3 / (more - 1) as f64))
                }
            };
            let _ = writeln!(
                out,
                "| {tasks} | {} | {} MB | {} | {} MB | {} |",
                contender.name,
                number(held.idle as f64 / 1e6),
                each(held.idle, one.idle),
                number(held.with_frames as f64 / 1e6),
                each(held.with_frames, one.idle),
            );
        }
    }
    Ok(out)
}

/// What an event costs among many frames.
async fn frames(contenders: &[&Contender], scale: Scale) -> Result<String> {
    let mut out = format!("\n{}", head(&["live frames", "contender", "processor time of a frame event"]));
    for live in FRAMES {
        for contender in contenders {
            let pair = attach(contender).await?;
            let each = churn::measure(&pair, live, scale.lives).await?;
            let _ = writeln!(out, "| {live} | {} | {} ns |", contender.name, number(each));
        }
    }
    Ok(out)
}

/// How long a dialog waits beside console messages.
async fn rates(contenders: &[&Contender], scale: Scale) -> Result<String> {
    let columns = ["messages/s", "contender", "dialog, p50", "p95", "p99"];
    let mut out = format!("\n{}", head(&columns));
    for rate in RATES {
        for contender in contenders {
            let pair = attach(contender).await?;
            let waits = dialog::loaded(&pair.connection, rate, scale.dialogs).await?;
            let _ = write!(out, "| {rate} | {} |", contender.name);
            for part in [0.5, 0.95, 0.99] {
                let _ = write!(out, " {} µs |", number(micros(quantile(&waits, part))));
            }
            out.push('\n');
        }
    }
    Ok(out)
}
