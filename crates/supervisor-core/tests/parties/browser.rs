//! A browser with two pages and two clients, for what the browser model does not have: a second connection. It knows dialogs
//! as Chromium with a user interface has them. Each page has an iframe in a process of its own, so that dialogs overlap.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

/// The connections.
pub(crate) const MAIN: usize = 0;
pub(crate) const GUARD: usize = 1;

pub(crate) const PAGES: usize = 2;

/// A process: that of a page's main frame, or of its iframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) page: usize,
    pub(crate) is_iframe: bool,
}

impl Place {
    pub(crate) fn frame(self) -> String {
        format!("{}{}", if self.is_iframe { "B" } else { "P" }, self.page)
    }
}

/// A dialog that is open.
#[derive(Debug, Clone)]
pub(crate) struct Dialog {
    pub(crate) number: usize,
    pub(crate) place: Place,
    /// The clients that were told and can answer.
    pub(crate) told: [bool; 2],
    pub(crate) answerable: bool,
}

/// What closed a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// An answer on this connection.
    Answer(usize),
    /// Another client, or a person.
    Other,
    /// A second dialog.
    Overlap,
    /// The page was left: nobody could answer it any more.
    Left,
}

/// How a dialog ended in truth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) cause: Cause,
    pub(crate) accepted: bool,
}

/// One client's connection.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub(crate) is_open: bool,
    /// Sessions, each with what it is attached to and whether it hears of dialogs.
    pub(crate) sessions: BTreeMap<String, (Place, bool)>,
    pub(crate) down: VecDeque<String>,
    /// Replies that wait for a process that a dialog blocks.
    pub(crate) held: Vec<(Place, Value)>,
}

#[derive(Debug, Default)]
pub(crate) struct Browser {
    pub(crate) wires: [Wire; 2],
    pub(crate) open: Vec<Dialog>,
    /// All that ever opened.
    pub(crate) opened: usize,
    /// Those that the guard could answer when they opened.
    pub(crate) guarded: Vec<bool>,
    pub(crate) ends: BTreeMap<usize, End>,
    /// The page of each.
    pub(crate) pages: Vec<usize>,
    pub(crate) sessions: usize,
}

impl Browser {
    pub(crate) fn connect(&mut self, wire: usize) {
        self.wires[wire] = Wire { is_open: true, ..Wire::default() };
    }

    /// A client is gone, with what was on its way to it. What only it could answer, nobody can.
    pub(crate) fn drop_wire(&mut self, wire: usize) {
        self.wires[wire] = Wire::default();
        for dialog in &mut self.open {
            dialog.told[wire] = false;
            dialog.answerable &= dialog.told.contains(&true);
        }
    }

    pub(crate) fn is_blocked(&self, place: Place) -> bool {
        self.open.iter().any(|dialog| dialog.place == place)
    }

    /// The dialog that an answer on this connection would reach.
    pub(crate) fn answerable(&self, wire: usize, page: usize) -> Option<usize> {
        let reaches = |it: &&Dialog| it.place.page == page && it.answerable && it.told[wire];
        self.open.iter().find(reaches).map(|dialog| dialog.number)
    }

    /// A script opens a dialog, where it can run and the page can show one.
    pub(crate) fn ask(&mut self, place: Place) {
        let on_page: Vec<Dialog> =
            self.open.iter().filter(|it| it.place.page == place.page).cloned().collect();
        if self.is_blocked(place) || on_page.iter().any(|dialog| !dialog.answerable) {
            return;
        }
        let told = [MAIN, GUARD].map(|wire| self.hears(wire, place.page).is_some());
        let number = self.opened;
        let answerable = told.contains(&true) && on_page.is_empty();
        self.opened += 1;
        self.pages.push(place.page);
        self.guarded.push(told[GUARD] && on_page.is_empty());
        self.open.push(Dialog { number, place, told, answerable });
        let params = json!({"url": "http://a.test/", "frameId": place.frame(), "message": format!("m{number}"),
            "type": "confirm", "hasBrowserHandler": true, "defaultPrompt": ""});
        self.tell(place.page, "Page.javascriptDialogOpening", &params);
        if let Some(first) = on_page.first() {
            self.close(first.number, End { cause: Cause::Overlap, accepted: false });
        }
    }

    pub(crate) fn close(&mut self, number: usize, end: End) {
        let Some(at) = self.open.iter().position(|dialog| dialog.number == number) else { return };
        let place = self.open.remove(at).place;
        assert!(self.ends.insert(number, end).is_none(), "m{number} ended twice");
        let params = json!({"frameId": place.frame(), "result": end.accepted, "userInput": ""});
        self.tell(place.page, "Page.javascriptDialogClosed", &params);
        for wire in &mut self.wires {
            let held = std::mem::take(&mut wire.held);
            let (ready, held): (Vec<_>, Vec<_>) = held.into_iter().partition(|(of, _)| *of == place);
            wire.held = held;
            wire.down.extend(ready.into_iter().map(|(_, reply)| reply.to_string()));
        }
    }

    /// The session on which this client hears of the page's dialogs.
    fn hears(&self, wire: usize, page: usize) -> Option<String> {
        let place = Place { page, is_iframe: false };
        let mut sessions = self.wires[wire].sessions.iter();
        sessions.find(|(_, (of, enabled))| *of == place && *enabled).map(|(session, _)| session.clone())
    }

    fn tell(&mut self, page: usize, method: &str, params: &Value) {
        for wire in [MAIN, GUARD] {
            if let Some(session) = self.hears(wire, page) {
                let message = json!({"method": method, "params": params, "sessionId": session});
                self.wires[wire].down.push_back(message.to_string());
            }
        }
    }
}
