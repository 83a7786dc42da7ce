//! Folding the events of the bridge.

use crate::bridge::{Element, Held};
use crate::deadlines::Due;
use crate::event::Event;
use crate::state::State;

impl State {
    pub(crate) fn apply_bridge(&mut self, event: &Event) {
        match event {
            Event::DialogSnatched { .. } => self.bridge.snatched = self.bridge.snatched.saturating_add(1),
            Event::BridgeTurnedOn { detected } => {
                self.bridge.on = true;
                self.bridge.detected |= detected;
            }
            Event::BridgeTurnedOff => {
                self.bridge.on = false;
                self.forget_scripts();
            }
            Event::BridgeScriptAdded { route, identifier } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.bridge_script = Some(identifier.clone());
                }
            }
            Event::BridgeUnavailable { target, why } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.bridge_unavailable = Some(*why);
                }
            }
            Event::BridgeAvailable { target } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.bridge_unavailable = None;
                }
            }
            Event::BridgeElementAsked { frame } => {
                let frames = &self.frames;
                self.bridge.elements.retain(|frame, _| frames.get(frame).is_some());
                self.bridge.elements.insert(frame.clone(), Element::Asked);
            }
            Event::BridgeElementKnown { frame, is_silent } => {
                let known = if *is_silent { Element::Silent } else { Element::Speaks };
                self.bridge.elements.insert(frame.clone(), known);
            }
            Event::BridgeRequestHeld { dialog, until } => {
                self.bridge.last_held += 1;
                let number = self.bridge.last_held;
                self.bridge.held.push(Held { number, dialog: (**dialog).clone() });
                self.deadlines.set(Due::Held(number), *until);
            }
            Event::BridgeRequestLetGo { number } => {
                self.bridge.held.retain(|held| held.number != *number);
                self.deadlines.cancel(&Due::Held(*number));
            }
            _ => {}
        }
    }

    fn forget_scripts(&mut self) {
        let routes: Vec<_> = self.sessions.iter().map(|(route, _)| route.clone()).collect();
        for route in routes {
            if let Some(session) = self.sessions.get_mut(&route) {
                session.bridge_script = None;
            }
        }
        let pages: Vec<_> = self.pages.iter().map(|(target, _)| target.clone()).collect();
        for target in pages {
            if let Some(page) = self.pages.get_mut(&target) {
                page.bridge_unavailable = None;
            }
        }
    }
}
