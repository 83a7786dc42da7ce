//! Folding the events of the bridge.

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
