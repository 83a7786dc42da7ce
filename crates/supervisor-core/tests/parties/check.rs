//! What must be true of dialogs, whoever answered them.

use std::collections::{BTreeMap, BTreeSet};

use supervisor_core::dialog::{ClosedBy, Reason};
use supervisor_core::{Code, DialogId, Event, Outcome};

use crate::browser::Cause;
use crate::world::World;

/// How a dialog ended, as the machine tells it.
pub(crate) struct Told {
    pub(crate) by: ClosedBy,
    pub(crate) reason: Option<Reason>,
    pub(crate) accepted: Option<bool>,
}

/// Each id once, in order, each ended once; the dialogs of the browser that each one is.
pub(crate) fn ended_once(world: &World) -> BTreeMap<DialogId, (usize, Told)> {
    let (mut numbers, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for recorded in &world.events {
        match &recorded.event {
            Event::DialogOpened { id, dialog, .. } => {
                assert!(numbers.keys().next_back().is_none_or(|last| last < id), "{id} was given out before");
                let number = dialog.message.text.trim_start_matches('m').parse::<usize>().expect("a number");
                assert!(
                    numbers.values().all(|other| *other != number),
                    "{id} is m{number}, as one before it was"
                );
                numbers.insert(*id, number);
            }
            Event::DialogEnded { id, by, reason, accepted, .. } => {
                assert!(numbers.contains_key(id), "{id} ended without having opened");
                let told = Told { by: *by, reason: *reason, accepted: *accepted };
                assert!(ends.insert(*id, told).is_none(), "{id} ended twice");
            }
            Event::DialogReasonKnown { id, reason } => {
                ends.get_mut(id).expect("it has ended").reason = Some(*reason);
            }
            _ => {}
        }
    }
    let open: Vec<_> = numbers.keys().filter(|id| !ends.contains_key(id)).collect();
    assert!(open.is_empty(), "never ended: {open:?}");
    ends.into_iter().map(|(id, told)| (id, (numbers[&id], told))).collect()
}

/// Nothing is pending that is not there, and the ring has each once.
pub(crate) fn no_ghosts(world: &mut World) {
    let snapshot = world.machine.snapshot();
    assert!(snapshot.pending_dialogs.is_empty(), "{:?}", snapshot.pending_dialogs);
    let recent: Vec<DialogId> = snapshot.recent_dialogs.iter().map(|it| it.id).collect();
    let unique: BTreeSet<_> = recent.iter().collect();
    assert_eq!(recent.len(), unique.len());
}

/// Whoever is said to have closed a dialog did: an answer of ours that the browser took closed this very dialog, with that
/// result; and what another closed is nobody's here.
pub(crate) fn closed_by_whom_it_says(world: &World, ended: &BTreeMap<DialogId, (usize, Told)>) {
    for (id, (number, told)) in ended {
        let truth = world.browser.ends[number];
        let is_ours = matches!(truth.cause, Cause::Answer(_));
        // An answer of ours that was on its way when its connection was lost and one of another client look the same.
        let looks_so = world.lost_answers.contains(&(world.browser.pages[*number], truth.accepted));
        match told.by {
            ClosedBy::Remote if told.reason == Some(Reason::StrayAnswer) => assert!(is_ours, "{id}"),
            ClosedBy::Remote if told.reason == Some(Reason::Disconnected) => {}
            ClosedBy::Remote => assert!(!is_ours || looks_so, "{id} (m{number}) was closed by us: {truth:?}"),
            _ => {
                assert!(is_ours || looks_so, "{id} (m{number}) was not closed by {:?}: {truth:?}", told.by);
                assert_eq!(told.accepted, Some(truth.accepted), "{id}");
            }
        }
    }
}

/// Each answer of the host is told once how it ended. One at most won each dialog; whoever lost hears of who did.
pub(crate) fn all_are_told(world: &World, ended: &BTreeMap<DialogId, (usize, Told)>) {
    let mut won = BTreeSet::new();
    for (req, id) in &world.asked {
        let outcomes = world.told.get(req).map(Vec::as_slice).unwrap_or_default();
        assert_eq!(outcomes.len(), 1, "{req:?} about {id}: {outcomes:?}");
        match &outcomes[0] {
            Outcome::Answered { .. } => {
                assert!(won.insert(*id), "{id} was won twice");
                assert_eq!(ended[id].1.by, ClosedBy::Agent, "{id}");
            }
            Outcome::Failed(failure) => {
                let expected = [
                    Code::AlreadyClosed,
                    Code::UnknownDialog,
                    Code::Unanswerable,
                    Code::Disconnected,
                    Code::Timeout,
                ];
                assert!(expected.contains(&failure.code), "{failure:?}");
                let won_by = failure.detail.won_by.as_deref();
                if failure.code == Code::AlreadyClosed && won_by.is_some() {
                    assert_eq!(won_by, Some(ended[id].1.by.as_str()), "{id}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
    let by_agent = ended.iter().filter(|(_, (_, told))| told.by == ClosedBy::Agent).map(|(id, _)| *id);
    let by_agent: BTreeSet<_> = by_agent.collect();
    assert!(won.is_subset(&by_agent));
}
