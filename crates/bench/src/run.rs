//! A run: workload by workload, and in each one contender after the other, round after round, so that what else the machine
//! does meets them all.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::Args;
use crate::contender::{self, Contender, OURS, Places};
use crate::inside;
use crate::measure::{Scale, attach, churn, crowd, dialog, flood, quantile};
use crate::report::{Figure, Results};

/// Iframes that are there while others come and go.
const CHURN_LIVE: [usize; 2] = [1_000, 10_000];

/// What can be asked for by name.
const WORKLOADS: [&str; 6] = ["flood", "idle", "loaded", "churn", "crowd", "inside"];

/// The floor, and who was chosen.
pub(crate) fn contenders(args: &Args) -> Vec<Contender> {
    let places = Places { built: args.built.clone(), peers: args.peers.clone() };
    let chosen = |it: &Contender| {
        args.with.is_empty() || it.name == contender::FLOOR || args.with.iter().any(|name| name == it.name)
    };
    contender::all(&places).into_iter().filter(chosen).map(|it| it.under(&args.under)).collect()
}

/// How much is measured.
pub(crate) fn scale(args: &Args) -> Scale {
    if args.quick { Scale::QUICK } else { Scale::FULL }
}

pub(crate) async fn run(args: &Args, contenders: &[Contender]) -> Result<Results> {
    let mut results = Results::default();
    contenders.iter().for_each(|it| results.enter(it.name));
    let wanted = |it: &&str| args.only.is_empty() || args.only.iter().any(|name| name == it);
    for round in 0..args.rounds {
        for workload in WORKLOADS.iter().filter(|it| wanted(it)) {
            for contender in contenders.iter().filter(|it| round == 0 || !it.is_peer) {
                eprintln!("round {}: {workload}, {}", round + 1, contender.name);
                let mut one = Round { contender, args, round, results: &mut results };
                let played =
                    one.play(workload).await.with_context(|| format!("{workload}, {}", contender.name));
                match played {
                    // What a peer cannot do is a gap in the table.
                    Err(error) if contender.is_peer => eprintln!("  failed: {error:#}"),
                    played => played?,
                }
            }
        }
    }
    Ok(results)
}

/// One contender in one round.
struct Round<'a> {
    contender: &'a Contender,
    args: &'a Args,
    round: usize,
    results: &'a mut Results,
}

impl Round<'_> {
    async fn play(&mut self, workload: &str) -> Result<()> {
        let scale = scale(self.args);
        match workload {
            "flood" => self.flood(scale).await,
            "idle" => self.idle(scale).await,
            "loaded" => self.loaded(scale).await,
            "churn" => self.churn(scale).await,
            "crowd" => self.crowd(scale).await,
            _ if self.contender.name == OURS => self.inside(scale).await,
            _ => Ok(()),
        }
    }

    fn note(&mut self, figure: Figure, value: f64) {
        self.results.note(figure, self.contender.name, self.round, value);
    }

    async fn flood(&mut self, scale: Scale) -> Result<()> {
        let pair = attach(self.contender).await?;
        let flood = flood::measure(&pair, scale.flood).await?;
        self.note(Figure::FloodProcessor, flood.processor_each());
        self.note(Figure::FloodWall, flood.wall_each());
        Ok(())
    }

    async fn idle(&mut self, scale: Scale) -> Result<()> {
        let pair = attach(self.contender).await?;
        let waits = dialog::idle(&pair.connection, scale.dialogs).await?;
        self.note(Figure::IdleHalf, micros(quantile(&waits, 0.5)));
        self.note(Figure::IdleMost, micros(quantile(&waits, 0.95)));
        Ok(())
    }

    async fn loaded(&mut self, scale: Scale) -> Result<()> {
        let pair = attach(self.contender).await?;
        let waits = dialog::loaded(&pair.connection, 20_000, scale.dialogs).await?;
        self.note(Figure::BusyHalf, micros(quantile(&waits, 0.5)));
        self.note(Figure::BusyMost, micros(quantile(&waits, 0.99)));
        let waits = dialog::loaded(&pair.connection, 200_000, scale.dialogs).await?;
        let (half, most) = (micros(quantile(&waits, 0.5)), micros(quantile(&waits, 0.99)));
        self.note(Figure::FloodedHalf, half);
        self.note(Figure::FloodedMost, most);
        self.note(Figure::FloodedTail, most / half);
        Ok(())
    }

    async fn churn(&mut self, scale: Scale) -> Result<()> {
        let mut each = [0.0; 2];
        for (each, live) in each.iter_mut().zip(CHURN_LIVE) {
            let pair = attach(self.contender).await?;
            *each = churn::measure(&pair, live, scale.lives).await?;
        }
        let [few, many] = each;
        self.note(Figure::ChurnFew, few);
        self.note(Figure::ChurnMany, many);
        self.note(Figure::ChurnGrowth, many / few);
        Ok(())
    }

    async fn crowd(&mut self, scale: Scale) -> Result<()> {
        let figures = crowd::measure(self.contender, scale.crowd).await?;
        self.note(Figure::TaskIdle, figures.idle / 1e3);
        self.note(Figure::TaskWhole, figures.whole / 1e3);
        self.note(Figure::TaskWithFrames, figures.with_frames / 1e3);
        self.note(Figure::AllAnswered, figures.all_answered.as_secs_f64() * 1e3);
        self.note(Figure::AllStopped, figures.stopped_in.as_secs_f64() * 1e3);
        Ok(())
    }

    async fn inside(&mut self, scale: Scale) -> Result<()> {
        let reads = inside::snapshot(&self.args.built, scale.flood).await?;
        self.note(Figure::SnapshotHalf, reads[0]);
        self.note(Figure::SnapshotLongest, reads[1]);
        let replayed = inside::replay(&self.args.built).await?;
        self.note(Figure::ReplayMessages, replayed[0] / 1e6);
        self.note(Figure::ReplayEvents, replayed[1] / 1e6);
        Ok(())
    }
}

pub(crate) fn micros(wait: Duration) -> f64 {
    wait.as_secs_f64() * 1e6
}
