//! Whether a recording shows what is sought.

use serde_json::Value;
use supervisor_core::limits::MAX_RECENT_DIALOGS;
use supervisor_core::{DialogId, Effect, Event, Machine, Recorded, Snapshot, State};

use crate::drive::Driver;
use crate::error::TranscriptError;
use crate::line::{Entry, Line};
use crate::shrink::differs::Place;
use crate::shrink::{Predicate, read};

/// What is sought in a recording and its parts.
pub(super) enum Sought {
    Panic,
    DialogLost,
    SnapshotDiffers,
    /// The messages that differ, without their ids: what was recorded, and what is sent.
    Difference(Option<Value>, Option<Value>),
    /// Where the last snapshot is another one than was expected.
    Differing(Place),
    Event(String),
}

impl Sought {
    pub(super) fn of(predicate: &Predicate, recording: &[u8]) -> Result<Self, TranscriptError> {
        Ok(match predicate {
            Predicate::Panic => Sought::Panic,
            Predicate::DialogLost => Sought::DialogLost,
            Predicate::SnapshotDiffers => Sought::SnapshotDiffers,
            Predicate::Event(name) => Sought::Event(name.clone()),
            Predicate::DiffersFrom(expected) => {
                let place = Place::first(&last_snapshot(recording)?, expected);
                Sought::Differing(
                    place.ok_or_else(|| TranscriptError::ShowsNot { what: predicate.to_string() })?,
                )
            }
            Predicate::CheckDiffers => match crate::check(recording) {
                Err(TranscriptError::Difference(found)) => {
                    let text = |text: Option<String>| text.as_deref().map(without_id);
                    Sought::Difference(text(found.recorded), text(found.sent))
                }
                Err(other) => return Err(other),
                Ok(_) => return Err(TranscriptError::ShowsNot { what: predicate.to_string() }),
            },
        })
    }

    pub(super) fn is_shown_by(&self, recording: &[u8]) -> bool {
        let Ok((mut reader, _)) = read(recording) else { return false };
        let mut run = Run::new(Driver::new(reader.header()));
        let is_shown = reader.by_ref().map_while(Result::ok).any(|it| run.line(self, &it.line));
        is_shown || run.at_the_end(self)
    }
}

/// A replay that is watched.
struct Run {
    driver: Driver,
    /// What the events alone give.
    folded: State,
    /// What was sent for the last input and not recorded yet.
    sent: Vec<String>,
    /// Dialogs that opened and did not end.
    open: Vec<DialogId>,
    /// Those that ended, in that order.
    ended: Vec<DialogId>,
}

impl Run {
    fn new(driver: Driver) -> Self {
        let folded = driver.machine().state().clone();
        Self { driver, folded, sent: Vec::new(), open: Vec::new(), ended: Vec::new() }
    }

    /// Plays a line. Whether it shows what is sought.
    fn line(&mut self, sought: &Sought, line: &Line<'_>) -> bool {
        if let (Sought::Difference(recorded, sent), Entry::Send { text }) = (sought, &line.entry) {
            let next = (!self.sent.is_empty()).then(|| self.sent.remove(0));
            let found = (Some(without_id(text)), next.as_deref().map(without_id));
            return found.0 != found.1 && found == (recorded.clone(), sent.clone());
        }
        // What was sent for the input before and not recorded is the other kind of difference.
        let surplus = self.surplus(sought);
        let counted = counted(self.driver.machine());
        let fed = self.driver.feed(line);
        if let Entry::Checkpoint { .. } = &line.entry {
            self.goes_on();
            return surplus;
        }
        match fed {
            None => surplus,
            Some(Err(_)) => surplus || matches!(sought, Sought::Panic),
            Some(Ok(step)) => {
                let sends = step.effects.into_iter().filter_map(|effect| match effect {
                    Effect::Send { text, .. } => Some(text),
                    _ => None,
                });
                self.sent = sends.collect();
                surplus || self.events(sought, line, &step.events, counted)
            }
        }
    }

    /// After a checkpoint the machine knows what that says, whatever came before.
    fn goes_on(&mut self) {
        let state = self.driver.machine().state();
        self.open = state.dialogs.open.keys().copied().collect();
        self.ended = state.dialogs.recent.iter().map(|closed| closed.id).collect();
        self.folded = state.clone();
    }

    fn surplus(&mut self, sought: &Sought) -> bool {
        let left = std::mem::take(&mut self.sent);
        match sought {
            Sought::Difference(None, sent) => left.first().map(|text| without_id(text)) == *sent,
            _ => false,
        }
    }

    fn events(&mut self, sought: &Sought, line: &Line<'_>, events: &[Recorded], before: u64) -> bool {
        match sought {
            Sought::Event(name) => events.iter().any(|it| name_of(&it.event).as_ref() == Some(name)),
            Sought::SnapshotDiffers => {
                events.iter().for_each(|recorded| self.folded.apply(recorded));
                self.differs()
            }
            Sought::DialogLost => {
                events.iter().for_each(|it| self.enter(&it.event));
                let is_passed_over = counted(self.driver.machine()) == before;
                tells_of_dialog(line) && is_passed_over && !events.iter().any(|it| takes_up(&it.event))
            }
            Sought::Panic | Sought::Difference(..) | Sought::Differing(_) => false,
        }
    }

    fn enter(&mut self, event: &Event) {
        match event {
            Event::DialogOpened { id, .. } => self.open.push(*id),
            Event::DialogEnded { id, .. } => {
                self.open.retain(|open| open != id);
                self.ended.push(*id);
            }
            _ => {}
        }
    }

    fn differs(&mut self) -> bool {
        let shown = self.driver.snapshot();
        let machine = self.driver.machine();
        shown != machine.snapshot_afresh() || self.folded != *machine.state()
    }

    fn at_the_end(&mut self, sought: &Sought) -> bool {
        match sought {
            Sought::DialogLost => {
                let dialogs = &self.driver.machine().state().dialogs;
                // The ring forgets the oldest: those are not lost.
                let last = self.ended.iter().rev().take(MAX_RECENT_DIALOGS).rev();
                !dialogs.open.keys().eq(&self.open) || !dialogs.recent.iter().map(|it| &it.id).eq(last)
            }
            Sought::Differing(place) => place.is_in(&as_json(&self.driver.snapshot())),
            _ => self.surplus(sought),
        }
    }
}

fn last_snapshot(recording: &[u8]) -> Result<Value, TranscriptError> {
    let (mut reader, _) = read(recording)?;
    let mut driver = Driver::new(reader.header());
    reader.by_ref().map_while(Result::ok).for_each(|it| drop(driver.feed(&it.line)));
    Ok(as_json(&driver.snapshot()))
}

fn as_json(snapshot: &Snapshot) -> Value {
    serde_json::to_value(snapshot).unwrap_or_default()
}

/// What the machine passed over, and said so.
fn counted(machine: &Machine) -> u64 {
    let meters = machine.meters();
    meters.protocol_violations + meters.late_messages + meters.unknown_messages + meters.dropped
}

fn tells_of_dialog(line: &Line<'_>) -> bool {
    matches!(&line.entry, Entry::Recv { text, .. } if text.contains("\"Page.javascriptDialogOpening\""))
}

fn takes_up(event: &Event) -> bool {
    matches!(event, Event::DialogOpened { .. } | Event::DialogSeenAgain { .. })
}

/// As it is written in recordings of events.
fn name_of(event: &Event) -> Option<String> {
    serde_json::to_value(event).ok()?.get("event")?.as_str().map(str::to_owned)
}

/// Leaving out an input changes the ids of all commands after it.
fn without_id(text: &str) -> Value {
    let mut message: Value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    if let Some(fields) = message.as_object_mut() {
        fields.remove("id");
    }
    message
}
