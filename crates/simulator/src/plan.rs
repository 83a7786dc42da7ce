//! What kind of run a seed stands for. No run tries everything: what is drawn seldom together with what is drawn often
//! would hardly ever be met, so each seed leaves some things out and prefers others.

use std::time::Duration;

use browser_model::{Action, Config, Entry, Place, menu};
use supervisor_core::{Beginning, Bridge, DialogPolicy, Reconnect};

use crate::draw::{Draw, spread};
use crate::fault::Fault;
use crate::host::Ask;
use crate::op::Op;
use crate::world::{Setup, World};

/// Dials that take longer are not made here: whoever starts would wait for the dial and not for the machine.
pub(crate) const LONGEST_DIAL: Duration = Duration::from_secs(5);

/// With more frames than this, a run removes rather than adds: what goes wrong goes wrong with a few.
const MANY_FRAMES: usize = 40;

/// What a seed stands for.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// Decides the order of messages; 0 takes the first that is ready.
    pub order: u64,
    pub(crate) config: Config,
    pub(crate) beginning: Beginning,
    pub(crate) menu: Vec<Entry>,
    pub(crate) weights: Vec<(u32, Kind)>,
    pub(crate) faults: u8,
    pub(crate) snatches: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Act,
    Deliver,
    Host,
    Wait,
    Idle,
    Fault,
}

impl Plan {
    /// The plan of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut draw = Draw::of_seed(seed);
        let config = Config::from_bits(u16::try_from(draw.below(1 << 11)).unwrap_or_default());
        let beginning = beginning(&mut draw, seed);
        let menu = some_of(menu(), &mut draw);
        let often = |draw: &mut Draw, usual: usize| u32::try_from(1 + draw.below(2 * usual)).unwrap_or(1);
        let is_faulty = draw.percent(60);
        let weights = vec![
            (often(&mut draw, 8), Kind::Act),
            (often(&mut draw, 8), Kind::Deliver),
            (often(&mut draw, 4), Kind::Host),
            (often(&mut draw, 1), Kind::Wait),
            (often(&mut draw, 2), Kind::Idle),
            (if is_faulty { often(&mut draw, 1) } else { 0 }, Kind::Fault),
        ];
        // In every other of these runs nothing is lost, doubled or changed: only there belief must be truth throughout.
        let faults = if draw.percent(50) { HONEST } else { ALL };
        let snatches = draw.percent(20);
        Self { seed, order: spread(seed ^ 1) | 1, config, beginning, menu, weights, faults, snatches }
    }

    pub(crate) fn setup(&self, tells: bool) -> Setup {
        let (config, beginning) = (self.config, self.beginning.clone());
        let snatches = self.snatches;
        Setup { config, beginning, seed: self.order, strict: true, tells, snatches }
    }

    /// What happens next.
    pub(crate) fn next(&self, draw: &mut Draw, world: &World) -> Op {
        let total: u32 = self.weights.iter().map(|(weight, _)| weight).sum();
        match pick(&self.weights, draw.below(total as usize)) {
            Kind::Act => Op::Act(self.action(draw, world)),
            Kind::Deliver => Op::Deliver(1 + draw.byte() % 24),
            Kind::Host => Op::Host(ask(draw)),
            Kind::Wait => Op::Wait(draw.up_to(Duration::from_secs(3))),
            Kind::Idle => {
                let longest = if draw.percent(20) { 40 } else { 2 };
                Op::Idle(draw.up_to(Duration::from_secs(longest)))
            }
            Kind::Fault => Op::Fault(self.fault(draw)),
        }
    }

    fn action(&self, draw: &mut Draw, world: &World) -> Action {
        let bytes = draw.bytes();
        if world.machine.state().frames.len() > MANY_FRAMES {
            return match bytes[1] % 3 {
                0 => Action::RemoveFrame { frame: bytes[0] },
                1 => Action::ClosePage { page: bytes[0] },
                _ => Action::NavigatePage { page: bytes[0], to: Place::Site(bytes[2]), cache: false },
            };
        }
        let entries: Vec<_> = self.menu.iter().map(|entry| (entry.weight, entry.make)).collect();
        let total: u32 = entries.iter().map(|(weight, _)| weight).sum();
        pick(&entries, draw.below(total as usize))(bytes)
    }

    fn fault(&self, draw: &mut Draw) -> Fault {
        let [way, at, digit, kind] = draw.bytes();
        match kind % self.faults {
            0 => Fault::Hold { way, time: draw.up_to(Duration::from_secs(40)) },
            1 => Fault::Hold { way, time: draw.up_to(Duration::from_secs(3)) },
            2 => Fault::Stale { nth: at },
            3 => Fault::DialsFail { times: at },
            4 => Fault::SlowDials { time: draw.up_to(LONGEST_DIAL) },
            5 if draw.percent(20) => Fault::Kill,
            5 => Fault::Stale { nth: at },
            6 => Fault::LoseGuard,
            7 | 8 => Fault::Lose { way },
            9 | 10 => Fault::Double { way },
            11 | 12 => Fault::Change { way, at, digit },
            _ => Fault::Noise { kind: at },
        }
    }
}

/// The kinds of faults that a network has.
const HONEST: u8 = 7;

/// With those that no network has.
const ALL: u8 = 14;

fn beginning(draw: &mut Draw, seed: u64) -> Beginning {
    let mut beginning = Beginning { seed, ..World::beginning() };
    let options = &mut beginning.options;
    let policies = [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
    options.dialog_policy = policies[[0, 0, 0, 1, 2][draw.below(5)]];
    options.dialog_timeout = Duration::from_secs([2, 30, 300][draw.below(3)]);
    options.call_timeout = Duration::from_secs([1, 5, 30, 30][draw.below(4)]);
    options.bridge = [Bridge::Auto, Bridge::Auto, Bridge::On, Bridge::Off][draw.below(4)];
    options.guard = draw.percent(35);
    if draw.percent(30) {
        options.reconnect = Reconnect { tries: 3, within: Duration::from_secs(20) };
    }
    beginning
}

/// A quarter of the actions is left out, the others come up to four times as often.
fn some_of(mut menu: Vec<Entry>, draw: &mut Draw) -> Vec<Entry> {
    for entry in &mut menu {
        let times = if draw.percent(25) { 0 } else { 1 + draw.below(4) };
        entry.weight *= u32::try_from(times).unwrap_or(1);
    }
    menu.retain(|entry| entry.weight > 0);
    if menu.is_empty() { browser_model::menu() } else { menu }
}

fn ask(draw: &mut Draw) -> Ask {
    let [frame, kind, nth, page] = draw.bytes();
    let accept = kind % 2 == 1;
    match draw.below(401) {
        0 => Ask::Stop,
        1..=4 => Ask::Burst { frame, count: kind % 8 },
        5 => Ask::Burst { frame, count: 72 },
        6..=130 => Ask::Eval { frame, kind },
        131..=190 => Ask::Call { frame, kind },
        191..=300 => Ask::Respond { nth, accept },
        301..=340 => Ask::Result { nth },
        341..=370 => Ask::Recover { page, kind },
        371..=385 => Ask::Cancel { nth },
        386..=388 => Ask::Guard { on: accept },
        389..=392 => Ask::Bridge { kind },
        _ => Ask::Policy { kind },
    }
}

/// The choice that a number below the sum of all weights stands for.
fn pick<T: Copy>(choices: &[(u32, T)], number: usize) -> T {
    let mut left = number;
    for (weight, choice) in choices {
        match left.checked_sub(*weight as usize) {
            Some(less) => left = less,
            None => return *choice,
        }
    }
    choices[0].1
}
