//! The wires between browser and machine: what is on its way, what stands still, and which socket is open.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use browser_model::{SourceId, Wire};
use supervisor_core::{At, Epoch};

/// Messages that are remembered to arrive late.
const REMEMBERED: usize = 16;

/// A way that messages take, each with its own order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// From a source in the browser to the machine.
    Down(SourceId),
    /// From the machine to the browser.
    Up,
    /// The same, on the guard's connection.
    GuardUp,
}

impl Way {
    /// Whether it is one of the main connection's.
    pub(crate) fn is_main(self) -> bool {
        match self {
            Way::Down(source) => source.wire() == Wire::Main,
            Way::Up => true,
            Way::GuardUp => false,
        }
    }
}

/// The guard's connection.
#[derive(Debug, Default)]
pub(crate) struct GuardWire {
    /// The socket that is open.
    pub(crate) epoch: Option<Epoch>,
    /// The socket that is being opened, and when that is decided.
    pub(crate) dialling: Option<(At, Epoch)>,
    /// What the machine sent and the browser has not read yet.
    pub(crate) upload: VecDeque<String>,
}

/// All that is between the two.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    /// The socket that is open.
    pub(crate) epoch: Option<Epoch>,
    /// The socket that is being opened, and when that is decided.
    pub(crate) dialling: Option<(At, Epoch)>,
    /// The guard's.
    pub(crate) guard: GuardWire,
    /// How many dials will fail.
    pub(crate) dials_fail: u8,
    /// How long a dial takes.
    pub(crate) dial_takes: Duration,
    /// What the machine sent and the browser has not read yet.
    pub(crate) upload: VecDeque<(At, String)>,
    /// Since this socket was opened, something arrived otherwise than it was said.
    pub(crate) is_tainted: bool,
    /// Since this socket was opened, something arrived that was never said.
    pub(crate) is_forged: bool,
    /// Whether the first of the two has ever been.
    pub(crate) was_tainted: bool,
    held: BTreeMap<Way, At>,
    /// What arrived lately, on whichever socket.
    past: VecDeque<(Epoch, String)>,
}

impl Wires {
    /// The next socket to be opened, and when.
    pub(crate) fn next_dial(&self) -> Option<At> {
        self.dialling.into_iter().chain(self.guard.dialling).map(|(at, _)| at).min()
    }

    /// Everything is as a real network has it, with this socket.
    pub(crate) fn opened(&mut self, epoch: Epoch) {
        self.closed();
        self.epoch = Some(epoch);
    }

    /// What was on its way is lost.
    pub(crate) fn closed(&mut self) {
        self.was_tainted |= self.is_tainted;
        (self.is_tainted, self.is_forged) = (false, false);
        self.epoch = None;
        self.upload.clear();
        self.held.retain(|way, _| !way.is_main());
    }

    /// What was on its way to or from the guard is lost.
    pub(crate) fn guard_closed(&mut self) {
        self.guard.epoch = None;
        self.guard.upload.clear();
        self.held.retain(|way, _| way.is_main());
    }

    /// Another task, on the same browser.
    pub(crate) fn begin_anew(&mut self) {
        self.closed();
        *self = Self { was_tainted: self.was_tainted, ..Self::default() };
    }

    pub(crate) fn hold(&mut self, way: Way, until: At) {
        self.held.insert(way, until);
    }

    pub(crate) fn release_all(&mut self) {
        self.held.clear();
    }

    pub(crate) fn is_held(&self, way: Way, now: At) -> bool {
        self.held.get(&way).is_some_and(|until| *until > now)
    }

    /// The ways on which something can arrive now.
    pub(crate) fn ready(&self, sources: Vec<SourceId>, now: At) -> Vec<Way> {
        let up = (!self.upload.is_empty()).then_some(Way::Up);
        let guard_up = (!self.guard.upload.is_empty()).then_some(Way::GuardUp);
        let all = sources.into_iter().map(Way::Down).chain(up).chain(guard_up);
        all.filter(|way| !self.is_held(*way, now)).collect()
    }

    pub(crate) fn remember(&mut self, epoch: Epoch, text: &str) {
        self.past.push_back((epoch, text.to_owned()));
        while self.past.len() > REMEMBERED {
            self.past.pop_front();
        }
    }

    /// Something that arrived on an earlier socket.
    pub(crate) fn stale(&self, current: Epoch, nth: u8) -> Option<(Epoch, String)> {
        let earlier: Vec<_> = self.past.iter().filter(|(epoch, _)| *epoch < current).collect();
        earlier.get(usize::from(nth) % earlier.len().max(1)).map(|found| (*found).clone())
    }
}
