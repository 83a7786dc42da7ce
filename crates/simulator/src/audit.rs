//! Holds every step of a machine against the rules that need nothing else: those of a simulated run, or of a recording.

use std::panic::{AssertUnwindSafe, catch_unwind};

use supervisor_core::{Machine, State, Step};
use supervisor_transcript::Reader;

use crate::rules::dialogs::Ledger;
use crate::rules::{bounds, check, resumed, sound};
use crate::simulate::message_of;

/// Snapshots are costly to build from nothing: they are compared once in so many steps.
const SNAPSHOT_EVERY: u64 = 16;

/// Replays a recording of ours and holds each step against the rules. Gives the machine as it was in the end.
///
/// # Errors
/// The first rule that was broken, with the number of the line, or why it cannot be read.
pub fn audit(recording: &[u8]) -> Result<Machine, String> {
    let reader = Reader::new(recording).map_err(|error| error.to_string())?;
    let mut machine = Machine::new(&reader.header().beginning);
    let mut auditor = Auditor::of(&machine);
    for numbered in reader {
        let numbered = numbered.map_err(|damage| damage.to_string())?;
        let Some(input) = numbered.line.input() else { continue };
        let text = match &input {
            supervisor_core::Input::Received { text, .. } => (*text).to_owned(),
            _ => String::new(),
        };
        let audited = catch_unwind(AssertUnwindSafe(|| {
            let step = machine.step(numbered.line.at, input);
            resumed::holds(&text, &step.effects);
            auditor.after(&step, &mut machine);
        }));
        audited.map_err(|panic| format!("line {}: {}", numbered.number, message_of(&*panic)))?;
    }
    Ok(machine)
}

/// Folds the events a second time, and keeps the book of dialogs.
#[derive(Debug)]
pub(crate) struct Auditor {
    /// What the events alone give.
    folded: State,
    ledger: Ledger,
    steps: u64,
}

impl Auditor {
    /// Of a machine that has not been given anything.
    pub(crate) fn of(machine: &Machine) -> Self {
        Self { folded: machine.state().clone(), ledger: Ledger::default(), steps: 0 }
    }

    pub(crate) fn after(&mut self, step: &Step, machine: &mut Machine) {
        step.events.iter().for_each(|recorded| self.folded.apply(recorded));
        check("the state is the fold of the events", self.folded == *machine.state(), || {
            format!("after {:?}", step.events)
        });
        self.ledger.enter(&step.events);
        self.ledger.agrees(&machine.state().dialogs);
        sound::holds(machine);
        bounds::hold(machine.state());
        self.steps += 1;
        if self.steps.is_multiple_of(SNAPSHOT_EVERY) {
            let (shown, afresh) = (machine.snapshot(), machine.snapshot_afresh());
            check("the snapshot is what the state shows", shown == afresh, || {
                format!("after {:?}, it is {shown:#?}, should be {afresh:#?}", step.events)
            });
        }
    }
}
