//! A run: each contender in turn, round after round, so that what else the machine does meets them all.

use anyhow::{Context, Result};

use crate::Args;
use crate::contender::{self, Contender, Places};
use crate::measure::{Scale, attach, churn, crowd, dialog, flood, quantile};
use crate::report::{Figure, Results};

/// Slower peers are spared what would take them hours.
const CHURN_LIVE: [usize; 2] = [1_000, 10_000];

pub(crate) async fn run(args: &Args) -> Result<Results> {
    let places = Places { built: args.built.clone(), peers: args.peers.clone() };
    let chosen = |it: &Contender| {
        args.with.is_empty() || it.name == contender::FLOOR || args.with.iter().any(|name| name == it.name)
    };
    let contenders: Vec<Contender> = contender::all(&places).into_iter().filter(chosen).collect();
    let mut results = Results::default();
    for round in 0..if args.quick { 1 } else { args.rounds } {
        for contender in &contenders {
            eprintln!("round {}: {}", round + 1, contender.name);
            let mut one = Round { contender, args, round, results: &mut results };
            one.play().await.with_context(|| format!("measuring {}", contender.name))?;
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
    async fn play(&mut self) -> Result<()> {
        let scale = if self.args.quick { Scale::QUICK } else { Scale::FULL };
        if self.wants("flood") {
            self.flood(scale).await?;
        }
        if self.wants("idle") {
            self.idle(scale).await?;
        }
        if self.wants("loaded") {
            self.loaded(scale).await?;
        }
        if self.wants("churn") {
            self.churn(scale).await?;
        }
        if self.wants("crowd") {
            self.crowd(scale).await?;
        }
        Ok(())
    }

    fn wants(&self, workload: &str) -> bool {
        self.args.only.is_empty() || self.args.only.iter().any(|it| it == workload)
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
        self.note(Figure::FloodedHalf, micros(quantile(&waits, 0.5)));
        self.note(Figure::FloodedMost, micros(quantile(&waits, 0.99)));
        Ok(())
    }

    async fn churn(&mut self, scale: Scale) -> Result<()> {
        for (figure, live) in [Figure::ChurnFew, Figure::ChurnMany].into_iter().zip(CHURN_LIVE) {
            let pair = attach(self.contender).await?;
            let each = churn::measure(&pair, live, scale.lives).await?;
            self.note(figure, each);
        }
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
}

fn micros(wait: std::time::Duration) -> f64 {
    wait.as_secs_f64() * 1e6
}
