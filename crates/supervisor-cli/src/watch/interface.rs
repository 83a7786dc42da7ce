//! The screen's loop: hands the model what happens, does what it says, and draws now and then.

use std::io;
use std::time::Duration;

use supervisor::{DialogChoice, DialogId, Event, EventStream, Observed, Supervisor, Task};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::keys;
use super::model::{Effect, Input, Model};
use super::terminal::Taken;
use crate::error::CliError;

/// The screen is drawn so often at most: faster than one reads, slow enough for a page that floods.
const PACE: Duration = Duration::from_millis(100);

/// Shows the task until it ends; `q` ends it.
pub(super) async fn run(task: &Task, supervisor: &Supervisor) -> Result<(), CliError> {
    let asked = Interface::begin(task)?.show().await?;
    // The terminal is given back by now: what is still said comes on the screen that people know.
    if asked == End::Quit {
        supervisor.stop_all().await;
    }
    Ok(())
}

/// Why it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Quit,
    TaskEnded,
}

struct Interface<'a> {
    task: &'a Task,
    events: EventStream,
    model: Model,
    answers: JoinSet<Input>,
    /// The last event that was heard of. The snapshot that has it may come a moment later.
    heard: u64,
    /// When to draw, if there is anything new.
    due: Option<Instant>,
    drawn: Instant,
    inputs: mpsc::Receiver<Input>,
    terminal: Taken,
}

impl<'a> Interface<'a> {
    fn begin(task: &'a Task) -> Result<Self, CliError> {
        let events = task.events();
        let terminal = Taken::take()?;
        let (endpoint, size) = (task.endpoint().to_string(), terminal.size()?);
        Ok(Self {
            task,
            events,
            model: Model::new(endpoint, task.snapshot(), task.console(None), size),
            answers: JoinSet::new(),
            heard: 0,
            due: Some(Instant::now()),
            drawn: Instant::now(),
            inputs: keys::listen(),
            terminal,
        })
    }

    async fn show(mut self) -> Result<End, CliError> {
        loop {
            let input = tokio::select! {
                biased;
                input = self.inputs.recv() => match input {
                    Some(input) => input,
                    // The terminal is gone.
                    None => return Ok(End::Quit),
                },
                Some(answered) = self.answers.join_next() => match answered {
                    Ok(input) => input,
                    Err(error) => return Err(CliError::BrokeOff(error.to_string())),
                },
                () = sleep_until(self.due.unwrap_or(self.drawn)), if self.due.is_some() => {
                    if self.draw().is_err() {
                        // So it is then, too.
                        return Ok(End::Quit);
                    }
                    continue;
                }
                observed = self.events.recv() => match observed {
                    Some(observed) => self.observed(observed),
                    None => return Ok(End::TaskEnded),
                },
            };
            if self.take(input) == Some(End::Quit) {
                return Ok(End::Quit);
            }
        }
    }

    fn observed(&mut self, observed: Observed) -> Input {
        match observed {
            Observed::Event(recorded) => {
                self.heard = recorded.seq;
                if matches!(recorded.event, Event::ConsoleGathered { .. }) {
                    self.look_at_console();
                }
                Input::Event(recorded)
            }
            Observed::Lagged(missed) => {
                self.look_at_console();
                Input::Lagged(missed)
            }
        }
    }

    fn look_at_console(&mut self) {
        self.model.handle(Input::Console(self.task.console(None)));
    }

    fn take(&mut self, input: Input) -> Option<End> {
        self.due.get_or_insert(self.drawn + PACE);
        match self.model.handle(input)? {
            Effect::Quit => return Some(End::Quit),
            Effect::Answer(id, action) => {
                let task = self.task.clone();
                self.answers.spawn(async move { respond(&task, id, action).await });
            }
        }
        None
    }

    /// A terminal that takes its time holds up this thread alone.
    fn draw(&mut self) -> io::Result<()> {
        let snapshot = self.task.snapshot();
        self.drawn = Instant::now();
        self.due = (snapshot.version < self.heard).then(|| self.drawn + PACE);
        self.model.handle(Input::Snapshot(snapshot));
        let (terminal, model) = (&mut self.terminal, &self.model);
        tokio::task::block_in_place(|| terminal.draw(model))
    }
}

async fn respond(task: &Task, id: DialogId, action: supervisor::Action) -> Input {
    let choice = DialogChoice { dialog_id: Some(id), target_id: None };
    let outcome = task.respond(choice, action).await;
    Input::Answered(id, outcome.map(|answered| told(id, &answered)).map_err(|failure| failure.to_string()))
}

fn told(id: DialogId, answered: &supervisor::Answered) -> String {
    let how = if answered.accepted { "accepted" } else { "dismissed" };
    let next = answered.next_dialog.as_ref().map(|next| format!("; {} opened since", next.id));
    format!("{id} {how}{}", next.unwrap_or_default())
}
