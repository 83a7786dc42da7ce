//! Iframes that go while they are being set up, counted by the events of a task.

use supervisor::supervisor_core::{CommandId, Route};
use supervisor::{Event, FrameId};

/// Commands that are not answered yet, and the iframes whose sessions they are for.
#[derive(Default)]
pub struct SetUps {
    waiting: Vec<(CommandId, Route)>,
    frames: Vec<(FrameId, Route)>,
}

impl SetUps {
    /// Whether this ends an iframe whose set-up was not done.
    pub fn is_cut_short(&mut self, event: &Event) -> bool {
        match event {
            Event::IframeAttached { frame, route, .. } => self.frames.push((frame.clone(), route.clone())),
            Event::CommandSent { id, route, .. } => self.waiting.push((*id, route.clone())),
            Event::CommandAnswered { id, ok: true } => self.waiting.retain(|(waiting, _)| waiting != id),
            Event::SessionGone { route } => return self.waits(route),
            Event::FrameGone { frame } => {
                return self.frames.iter().any(|(known, route)| known == frame && self.waits(route));
            }
            _ => {}
        }
        false
    }

    fn waits(&self, route: &Route) -> bool {
        self.frames.iter().any(|(_, known)| known == route)
            && self.waiting.iter().any(|(_, waiting)| waiting == route)
    }
}
