//! The machine's shell: hands it inputs one by one, and does what it asks for. No rule of the protocol is here.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

use ractor::{ActorId, ActorRef, ActorRuntime, MessagingErr};
use supervisor_core::{
    At, CallId, Command, Effect, EndpointKind, Epoch, Failure, GuardEffect, GuardInput, Input, Lane, Machine,
    Net, Outcome, Recorded, Req, Route, Stage, Status, Step,
};
use supervisor_journal::Appender;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::alarm::Alarm;
use crate::answer::{Answer, Port, answer};
use crate::connection::ConnectionMessage;
use crate::holdings::Holdings;
use crate::lanes::Lanes;
use crate::limits::{FAULT_WINDOW, FAULTS};
use crate::recorder::{Entry, Recorder, Shared, Written};
use crate::session::{SessionActor, SessionMessage, hold, send};
use crate::slot::Slot;
use crate::wire::Conn;
use crate::wires::Wires;

/// Where a task is written down. Neither ever holds it up.
#[derive(Default)]
pub(crate) struct Sinks {
    pub(crate) recorder: Option<Recorder>,
    pub(crate) journal: Option<Appender>,
}

/// Everything that outlives the task's actor.
pub(crate) struct Shell {
    pub(crate) machine: Machine,
    /// Reply ports that no session's actor holds.
    ports: HashMap<Req, Port>,
    sessions: HashMap<Route, ActorRef<SessionMessage>>,
    wires: Wires,
    sinks: Sinks,
    /// The recording that has ended.
    written: Option<Written>,
    alarm: Alarm,
    faults: VecDeque<At>,
    given_up: bool,
    /// Whether the task is over. What a browser still says then is neither heard nor recorded: the last snapshot is out.
    is_over: bool,
    /// Has the machine panic at its next input.
    #[cfg(test)]
    pub(crate) machine_panics: bool,
}

impl Shell {
    pub(crate) fn new(machine: Machine, sinks: Sinks) -> Self {
        Self {
            machine,
            ports: HashMap::new(),
            sessions: HashMap::new(),
            wires: Wires::default(),
            sinks,
            written: None,
            alarm: Alarm::default(),
            faults: VecDeque::new(),
            given_up: false,
            is_over: false,
            #[cfg(test)]
            machine_panics: false,
        }
    }

    /// How far the recording is, if there is one.
    pub(crate) fn recording(&self) -> Option<Arc<Shared>> {
        self.sinks.recorder.as_ref().map(Recorder::shared)
    }

    /// Counts a fault, and says whether the task must be given up.
    pub(crate) fn count_fault(&mut self, at: At) -> bool {
        self.machine.count_fault();
        self.faults.retain(|earlier| at.since(*earlier) < FAULT_WINDOW);
        self.faults.push_back(at);
        self.given_up |= self.faults.len() >= FAULTS;
        self.given_up
    }

    /// Whether faults came too often.
    pub(crate) fn given_up(&self) -> bool {
        self.given_up
    }

    pub(crate) fn holdings(&self) -> Holdings {
        Holdings {
            records: self.machine.holdings(),
            callers: self.ports.len(),
            session_actors: self.sessions.len(),
        }
    }

    /// Has every session's actor panic.
    #[cfg(test)]
    pub(crate) fn sessions_panic(&self) {
        self.sessions.values().for_each(|session| drop(session.cast(SessionMessage::Panic)));
    }

    /// Forgets the session's actor that this is, if it is one of them. What it held is lost with it.
    pub(crate) fn forget_session(&mut self, actor: ActorId) -> bool {
        let is_it = |(_, session): &(&Route, &ActorRef<SessionMessage>)| session.get_id() == actor;
        let route = self.sessions.iter().find(is_it).map(|(route, _)| route.clone());
        route.is_some_and(|route| self.sessions.remove(&route).is_some())
    }

    /// Lets go of everything that waits: callers are told that there will be no answer. Gives what tells when the
    /// recording is written.
    pub(crate) fn close(&mut self) -> Option<Written> {
        self.ports.clear();
        self.alarm.clear();
        self.wires = Wires::default();
        for (_, session) in self.sessions.drain() {
            finish(&session);
        }
        if let Some(recorder) = std::mem::take(&mut self.sinks).recorder {
            self.written = Some(recorder.finish());
        }
        self.written.clone()
    }
}

/// What is in its mailbox are answers: they are sent first.
fn finish(session: &ActorRef<SessionMessage>) {
    let _ = session.drain();
}

/// One turn with the machine: some inputs, then those who watch are told.
pub(crate) struct Turn<'a> {
    slot: &'a Slot,
    shell: MutexGuard<'a, Shell>,
    /// The stamp of all its inputs: a turn is short.
    at: At,
    /// What became of the state and nobody was told of yet.
    untold: Vec<Recorded>,
    sent: bool,
}

impl<'a> Turn<'a> {
    /// Waits for whoever has the machine at the moment.
    pub(crate) fn begin(slot: &'a Slot) -> Self {
        let shell = slot.shell();
        Self { slot, shell, at: slot.clock.now(), untold: Vec::new(), sent: false }
    }

    /// Whether something waits to be written since this was asked last.
    pub(crate) fn has_sent(&mut self) -> bool {
        std::mem::take(&mut self.sent)
    }

    /// The browser sent a text.
    pub(crate) fn received(&mut self, conn: Conn, epoch: Epoch, message: &Utf8Bytes) {
        if self.shell.is_over {
            return;
        }
        let text = message.as_str();
        #[cfg(test)]
        assert_ne!(text, crate::panics::SOCKET_PANICS, "the socket's task panics, as a test wishes");
        self.record(|| Entry::Recv(conn, epoch, message.clone()));
        let input = match conn {
            Conn::Main => Input::Received { epoch, text },
            Conn::Guard => Input::Guard(GuardInput::Received { epoch, text }),
        };
        self.step(input, Some(message));
    }

    /// The socket is open.
    pub(crate) fn connected(&mut self, (conn, epoch): (Conn, Epoch), endpoint: EndpointKind, lanes: Lanes) {
        self.shell.wires.opened(conn, epoch, lanes);
        self.net(conn, Net::Connected { epoch, endpoint });
    }

    /// A connection changed.
    pub(crate) fn net(&mut self, conn: Conn, net: Net) {
        if self.shell.is_over {
            return;
        }
        self.record(|| Entry::Net(conn, net.clone()));
        let input = match conn {
            Conn::Main => Input::Net(net),
            Conn::Guard => Input::Guard(GuardInput::Net(net)),
        };
        self.step(input, None);
    }

    /// The host asks.
    pub(crate) fn host(&mut self, req: Req, command: Command, port: Option<Port>) {
        self.record(|| Entry::Host(req, command.clone()));
        if let Some(port) = port {
            hold(&mut self.shell.ports, req, port);
        }
        if let Command::Cancel { req } = &command {
            // Whoever waited there has left.
            self.shell.ports.remove(req);
        }
        if !self.step(Input::Host { req, command }, None) {
            // The machine never heard of it: dropping the port says so.
            self.shell.ports.remove(&req);
        }
    }

    /// The alarm went off.
    pub(crate) fn wake(&mut self) {
        self.shell.alarm.clear();
        if self.shell.machine.next_deadline().is_some_and(|due| due <= self.at) {
            self.record(|| Entry::Tick);
            self.step(Input::Tick, None);
        }
    }

    /// An actor of the crew was replaced: messages may have been lost, so everything is learned afresh.
    pub(crate) fn reset(&mut self) {
        self.shell.alarm.clear();
        self.guard_lost();
        let epoch = self.shell.machine.counters().2;
        self.interrupted(Conn::Main, epoch);
        self.reset_machine();
        self.hang_up(Conn::Main, epoch);
    }

    /// A dial was interrupted, or a socket: only one of the two means something to the machine.
    fn interrupted(&mut self, conn: Conn, epoch: Epoch) {
        let reason = "an internal fault interrupted it; try again".to_owned();
        self.net(conn, Net::DialFailed { epoch, stage: Stage::Tcp, reason, http_status: None });
    }

    fn guard_lost(&mut self) {
        let epoch = self.shell.machine.state().guard.epoch;
        self.interrupted(Conn::Guard, epoch);
        self.net(Conn::Guard, Net::Lost { epoch, reason: "an internal fault interrupted it".to_owned() });
        self.hang_up(Conn::Guard, epoch);
    }

    /// A socket's task failed inside: what it had read is lost.
    pub(crate) fn failed(&mut self, conn: Conn) {
        match (self.shell.count_fault(self.at), conn) {
            (true, _) => {}
            (false, Conn::Main) => self.reset_machine(),
            (false, Conn::Guard) => self.guard_lost(),
        }
    }

    /// The task cannot go on: what is open ends, and it is shown as failed.
    pub(crate) fn give_up(mut self, reason: &str) {
        self.reset_machine();
        self.settle();
        self.slot.show_end(Status::Failed, Some(reason.to_owned()));
        self.shell.is_over = true;
        self.slot.published.ended.send_replace(true);
    }

    /// Tells those who watch, and sets the alarm. `false` when the task must be given up.
    pub(crate) fn end(mut self) -> bool {
        self.settle();
        self.arm();
        self.note_checkpoint();
        !self.shell.given_up
    }

    /// What comes after the end is told to nobody, and so it is no part of the recording.
    fn record(&self, entry: impl FnOnce() -> Entry) {
        if let Some(recorder) = &self.shell.sinks.recorder
            && !*self.slot.published.ended.borrow()
        {
            recorder.record(self.at, entry());
        }
    }

    /// The next part of a long recording begins between two inputs.
    fn note_checkpoint(&self) {
        if self.shell.sinks.recorder.as_ref().is_some_and(Recorder::takes_checkpoint) {
            let checkpoint = Box::new(self.shell.machine.checkpoint());
            self.record(|| Entry::Checkpoint(checkpoint));
        }
    }

    /// `false` when the input was lost to a fault.
    fn step(&mut self, input: Input<'_>, message: Option<&Utf8Bytes>) -> bool {
        if self.shell.is_over {
            return false;
        }
        #[cfg(test)]
        let panics = std::mem::take(&mut self.shell.machine_panics);
        let (at, machine) = (self.at, &mut self.shell.machine);
        let step = || {
            #[cfg(test)]
            assert!(!panics, "the machine panics, as a test wishes");
            machine.step(at, input)
        };
        match catch_unwind(AssertUnwindSafe(step)) {
            Ok(step) => {
                self.carry_out(step, message);
                true
            }
            Err(_) => {
                tracing::error!(task = %self.slot.task_id, ?at, "an input was lost to a fault inside; please report it");
                self.failed(Conn::Main);
                false
            }
        }
    }

    fn reset_machine(&mut self) {
        let epoch = self.shell.machine.counters().2;
        let reason = "an internal fault; everything is learned afresh".to_owned();
        self.record(|| Entry::Net(Conn::Main, Net::Lost { epoch, reason }));
        let (at, machine) = (self.at, &mut self.shell.machine);
        match catch_unwind(AssertUnwindSafe(|| machine.reset_connection(at))) {
            Ok(step) => self.carry_out(step, None),
            Err(_) => self.shell.given_up = true,
        }
        if self.shell.wires.is_open(Conn::Main) {
            self.hang_up(Conn::Main, epoch);
        }
    }

    fn carry_out(&mut self, step: Step, message: Option<&Utf8Bytes>) {
        match self.untold.capacity() {
            0 => self.untold = step.events,
            _ => self.untold.extend(step.events),
        }
        for effect in step.effects {
            self.effect(effect, message);
        }
        if step.urgent && !self.sent {
            self.settle();
        }
    }

    /// Tells those who watch of everything until now. What is urgent is written first: whoever watches waits for nobody.
    pub(crate) fn settle(&mut self) {
        if self.untold.is_empty() {
            return;
        }
        let mut events = std::mem::take(&mut self.untold);
        for recorded in &events {
            crate::log::event(&self.slot.task_id, &recorded.event);
        }
        // Before the subscribers hear of it: whoever reads the snapshot on an event finds it there.
        self.slot.published.publish(self.shell.machine.snapshot());
        self.slot.published.tell_subscribers(&events);
        if let Some(journal) = &self.shell.sinks.journal {
            journal.append(&events);
        }
        // There is room for those that come next in this turn.
        events.clear();
        self.untold = events;
    }

    fn effect(&mut self, effect: Effect, message: Option<&Utf8Bytes>) {
        match effect {
            Effect::Dial { epoch } => self.dial(Conn::Main, epoch),
            Effect::HangUp { epoch } => self.hang_up(Conn::Main, epoch),
            Effect::Send { lane, text } => self.send(Conn::Main, lane, text.into()),
            Effect::Guard(GuardEffect::Dial { epoch }) => self.dial(Conn::Guard, epoch),
            Effect::Guard(GuardEffect::HangUp { epoch }) => self.hang_up(Conn::Guard, epoch),
            Effect::Guard(GuardEffect::Send { text }) => self.send(Conn::Guard, Lane::Urgent, text.into()),
            Effect::Park { req, route } => self.park(req, route),
            Effect::Reply { req, parked, outcome } => self.reply(req, parked, outcome, message),
            Effect::Keep { route, call, outcome } => {
                self.tell_session(route, SessionMessage::Keep(call, answer(outcome, message)));
            }
            Effect::Serve { route, call, req } => self.serve(route, call, req),
            Effect::Drop { route, call } => self.tell_session(route, SessionMessage::Drop(call)),
            Effect::Retire { route } => self.retire(&route),
            Effect::Ended => self.ended(),
        }
    }

    fn dial(&self, conn: Conn, epoch: Epoch) {
        self.slot.crew.connection.tell(ConnectionMessage::Dial(conn, epoch));
    }

    fn hang_up(&mut self, conn: Conn, epoch: Epoch) {
        self.shell.wires.hung_up(conn, epoch);
        self.slot.crew.connection.tell(ConnectionMessage::HangUp(conn, epoch));
    }

    fn send(&mut self, conn: Conn, lane: Lane, text: Utf8Bytes) {
        self.record(|| Entry::Send(conn, text.clone()));
        self.sent = true;
        if let Err(epoch) = self.shell.wires.send(conn, lane, text) {
            self.slot.crew.connection.tell(ConnectionMessage::Stuck(conn, epoch));
        }
    }

    fn park(&mut self, req: Req, route: Route) {
        if let Some(port) = self.shell.ports.remove(&req) {
            self.tell_session(route, SessionMessage::Park(req, port));
        }
    }

    /// What a caller reads after its answer contains what the answer is about.
    fn reply(&mut self, req: Req, parked: Option<Route>, outcome: Outcome, message: Option<&Utf8Bytes>) {
        self.settle();
        let answer = answer(outcome, message);
        match parked {
            Some(route) => self.tell_session(route, SessionMessage::Reply(req, answer)),
            None => self.answer_here(req, answer),
        }
    }

    fn answer_here(&mut self, req: Req, answer: Result<Answer, Failure>) {
        if let Some(port) = self.shell.ports.remove(&req) {
            send(port, answer);
        }
    }

    fn serve(&mut self, route: Route, call: CallId, req: Req) {
        let port = self.shell.ports.remove(&req);
        self.tell_session(route, SessionMessage::Serve(call, req, port));
    }

    /// The session's actor is made when it is first needed, and anew when it failed.
    fn tell_session(&mut self, route: Route, message: SessionMessage) {
        let message = match self.shell.sessions.get(&route) {
            None => message,
            Some(session) => match session.send_message(message) {
                Err(MessagingErr::SendErr(unsent)) => unsent,
                _ => return,
            },
        };
        self.first_message(route, message);
    }

    fn first_message(&mut self, route: Route, message: SessionMessage) {
        let registry = self.slot.registry.get_cell();
        match ActorRuntime::spawn_linked_instant(None, SessionActor, (), registry) {
            Ok((session, _)) => {
                let _ = session.cast(message);
                self.shell.sessions.insert(route, session);
            }
            Err(error) => {
                tracing::error!(task = %self.slot.task_id, %error, "a session's actor could not be made")
            }
        }
    }

    fn retire(&mut self, route: &Route) {
        if let Some(session) = self.shell.sessions.remove(route) {
            finish(&session);
        }
    }

    fn ended(&mut self) {
        self.shell.is_over = true;
        self.settle();
        self.slot.published.ended.send_replace(true);
        crate::registry::tell_ended(self.slot);
    }

    fn arm(&mut self) {
        let Some(due) = self.shell.machine.next_deadline() else { return };
        if !self.shell.alarm.comes_before(due)
            && let Some(task) = self.slot.crew.task.get()
        {
            self.shell.alarm.set(due, self.slot.clock.instant(due), task);
        }
    }
}

#[cfg(test)]
mod tests {
    use supervisor_core::Beginning;

    use super::*;

    #[test]
    fn faults_that_come_too_often_end_the_task() {
        let mut shell = Shell::new(Machine::new(&Beginning::default()), Sinks::default());
        let seldom = FAULT_WINDOW / (FAULTS as u32 - 1);
        let mut at = At(0);
        for _ in 0..10 * FAULTS {
            at = at.after(seldom);
            assert!(!shell.count_fault(at));
        }
        let often = (0..FAULTS).map(|_| shell.count_fault(at)).collect::<Vec<_>>();
        assert!(often.contains(&true) && shell.given_up());
    }
}
