//! The machine: one input in, events and effects out.

use std::sync::Arc;

use cdp_wire::TargetId;
use serde::{Deserialize, Serialize};

use crate::call::ending;
use crate::call::eval;
use crate::call::host;
use crate::call::late;
use crate::console::Gatherer;
use crate::context::Cx;
use crate::dialog::flood::Floods;
use crate::dialog::preset::Presets;
use crate::effect::Effect;
use crate::event::Recorded;
use crate::failure::Failure;
use crate::holdings::Holdings;
use crate::ids::{CallId, DialogId, EndpointKind, Epoch};
use crate::input::{Input, Net};
use crate::meters::Meters;
use crate::observe::rules as observe_rules;
use crate::options::Options;
use crate::session::attach;
use crate::snapshot::view::View;
use crate::snapshot::{ConsoleView, FrameView, Snapshot};
use crate::state::State;
use crate::time::At;
use crate::{connection, context, message};

/// What a machine starts from. A recording's header holds all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The wall time of [`At`] zero, in microseconds since the Unix epoch.
    pub started_unix_us: u64,
    /// Where the jitter of reconnects comes from.
    pub seed: u64,
    /// The host's choices.
    pub options: Options,
    /// The first dialog id; the ids of earlier bindings of the task come before.
    pub next_dialog: DialogId,
    /// The first call id.
    pub next_call: CallId,
    /// The last epoch of earlier bindings.
    pub epoch: Epoch,
    /// What another client is connected to, when the machine only observes that client and never sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observes: Option<EndpointKind>,
}

impl Default for Beginning {
    fn default() -> Self {
        Self {
            started_unix_us: 0,
            seed: 0,
            options: Options::default(),
            next_dialog: DialogId(1),
            next_call: CallId(1),
            epoch: Epoch(0),
            observes: None,
        }
    }
}

/// What one input led to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// What became of the state, in order.
    pub events: Vec<Recorded>,
    /// What the shell is to do, in order.
    pub effects: Vec<Effect>,
    /// Whether a dialog changed: then the snapshot is published at once.
    pub urgent: bool,
}

/// The state of one task and all its rules.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(crate) state: State,
    pub(crate) desk: Desk,
    pub(crate) view: View,
}

/// What is folded from inputs rather than from events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Desk {
    pub(crate) meters: Meters,
    pub(crate) gatherer: Gatherer,
    pub(crate) floods: Floods,
    pub(crate) presets: Presets,
    /// What a host asked to have stopped on each session, as it wrote it.
    #[serde(with = "crate::pairs")]
    pub(crate) host_fetch: std::collections::BTreeMap<crate::ids::Route, String>,
    /// The expressions of calls that wait for their document: host parameters are never part of an event.
    pub(crate) parked: std::collections::BTreeMap<CallId, context::Expression>,
}

impl Machine {
    /// A machine at the beginning.
    #[must_use]
    pub fn new(beginning: &Beginning) -> Self {
        Self { state: State::new(beginning), desk: Desk::default(), view: View::default() }
    }

    /// Handles one input: first every deadline that has passed by `at`, each as of its own time, then the input.
    pub fn step(&mut self, at: At, input: Input<'_>) -> Step {
        let mut step = Step::default();
        self.expire(at, &mut step);
        let mut cx = Cx::new(&mut self.state, &mut self.desk, at, &mut step);
        observe_rules::begin(&mut cx);
        match input {
            Input::Host { req, .. } if cx.is_observing() => observe_rules::host(&mut cx, req),
            Input::Net(_) if cx.is_observing() => {}
            Input::Received { epoch, text } => message::received(&mut cx, epoch, text),
            Input::Observed { text } => observe_rules::command(&mut cx, text),
            Input::Net(net) => connection::net(&mut cx, net),
            Input::Guard(_) if cx.is_observing() => {}
            Input::Guard(input) => crate::guard::heard::input(&mut cx, input),
            Input::Host { req, command } => host::host(&mut cx, req, command),
            Input::Tick => {}
        }
        cx.gather();
        self.view.mark(&self.state, &step.events);
        step.urgent = step.events.iter().any(|recorded| crate::snapshot::view::is_urgent(&recorded.event));
        step
    }

    /// Each deadline fires as of its own time: a late wake-up changes nothing.
    fn expire(&mut self, now: At, step: &mut Step) {
        while let Some(at) = self.next_deadline().filter(|at| *at <= now) {
            let due =
                self.state.deadlines.next().filter(|(first, _)| *first == at).map(|(_, due)| due.clone());
            let mut cx = Cx::new(&mut self.state, &mut self.desk, at, step);
            match due {
                Some(due) => {
                    cx.emit(crate::event::Event::DeadlinePassed { due: due.clone() });
                    expired(&mut cx, due);
                }
                None => cx.gather(),
            }
        }
    }

    /// When the next deadline passes: the shell wakes the machine then, with [`Input::Tick`] if nothing else comes.
    #[must_use]
    pub fn next_deadline(&self) -> Option<At> {
        let first = self.state.deadlines.next().map(|(at, _)| *at);
        [first, self.desk.gatherer.due()].into_iter().flatten().min()
    }

    /// The snapshot as of the last step. Sections that did not change are shared with the one before.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        self.view.snapshot(&self.state, &self.desk.meters)
    }

    /// The snapshot, built from nothing: always equal to [`snapshot`](Self::snapshot), and slower. For tests.
    #[must_use]
    pub fn snapshot_afresh(&self) -> Arc<Snapshot> {
        View::default().snapshot(&self.state, &self.desk.meters)
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The counts.
    #[must_use]
    pub fn meters(&self) -> &Meters {
        &self.desk.meters
    }

    /// The whole frame tree of a page (the active one unless named), parents first and without the snapshot's limits.
    ///
    /// # Errors
    /// `page_gone` when there is no such page.
    pub fn frames(&self, page: Option<&TargetId>) -> Result<Vec<FrameView>, Failure> {
        crate::snapshot::view::frames(&self.state, page)
    }

    /// One page's part of the snapshot's tree, within the snapshot's limits.
    ///
    /// # Errors
    /// `page_gone` when there is no such page.
    pub fn frame_tree(&self, page: Option<&TargetId>) -> Result<crate::snapshot::FrameTree, Failure> {
        crate::snapshot::view::frame_tree_of(&self.state, page)
    }

    /// The console's rings, of one frame or of all.
    #[must_use]
    pub fn console(&self, frame: Option<&cdp_wire::FrameId>) -> ConsoleView {
        crate::snapshot::view::console(&self.state, frame)
    }

    /// How much is held now.
    #[must_use]
    pub fn holdings(&self) -> Holdings {
        Holdings::of(&self.state)
    }

    /// What the next machine of the same task must begin with, so that no id is ever used twice.
    #[must_use]
    pub fn counters(&self) -> (DialogId, CallId, Epoch) {
        (self.state.dialogs.next, self.state.calls.next, self.state.connection.epoch)
    }

    /// Counts an input that was lost because handling it failed: a fault of this program.
    pub fn count_fault(&mut self) {
        self.desk.meters.faults += 1;
    }

    /// Gives up the connection after a fault that may have left the state half changed: everything is learned afresh.
    pub fn reset_connection(&mut self, at: At) -> Step {
        let epoch = self.state.connection.epoch;
        let reason = "an internal fault; everything is learned afresh".to_owned();
        self.step(at, Input::Net(Net::Lost { epoch, reason }))
    }
}

fn expired(cx: &mut Cx<'_>, due: crate::deadlines::Due) {
    use crate::deadlines::Due;
    match due {
        Due::Handshake | Due::Reconnect | Due::Probe | Due::ProbeAnswer | Due::Stop => {
            connection::expired(cx, &due)
        }
        Due::GuardRetry | Due::GuardAnswer => crate::guard::rules::expired(cx, &due),
        Due::Flood(page) => crate::dialog::flood::look_again(cx, &page),
        Due::Setup(route) => attach::setup_silent(cx, &route),
        Due::Dialog(id) => crate::dialog::answer::watchdog(cx, id),
        Due::Confirm(id) => crate::dialog::answer::confirmation_missing(cx, id),
        Due::Answer(id) => crate::dialog::answer::overdue(cx, id),
        Due::Reason(id) => crate::dialog::rules::reason_missing(cx, id),
        Due::Held(number) => crate::bridge::sandbox::waited_long_enough(cx, number),
        Due::Call(call) => ending::deadline(cx, call),
        Due::Context(call) => eval::no_document(cx, call),
        Due::Suspect(call) => crate::call::suspect::renderer_silent(cx, call),
        Due::Result(req) => late::waited_long_enough(cx, req),
        Due::Late(call) => late::too_old(cx, call),
        Due::Orphan(frame) => crate::session::gone::orphan_unresolved(cx, &frame),
        Due::Objects(route) => crate::console::objects::let_go(cx, &route),
    }
}
