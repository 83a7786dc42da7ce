//! The registry's tasks, and what becomes of them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ractor::{ActorId, ActorRef, RpcReplyPort, concurrency};
use supervisor_core::{Beginning, Code, Command, Failure, Machine, Options, Stage};
use supervisor_journal::Run;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::answer::{Answer, Port};
use crate::counters::Counters;
use crate::crew;
use crate::dial::Dialling;
use crate::endpoint::Endpoint;
use crate::handle::Keeper;
use crate::ids::TaskId;
use crate::limits::{DIAL_REPORT, WAITING_STARTS};
use crate::recorder::Recorder;
use crate::registry::{Promised, RegistryMessage, Report, reply_to};
use crate::shell::{Shell, Sinks, Turn};
use crate::slot::{Clock, Slot};
use crate::start::StartOptions;
use crate::task::{HostCommand, TaskMessage};
use crate::task_handle::Task;
use crate::tcp::Way;
use crate::{backend, secret, seed};

/// A wish to have a task.
pub(crate) struct Request {
    pub(crate) task_id: TaskId,
    pub(crate) endpoint: Endpoint,
    pub(crate) options: Box<StartOptions>,
    pub(crate) reply: Reply,
}

type Reply = RpcReplyPort<Result<Task, Failure>>;

/// All tasks.
pub(crate) struct Roster {
    myself: ActorRef<RegistryMessage>,
    keeper: Weak<Keeper>,
    entries: HashMap<TaskId, Entry>,
    /// Whose the actors are: thousands may end at once.
    actors: HashMap<ActorId, TaskId>,
    counters: Counters,
    bindings: u64,
}

/// One task on one endpoint.
struct Entry {
    slot: Arc<Slot>,
    dialling: Arc<Dialling>,
    phase: Phase,
}

/// ```text
///  Starting ── started ──▶ Running ── it failed for good ──▶ Over
///      └────────────┬──────────┴── stop, or a start elsewhere ──▶ Stopping ──▶ (forgotten)
/// ```
enum Phase {
    /// The first connection is being made; these wait for it.
    Starting(Vec<Reply>),
    Running,
    /// It ends; then these are told, and those are started.
    Stopping {
        told: Vec<RpcReplyPort<bool>>,
        next: Vec<Request>,
    },
    /// It has ended by itself and is still shown.
    Over,
}

impl Roster {
    pub(crate) fn new(myself: ActorRef<RegistryMessage>, keeper: Weak<Keeper>) -> Self {
        Self {
            myself,
            keeper,
            entries: HashMap::new(),
            actors: HashMap::new(),
            counters: Counters::default(),
            bindings: 0,
        }
    }

    pub(crate) fn get_or_start(&mut self, request: Request) {
        let Some(entry) = self.entries.get_mut(&request.task_id) else { return self.start(request) };
        let lives = matches!(entry.phase, Phase::Starting(_) | Phase::Running);
        if lives && !entry.fits(&request) {
            return self.rebind(request);
        }
        match &mut entry.phase {
            Phase::Starting(_) | Phase::Running => entry.adopt(request, self.keeper.upgrade()),
            Phase::Stopping { next, .. } => wait_for_stop(next, request),
            Phase::Over => {
                self.forget(&request.task_id);
                self.start(request);
            }
        }
    }

    fn start(&mut self, request: Request) {
        match self.entry(&request) {
            Ok(entry) => {
                let (slot, task_id) = (Arc::clone(&entry.slot), request.task_id);
                let dialling = Arc::clone(&entry.dialling);
                self.entries.insert(task_id, Entry { phase: Phase::Starting(vec![request.reply]), ..entry });
                command_start(&slot, dialling);
            }
            Err(failure) => reply_to(request.reply, Err(failure)),
        }
    }

    /// A new binding with its actors, not yet connected.
    fn entry(&mut self, request: &Request) -> Result<Entry, Failure> {
        let options = &request.options;
        let headers = secret::headers(&options.headers)?;
        let way = Way::of(&options.network, options.connect.clone())?;
        let dialling =
            Arc::new(Dialling { headers, limit: options.start_timeout, renew: options.renewing(), way });
        let clock = Clock::start();
        let (next_dialog, next_call, epoch) = self.counters.of(&request.task_id);
        let mut beginning = Beginning { next_dialog, next_call, epoch, ..Beginning::default() };
        beginning.started_unix_us = clock.started_unix_us;
        beginning.seed = options.seed.unwrap_or_else(seed::fresh);
        beginning.options = options.options.clone();
        let recorder = options
            .recording
            .as_ref()
            .map(|recording| Recorder::create(recording, &beginning, &request.endpoint))
            .transpose()?;
        let journal = options.journal.as_ref().map(|keeper| {
            keeper.begin(Run {
                task: request.task_id.to_string(),
                started_unix_us: clock.started_unix_us,
                endpoint: request.endpoint.to_string(),
            })
        });
        let shell = Shell::new(Machine::new(&beginning), Sinks { recorder, journal });
        self.bindings += 1;
        let (task_id, given) = (request.task_id.clone(), request.endpoint.clone());
        let slot = Arc::new(Slot::new(task_id, self.bindings, given, clock, self.myself.clone(), shell));
        crew::muster(&slot, &dialling).map_err(|error| internal(&error.to_string()))?;
        self.actors.extend(slot.crew.ids().map(|actor| (actor, slot.task_id.clone())));
        Ok(Entry { slot, dialling, phase: Phase::Running })
    }

    /// The old binding ends before the new one begins: its counters go on from where it ends.
    fn rebind(&mut self, request: Request) {
        let task_id = request.task_id.clone();
        if let Some(next) = self.begin_stop(&task_id).map(|(_, next)| next) {
            next.push(request);
        }
    }

    pub(crate) fn stop(&mut self, task_id: &TaskId, reply: RpcReplyPort<bool>) {
        match self.begin_stop(task_id) {
            Some((told, next)) => {
                told.push(reply);
                refuse(next.drain(..).map(|request| request.reply));
            }
            None => reply_to(reply, false),
        }
    }

    /// Tells the task to stop unless it is stopping, and gives who waits for that.
    fn begin_stop(&mut self, task_id: &TaskId) -> Option<(&mut Vec<RpcReplyPort<bool>>, &mut Vec<Request>)> {
        let entry = self.entries.get_mut(task_id)?;
        if !matches!(entry.phase, Phase::Stopping { .. }) {
            let stopping = Phase::Stopping { told: Vec::new(), next: Vec::new() };
            if let Phase::Starting(waiting) = std::mem::replace(&mut entry.phase, stopping) {
                refuse(waiting);
            }
            tell(&entry.slot, Command::Stop, None);
            let slot = Arc::clone(&entry.slot);
            let stopped = Promised::new(&self.myself, Report::Stopped(slot.task_id.clone(), slot.binding));
            tokio::spawn(async move {
                crew::wind_down(slot).await;
                drop(stopped);
            });
        }
        match &mut entry.phase {
            Phase::Stopping { told, next } => Some((told, next)),
            _ => None,
        }
    }

    pub(crate) fn stop_all(&mut self, reply: RpcReplyPort<()>) {
        let ids: Vec<TaskId> = self.entries.keys().cloned().collect();
        let mut ends = JoinSet::new();
        for id in ids {
            let (port, end) = concurrency::oneshot();
            self.stop(&id, port.into());
            ends.spawn(end);
        }
        tokio::spawn(async move {
            while ends.join_next().await.is_some() {}
            reply_to(reply, ());
        });
    }

    pub(crate) fn get(&self, task_id: &TaskId) -> Option<Task> {
        let entry =
            self.entries.get(task_id).filter(|entry| !matches!(entry.phase, Phase::Stopping { .. }))?;
        Some(Task::new(Arc::clone(&entry.slot), self.keeper.upgrade()))
    }

    pub(crate) fn list(&self) -> Vec<Task> {
        let mut ids: Vec<&TaskId> = self.entries.keys().collect();
        ids.sort();
        ids.into_iter().filter_map(|id| self.get(id)).collect()
    }

    pub(crate) fn ask(
        &self,
        task_id: &TaskId,
        command: Command,
        reply: RpcReplyPort<Result<Answer, Failure>>,
    ) {
        let refused = match (self.get(task_id), &command) {
            (_, Command::Start | Command::Stop) => {
                Failure::new(Code::InvalidArgument, "Tasks are started and stopped by GetOrStart and Stop.")
            }
            (Some(task), _) => return task.ask_later(command, reply),
            (None, _) => not_there(task_id),
        };
        reply_to(reply, Err(refused));
    }

    pub(crate) fn started(&mut self, task_id: &TaskId, binding: u64, result: Result<(), Failure>) {
        let keeper = self.keeper.upgrade();
        let Some(entry) = self.entries.get_mut(task_id).filter(|entry| entry.slot.binding == binding) else {
            return;
        };
        if !matches!(entry.phase, Phase::Starting(_)) {
            return;
        }
        let Phase::Starting(waiting) = std::mem::replace(&mut entry.phase, Phase::Running) else { return };
        let task = Task::new(Arc::clone(&entry.slot), keeper);
        let failed = result.is_err();
        for reply in waiting {
            reply_to(reply, result.clone().map(|()| task.clone()));
        }
        if failed {
            tell(&entry.slot, Command::Stop, None);
            tokio::spawn(crew::wind_down(Arc::clone(&entry.slot)));
            self.forget(task_id);
        }
    }

    pub(crate) fn ended(&mut self, task_id: &TaskId, binding: u64) {
        let Some(entry) = self.entries.get_mut(task_id).filter(|entry| entry.slot.binding == binding) else {
            return;
        };
        if matches!(entry.phase, Phase::Running) {
            entry.phase = Phase::Over;
            tokio::spawn(crew::wind_down(Arc::clone(&entry.slot)));
        }
    }

    pub(crate) fn stopped(&mut self, task_id: &TaskId, binding: u64) {
        if self.entries.get(task_id).is_none_or(|entry| entry.slot.binding != binding) {
            return;
        }
        let Some(Phase::Stopping { told, next }) = self.forget(task_id) else { return };
        told.into_iter().for_each(|reply| reply_to(reply, true));
        next.into_iter().for_each(|request| self.get_or_start(request));
    }

    /// Keeps nothing of the task but where its ids go on.
    fn forget(&mut self, task_id: &TaskId) -> Option<Phase> {
        let entry = self.entries.remove(task_id)?;
        self.counters.remember(task_id, entry.slot.shell().machine.counters());
        Some(entry.phase)
    }

    /// An actor ended. One of a task that shall live is replaced, unless that happens too often.
    pub(crate) fn lost(&mut self, actor: ActorId, why: &str) {
        let Some(entry) = self.actors.remove(&actor).and_then(|task_id| self.entries.get_mut(&task_id))
        else {
            return;
        };
        // Of a task that was started elsewhere meanwhile it is none.
        let Some(role) = crew::role_of(&entry.slot, actor) else { return };
        if !entry.lives() {
            return;
        }
        tracing::error!(task = %entry.slot.task_id, ?role, why, "an actor failed");
        let recovers = entry.may_go_on() && crew::replace(&entry.slot, &entry.dialling, role).is_ok();
        entry.give_up_unless(recovers);
        if recovers {
            self.actors.extend(entry.slot.crew.ids().map(|actor| (actor, entry.slot.task_id.clone())));
        }
    }

    /// An actor failed that may be a session's. It is made anew when it is needed; its callers know by their ports.
    pub(crate) fn failed(&mut self, actor: ActorId, why: &str) {
        if self.actors.contains_key(&actor) {
            return self.lost(actor, why);
        }
        let of_session = |entry: &&mut Entry| entry.slot.shell().forget_session(actor);
        let Some(entry) = self.entries.values_mut().find(of_session) else { return };
        if entry.lives() {
            tracing::error!(task = %entry.slot.task_id, why, "a session's actor failed");
            let recovers = entry.may_go_on();
            entry.give_up_unless(recovers);
        }
    }

    /// Stops all tasks and waits for it.
    pub(crate) async fn wind_all_down(&mut self) {
        let mut ends = JoinSet::new();
        for entry in std::mem::take(&mut self.entries).into_values() {
            tell(&entry.slot, Command::Stop, None);
            ends.spawn(crew::wind_down(entry.slot));
        }
        while ends.join_next().await.is_some() {}
    }
}

impl Entry {
    /// Whether this binding is what the request wants. Another scope is another binding.
    fn fits(&self, request: &Request) -> bool {
        self.slot.is_at(&request.endpoint) && self.slot.scope() == request.options.options.scope
    }

    /// Gives what runs, or will run, with the options that are wanted now.
    fn adopt(&mut self, request: Request, keeper: Option<Arc<Keeper>>) {
        adopt_options(&self.slot, request.options.options);
        match &mut self.phase {
            Phase::Starting(waiting) => waiting.push(request.reply),
            _ => reply_to(request.reply, Ok(Task::new(Arc::clone(&self.slot), keeper))),
        }
    }

    fn lives(&self) -> bool {
        matches!(self.phase, Phase::Starting(_) | Phase::Running)
    }

    /// Counts a fault; `false` when there were too many.
    fn may_go_on(&self) -> bool {
        let mut shell = self.slot.shell();
        !shell.given_up() && !shell.count_fault(self.slot.clock.now())
    }

    /// The callers of a start hear of it when their port is dropped.
    fn give_up_unless(&mut self, recovers: bool) {
        if recovers {
            return;
        }
        Turn::begin(&self.slot).give_up("too many faults inside; please report it, and start the task again");
        if matches!(self.phase, Phase::Running) {
            self.phase = Phase::Over;
        }
        tokio::spawn(crew::wind_down(Arc::clone(&self.slot)));
    }
}

/// Connects, and reports the outcome. The dial keeps the limit itself; what is left of it is the handshake's.
fn command_start(slot: &Arc<Slot>, dialling: Arc<Dialling>) {
    let limit = dialling.limit;
    let (port, outcome) = concurrency::oneshot::<Result<Answer, Failure>>();
    tell(slot, Command::Start, Some(port.into()));
    let (slot, begun) = (Arc::clone(slot), Instant::now());
    let fault = Err(internal("a fault inside interrupted it"));
    let fault = Report::Started(slot.task_id.clone(), slot.binding, fault);
    let mut promised = Promised::new(&slot.registry, fault);
    tokio::spawn(async move {
        let result = match timeout(limit + DIAL_REPORT, outcome).await {
            Ok(Ok(result)) => result.map(drop),
            Ok(Err(_)) => Err(internal("the task ended while it started")),
            Err(_) => Err(silent_browser(limit)),
        };
        let result = match result {
            // Boxed, since it is large and hardly ever needed: else each task that starts has room for it.
            Err(failure) => {
                Err(Box::pin(backend::explained(&slot.given, &dialling, failure, begun + limit)).await)
            }
            Ok(()) => Ok(()),
        };
        promised.becomes(Report::Started(slot.task_id.clone(), slot.binding, result));
    });
}

fn silent_browser(limit: Duration) -> Failure {
    let message = format!(
        "The socket is open, but the browser did not answer the first commands within {} s; look whether it hangs, or \
         allow more time.",
        limit.as_secs_f64()
    );
    Failure::new(Code::StartFailed, message).with(|detail| detail.stage = Some(Stage::Handshake))
}

fn adopt_options(slot: &Slot, options: Options) {
    let changed = slot.shell().machine.state().options != options;
    if changed {
        tell(slot, Command::Configure { options: Box::new(options) }, None);
    }
}

/// The registry's own commands are few, so no permit bounds them.
fn tell(slot: &Slot, command: Command, port: Option<Port>) {
    slot.tell(TaskMessage::Host(Box::new(HostCommand { req: slot.next_req(), command, port, permit: None })));
}

fn wait_for_stop(next: &mut Vec<Request>, request: Request) {
    if next.len() < WAITING_STARTS {
        return next.push(request);
    }
    let message = format!(
        "{WAITING_STARTS} starts of this task already wait for its old binding to stop; wait for one."
    );
    reply_to(request.reply, Err(Failure::new(Code::Refused, message)));
}

/// Whoever waited for a start that was overtaken by a stop.
fn refuse(waiting: impl IntoIterator<Item = Reply>) {
    for reply in waiting {
        let message = "The task was stopped, or started elsewhere, before it was connected; start it again.";
        reply_to(reply, Err(Failure::new(Code::NotConnected, message)));
    }
}

fn not_there(task_id: &TaskId) -> Failure {
    Failure::new(Code::NotConnected, format!("There is no task {task_id:?}; start it first."))
}

fn internal(why: &str) -> Failure {
    Failure::new(Code::StartFailed, format!("The task could not be started: {why}; start it again."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> (Request, concurrency::OneshotReceiver<Result<Task, Failure>>) {
        let (port, answer) = concurrency::oneshot();
        let endpoint = Endpoint::parse("ws://127.0.0.1:1/").unwrap();
        (Request { task_id: "t".into(), endpoint, options: Box::default(), reply: port.into() }, answer)
    }

    #[tokio::test]
    async fn starts_beyond_the_bound_are_refused() {
        let (mut next, mut answers) = (Vec::new(), Vec::new());
        for _ in 0..WAITING_STARTS {
            let (request, answer) = request();
            wait_for_stop(&mut next, request);
            answers.push(answer);
        }
        let (request, answer) = request();
        wait_for_stop(&mut next, request);
        assert_eq!(answer.await.unwrap().unwrap_err().code, Code::Refused);
        assert_eq!(next.len(), WAITING_STARTS);
    }
}
