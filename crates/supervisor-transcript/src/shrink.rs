//! A recording made small: lines are left out as long as it still shows what it is to show.

mod differs;
mod shows;

use std::str::FromStr;

use serde_json::Value;

use crate::error::{TranscriptError, beginning_of};
use crate::line::{Entry, GuardEntry};
use crate::lines::Lines;
use crate::reader::Reader;
use crate::reduce::{Progress, reduce};
use crate::writer::Writer;

/// What a recording is to show however small it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Predicate {
    /// `panic`: the machine fails inside on an input.
    Panic,
    /// `dialog-lost`: a dialog opens that neither ends nor is pending, or that is told of and never opens.
    DialogLost,
    /// `snapshot-differs`: the snapshot shows something else than the events give, after an input or at the end.
    SnapshotDiffers,
    /// `check-differs`: for an input another message is sent than was recorded, as in the whole recording.
    CheckDiffers,
    /// `differs-from=FILE`: the last snapshot differs from this one, which was expected, where it does so first in the
    /// whole recording, and by the same value.
    DiffersFrom(Box<Value>),
    /// `event=NAME`: such an event happens, `dialog_unanswerable` for example.
    Event(String),
}

/// The predicates as they are named.
pub const PREDICATES: &str =
    "panic, dialog-lost, snapshot-differs, check-differs, differs-from=FILE, event=NAME";

/// All but `differs-from`, whose file the caller reads.
impl FromStr for Predicate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("event=")) {
            ("panic", _) => Ok(Predicate::Panic),
            ("dialog-lost", _) => Ok(Predicate::DialogLost),
            ("snapshot-differs", _) => Ok(Predicate::SnapshotDiffers),
            ("check-differs", _) => Ok(Predicate::CheckDiffers),
            (_, Some(name)) if !name.is_empty() => Ok(Predicate::Event(name.to_owned())),
            _ => Err(format!("expected one of {PREDICATES}, got `{}`", beginning_of(text))),
        }
    }
}

impl std::fmt::Display for Predicate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Predicate::Panic => f.write_str("panic"),
            Predicate::DialogLost => f.write_str("dialog-lost"),
            Predicate::SnapshotDiffers => f.write_str("snapshot-differs"),
            Predicate::CheckDiffers => f.write_str("check-differs"),
            Predicate::DiffersFrom(_) => f.write_str("differs-from"),
            Predicate::Event(name) => write!(f, "event={name}"),
        }
    }
}

/// A recording that was made small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// The recording. Its header says what it still shows.
    pub recording: Vec<u8>,
    /// How many inputs are left of how many, and in how many tries.
    pub progress: Progress,
}

/// Leaves out inputs, each with what was sent for it, as long as the recording shows what it is to show. Each try replays
/// what is left: `go_on` is asked before each and bounds the time.
///
/// The result may be a course of things that no browser would take: it is for finding a fault, not for proving a rule.
///
/// # Errors
/// `ShowsNot` when the whole recording does not show it; what [`replay`](crate::replay) refuses.
pub fn shrink(
    recording: &(impl AsRef<[u8]> + ?Sized),
    predicate: &Predicate,
    go_on: impl FnMut(&Progress) -> bool,
) -> Result<Shrunk, TranscriptError> {
    let sought = shows::Sought::of(predicate, recording.as_ref())?;
    shrink_while(recording, predicate, |candidate| sought.is_shown_by(candidate), go_on)
}

/// As [`shrink`], with a predicate of the caller's own. `why` names it in the header of what is left.
///
/// # Errors
/// As [`shrink`].
pub fn shrink_while(
    recording: &(impl AsRef<[u8]> + ?Sized),
    why: &impl ToString,
    mut holds: impl FnMut(&[u8]) -> bool,
    go_on: impl FnMut(&Progress) -> bool,
) -> Result<Shrunk, TranscriptError> {
    let parts = Parts::of(recording.as_ref(), &why.to_string())?;
    if !holds(&parts.joined(&parts.units)) {
        return Err(TranscriptError::ShowsNot { what: why.to_string() });
    }
    let (left, progress) = reduce(&parts.units, |units| holds(&parts.joined(units)), go_on);
    Ok(Shrunk { recording: parts.joined(&left), progress })
}

/// A recording of ours, or another client's transcript.
fn read(recording: &[u8]) -> Result<(Reader<Lines<'_>>, bool), TranscriptError> {
    match Reader::new(recording) {
        Ok(reader) => Ok((reader, true)),
        Err(refused @ (TranscriptError::Foreign | TranscriptError::NoHeader { .. })) => {
            Reader::foreign(recording).map(|reader| (reader, false)).map_err(|_| refused)
        }
        Err(refused) => Err(refused),
    }
}

/// A recording in pieces.
struct Parts {
    /// The header with its newline; empty for a transcript without one.
    head: Vec<u8>,
    /// Inputs, each with the lines up to the next one.
    units: Vec<Vec<u8>>,
}

impl Parts {
    fn of(recording: &[u8], why: &str) -> Result<Self, TranscriptError> {
        let (reader, is_ours) = read(recording)?;
        let mut head = Vec::new();
        if is_ours {
            let mut header = reader.header().clone();
            let before = header.why.take().map(|why| format!("{why} ")).unwrap_or_default();
            header.why = Some(format!("{before}(shrunk to what still shows: {why})"));
            let _ = Writer::begin(&header, &mut head);
        }
        let mut units: Vec<Vec<u8>> = Vec::new();
        // What is damaged, and all that comes after it, is not replayed either.
        for numbered in reader.map_while(Result::ok) {
            let line = [numbered.text.as_bytes(), b"\n"].concat();
            match (units.last_mut(), &numbered.line.entry) {
                (Some(unit), Entry::Send { .. } | Entry::Guard(GuardEntry::Send { .. })) if is_ours => {
                    unit.extend(line);
                }
                _ => units.push(line),
            }
        }
        Ok(Self { head, units })
    }

    fn joined(&self, units: &[Vec<u8>]) -> Vec<u8> {
        std::iter::once(&self.head).chain(units).flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use supervisor_core::DialogPolicy;

    use super::*;
    use crate::session::{Happening, Session, answered_alert};

    fn recording() -> String {
        Session::run(DialogPolicy::MustRespond, &answered_alert()).text().to_owned()
    }

    fn shrunk(recording: &str, predicate: &str) -> Result<(String, Progress), TranscriptError> {
        let found = shrink(recording, &predicate.parse().unwrap(), |_| true)?;
        Ok((String::from_utf8(found.recording).unwrap(), found.progress))
    }

    #[test]
    fn predicates_are_read_as_they_are_named() {
        for name in ["panic", "dialog-lost", "snapshot-differs", "check-differs", "event=dialog_opened"] {
            assert_eq!(name.parse::<Predicate>().unwrap().to_string(), name);
        }
        assert!("event=".parse::<Predicate>().unwrap_err().starts_with("expected one of panic, "));
    }

    #[test]
    fn what_an_event_needs_is_left_and_nothing_else() {
        let (text, progress) = shrunk(&recording(), "event=dialog_opened").unwrap();
        let inputs: Vec<&str> = text.lines().skip(1).filter(|line| !line.contains("\"send\"")).collect();
        let needed = ["start", "connected", "attachedToTarget", "javascriptDialogOpening"];
        assert!(
            inputs.len() == 4 && inputs.iter().zip(needed).all(|(line, word)| line.contains(word)),
            "{text}"
        );
        assert_eq!(progress.left, 4);
        assert!(text.lines().next().unwrap().contains("(shrunk to what still shows: event=dialog_opened)"));
        // It stands by itself.
        assert_eq!(shrunk(&text, "event=dialog_opened").unwrap().1.left, 4);
    }

    #[test]
    fn a_difference_stays_the_same_difference() {
        let recording = recording();
        let wrong = recording.replace("\"accept\":true", "\"accept\":false");
        let (text, _) = shrunk(&wrong, "check-differs").unwrap();
        assert!(text.lines().count() < 20 && text.contains("handleJavaScriptDialog"), "{text}");
        let Err(TranscriptError::Difference(found)) = crate::check(&text) else { panic!("{text}") };
        assert!(found.recorded.is_some(), "{found}");
        let less = recording.lines().filter(|line| !line.contains("handleJavaScriptDialog"));
        let (text, _) = shrunk(&less.collect::<Vec<_>>().join("\n"), "check-differs").unwrap();
        assert!(text.lines().count() < 16, "{text}");
    }

    #[test]
    fn a_snapshot_goes_on_differing_as_it_did() {
        let recording = recording();
        let mut expected = serde_json::to_value(&*crate::replay(&recording).unwrap().snapshot).unwrap();
        let differs = |expected: &Value| {
            shrink(&recording, &Predicate::DiffersFrom(Box::new(expected.clone())), |_| true)
        };
        let same = differs(&expected).unwrap_err();
        assert_eq!(same, TranscriptError::ShowsNot { what: "differs-from".to_owned() });
        expected["recent_dialogs"][0]["closed_by"] = "remote".into();
        let small = String::from_utf8(differs(&expected).unwrap().recording).unwrap();
        let snapshot = serde_json::to_value(&*crate::replay(&small).unwrap().snapshot).unwrap();
        assert_eq!(snapshot["recent_dialogs"][0]["closed_by"], "agent");
        assert!(small.lines().count() < recording.lines().count() - 3, "{small}");
    }

    #[test]
    fn what_is_not_there_cannot_be_kept() {
        for predicate in ["panic", "dialog-lost", "snapshot-differs", "check-differs", "event=page_freed"] {
            let refused = shrunk(&recording(), predicate).unwrap_err();
            assert_eq!(refused, TranscriptError::ShowsNot { what: predicate.to_owned() });
        }
        assert_eq!(shrunk("", "panic").unwrap_err(), TranscriptError::Empty);
    }

    #[test]
    fn a_predicate_of_the_callers_own_is_as_good() {
        let pending = |candidate: &[u8]| {
            crate::drive(candidate).is_ok_and(|replayed| replayed.snapshot.pending_dialogs.len() == 1)
        };
        let mut happenings = answered_alert();
        happenings.push(crate::session::dialog_opens("S1", "F1", "confirm"));
        happenings.push(Happening::Tick);
        let open = Session::run(DialogPolicy::MustRespond, &happenings);
        let found = shrink_while(&open.recording, &"a dialog is pending", pending, |_| true).unwrap();
        assert_eq!(found.progress.left, 4, "{}", String::from_utf8_lossy(&found.recording));
    }

    #[test]
    fn a_transcript_of_another_client_shrinks_too() {
        let foreign = recording()
            .lines()
            .skip(1)
            .filter(|line| line.contains("\"msg\""))
            .collect::<Vec<_>>()
            .join("\n");
        let messages: Vec<&str> =
            foreign.lines().filter(|it| it.contains("\"recv\"") || it.contains("\"send\"")).collect();
        let (text, progress) = shrunk(&messages.join("\n"), "event=dialog_opened").unwrap();
        assert!(progress.left < progress.before / 2 && !text.contains("header"), "{text}");
    }
}
