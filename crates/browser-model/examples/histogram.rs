//! Counts, over many runs of random actions, in how many what is hard has happened: a property that never meets a swap
//! proves nothing about swaps.
//!
//! `cargo run -p browser-model --example histogram` prints the shares and fails when something was too seldom.

use std::process::ExitCode;

use browser_model::{Action, Browser, Client, Config, Entry, Tally, menu};

/// Enough that a share of five percent is not a matter of luck.
const RUNS: u64 = 2_000;

/// Actions in a run: about what the property tests have.
const ACTIONS: usize = 35;

/// The least share of runs, in percent, that each hard thing must be in.
const LEAST_PERCENT: u64 = 5;

/// A hard thing, and where a tally counts it.
type Hard = (&'static str, fn(&Tally) -> u32);

/// What must not be seldom.
const HARD: [Hard; 9] = [
    ("swaps to another process", |tally| tally.swaps),
    ("homecomings", |tally| tally.homecomings),
    ("nested out-of-process iframes", |tally| tally.nested),
    ("crashes", |tally| tally.crashes),
    ("removals during attach", |tally| tally.removed_while_attaching),
    ("late detaches", |tally| tally.late_detaches),
    ("back/forward cache restores", |tally| tally.restores),
    ("overlapping dialogs", |tally| tally.overlaps),
    ("popups", |tally| tally.popups),
];

fn main() -> ExitCode {
    let tallies: Vec<Tally> = (1..=RUNS).map(|seed| run(&mut Draw(seed))).collect();
    let mut seldom = false;
    for (name, count) in HARD {
        let hit = tallies.iter().filter(|tally| count(tally) > 0).count() as u64;
        let percent = 100 * hit / RUNS;
        println!("{name:32} {percent:3} % of {RUNS} runs");
        seldom |= percent < LEAST_PERCENT;
    }
    if seldom {
        eprintln!("something is in fewer than {LEAST_PERCENT} % of the runs: change the weights in menu.rs");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(draw: &mut Draw) -> Tally {
    let menu = menu();
    let bits = u16::try_from(draw.below(1 << 11)).unwrap_or_default();
    let mut browser = Browser::new(Config::from_bits(bits));
    let mut client = Client::default();
    client.greet().iter().for_each(|command| browser.receive(command));
    for _ in 0..ACTIONS {
        let action = draw.action(&menu);
        browser.act(action);
        if action == Action::DropSocket {
            client.greet().iter().for_each(|command| browser.receive(command));
        }
        for _ in 0..draw.below(12) {
            deliver(&mut browser, &mut client, draw);
        }
    }
    browser.tally()
}

fn deliver(browser: &mut Browser, client: &mut Client, draw: &mut Draw) {
    let ready = browser.ready();
    let Some(source) = ready.get(draw.below(ready.len().max(1))) else { return };
    if let Some(text) = browser.emit(*source) {
        client.hear(&text).iter().for_each(|command| browser.receive(command));
    }
}

/// Numbers out of a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    fn action(&mut self, menu: &[Entry]) -> Action {
        let total: u32 = menu.iter().map(|entry| entry.weight).sum();
        let mut drawn = u32::try_from(self.below(total as usize)).unwrap_or_default();
        let bytes = std::array::from_fn(|_| u8::try_from(self.below(256)).unwrap_or_default());
        for entry in menu {
            if drawn < entry.weight {
                return (entry.make)(bytes);
            }
            drawn -= entry.weight;
        }
        Action::NewPage
    }
}
