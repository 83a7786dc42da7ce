//! The actions to choose from, and how often each is worth choosing. Property tests and the simulator draw
//! from the same menu.

use cdp_wire::page::DialogType;

use crate::action::{Action, Place};

/// One kind of action.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// How often it is drawn, compared with the others.
    pub weight: u32,
    /// Makes it out of four bytes; zeros give the simplest one.
    pub make: fn([u8; 4]) -> Action,
}

/// All kinds of actions. What makes frames and moves them comes often, what ends everything seldom.
#[must_use]
pub fn menu() -> Vec<Entry> {
    vec![
        entry(22, |[parent, place, ..]| Action::AddFrame { parent, to: make_place(place) }),
        entry(18, |[frame, place, slow, _]| Action::Navigate {
            frame,
            to: make_place(place),
            slow: slow % 4 == 3,
        }),
        entry(6, |[page, site, cache, _]| Action::NavigatePage {
            page,
            to: Place::Site(site),
            cache: cache % 2 == 1,
        }),
        entry(6, |[frame, ..]| Action::RemoveFrame { frame }),
        entry(6, |[page, ..]| Action::Back { page }),
        entry(3, |[frame, ..]| Action::SameDocument { frame }),
        entry(3, |[frame, download, ..]| Action::Abort { frame, download: download % 2 == 1 }),
        entry(3, |[nth, ..]| Action::Finish { nth }),
        entry(3, |[page, ..]| Action::Reload { page }),
        entry(2, |[frame, ..]| Action::Crash { frame }),
        entry(12, |[frame, kind, ..]| Action::OpenDialog { frame, kind: make_kind(kind) }),
        entry(3, |[nth, accept, ..]| Action::CloseDialog { nth, accept: accept % 2 == 1 }),
        entry(3, |[opener, site, kind, _]| Action::Popup {
            opener,
            to: Place::Site(site),
            dialog: (kind % 3 == 2).then(|| make_kind(kind / 3)),
        }),
        entry(1, |[page, ..]| Action::ClosePage { page }),
        entry(1, |_| Action::NewPage),
        entry(2, |[frame, service, ..]| Action::StartWorker { frame, service: service % 2 == 1 }),
        entry(1, |[session, ..]| Action::Detach { session }),
        entry(1, |_| Action::DropSocket),
    ]
}

fn entry(weight: u32, make: fn([u8; 4]) -> Action) -> Entry {
    Entry { weight, make }
}

/// Sites come more often than the rest: borders between processes are what is hard.
fn make_place(byte: u8) -> Place {
    match byte % 10 {
        6 => Place::Blank,
        7 => Place::Data,
        8 => Place::Srcdoc,
        9 => Place::Sandboxed,
        site => Place::Site(site),
    }
}

fn make_kind(byte: u8) -> DialogType {
    match byte % 4 {
        0 => DialogType::Alert,
        1 => DialogType::Confirm,
        2 => DialogType::Prompt,
        _ => DialogType::Beforeunload,
    }
}
