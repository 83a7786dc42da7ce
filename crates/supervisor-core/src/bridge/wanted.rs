//! The dialog that a request of a bridge asks for: ours, or another client's that is only watched.

use cdp_wire::FrameId;
use cdp_wire::page::DialogType;

use crate::dialog::{DialogOpening, Source};
use crate::ids::Route;
use crate::limits::MAX_SHOWN_TEXT;
use crate::shown::{Shown, cut};
use crate::state::State;

/// What a script asks, in whatever form it was sent.
pub(crate) struct Wanted<'a> {
    pub(crate) kind: DialogType,
    pub(crate) message: &'a str,
    pub(crate) preset: &'a str,
}

impl Wanted<'_> {
    /// The dialog on the page of its frame, or of its session where the frame is not known; `None` when there is no page.
    pub(crate) fn dialog(&self, state: &State, route: &Route, frame: FrameId) -> Option<DialogOpening> {
        let known = state.frames.get(&frame);
        let page = known
            .map_or_else(|| Some(state.sessions.get(route)?.page.clone()), |it| Some(it.page.clone()))?;
        Some(DialogOpening {
            route: state.pages.get(&page)?.route.clone(),
            page,
            url: known.map(|frame| frame.url.clone()).unwrap_or_default(),
            frame: Some(frame),
            kind: self.kind,
            message: Shown::new(self.message),
            default_prompt: cut(self.preset, MAX_SHOWN_TEXT).to_owned(),
            source: Source::Bridge,
            has_browser_handler: false,
            paused: None,
        })
    }
}
