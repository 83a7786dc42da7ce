//! Commands that would end the browser, because of what is open on a page or was lost there.

use cdp_wire::{BrowserContextId, TargetId};
use serde::Deserialize;

use crate::call::raw;
use crate::dialog::{Open, Source};
use crate::ids::Route;
use crate::page::Page;
use crate::state::State;

const UNDER_A_DIALOG: &str = "a dialog of a frame in another process is open on that page: closing the page now crashes the whole \
    browser; answer the dialog first";

/// Why this command must not be sent, if it must not.
pub(crate) fn command(state: &State, route: &Route, method: &str, params: &str) -> Option<&'static str> {
    let page = state.sessions.get(route).map(|session| &session.page);
    let of_page = page.and_then(|target| Some((target, state.pages.get(target)?)));
    of_page
        .and_then(|(target, page)| on_page(state, target, page, method))
        .or_else(|| on_named(state, method, params))
}

fn on_page(state: &State, target: &TargetId, page: &Page, method: &str) -> Option<&'static str> {
    raw::kills(method, page).or_else(|| {
        let closes = matches!(method, "Page.close" | "Target.closeTarget");
        (closes && has_foreign_dialog(state, target, page)).then_some(UNDER_A_DIALOG)
    })
}

/// Commands that name what they close in their parameters.
fn on_named(state: &State, method: &str, params: &str) -> Option<&'static str> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        target_id: Option<TargetId>,
        browser_context_id: Option<BrowserContextId>,
    }
    if !matches!(method, "Target.closeTarget" | "Target.disposeBrowserContext") {
        return None;
    }
    let named = serde_json::from_str::<Named>(params).ok()?;
    let is_named = |target: &TargetId, page: &Page| {
        named.target_id.as_ref() == Some(target)
            || named.browser_context_id.is_some() && page.context == named.browser_context_id
    };
    let mut pages = state.pages.iter().filter(|(target, page)| is_named(target, page));
    pages.find_map(|(target, page)| on_page(state, target, page, "Target.closeTarget"))
}

/// Measured on Chromium 156, new headless: closing a page, or its browser context, crashes the browser while the dialog of an
/// out-of-process iframe is open there and somebody listens. Navigating closes the dialog, and does no harm.
fn has_foreign_dialog(state: &State, target: &TargetId, page: &Page) -> bool {
    let is_one = |open: &Open| {
        let opening = &open.opening;
        let kept = opening.source == Source::Native && opening.has_browser_handler && open.is_showing();
        let frame = opening.frame.as_ref().and_then(|frame| state.frames.get(frame));
        kept && frame.is_some_and(|frame| frame.owner.as_ref() != Some(&page.route))
    };
    state.open_dialog(target).is_some_and(|(_, open)| is_one(open))
}
