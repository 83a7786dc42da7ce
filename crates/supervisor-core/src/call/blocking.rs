//! What a dialog blocks: the commands that hang, and the sessions whose renderer it stops.
//!
//! The tables were measured on Chromium: with a dialog open, each command was sent to the blocked page and either answered
//! or not.

use std::collections::BTreeSet;

use cdp_wire::TargetId;

use crate::call::{Call, CallStage};
use crate::dialog::Open;
use crate::ids::{DialogId, Route};
use crate::shown::without_fragment;
use crate::state::State;

/// What becomes of a command while a dialog blocks its renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The browser process answers it.
    Answered,
    /// It is answered when the dialog is gone.
    Hangs,
    /// It is acknowledged and does nothing, which is worse.
    Swallowed,
}

/// What becomes of this command while a dialog blocks its renderer. Unknown commands are taken to hang.
pub(crate) fn fate(method: &str) -> Fate {
    match method {
        "Target.setAutoAttach" | "Input.insertText" | "Network.enable" => Fate::Hangs,
        "Page.handleJavaScriptDialog"
        | "Page.getNavigationHistory"
        | "Page.bringToFront"
        | "Page.stopLoading"
        | "Page.navigate"
        | "Page.reload"
        | "Page.close"
        | "Network.getCookies"
        | "Network.setCookie"
        | "Network.setCookies"
        | "Network.deleteCookies"
        | "Network.clearBrowserCookies"
        | "Network.clearBrowserCache" => Fate::Answered,
        _ => match method.split_once('.').map(|(domain, _)| domain) {
            Some(
                "Browser" | "Target" | "Storage" | "Fetch" | "SystemInfo" | "IO" | "Tracing" | "Tethering",
            ) => Fate::Answered,
            Some("Input") => Fate::Swallowed,
            _ => Fate::Hangs,
        },
    }
}

/// Whether only the renderer can answer the command.
pub(crate) fn needs_renderer(method: &str) -> bool {
    method != "Target.setAutoAttach" && fate(method) == Fate::Hangs
}

/// Whether the reply to this command waits for what the page does on the way, dialogs included.
pub(crate) fn is_navigation(method: &str) -> bool {
    matches!(method, "Page.navigate" | "Page.reload" | "Page.navigateToHistoryEntry" | "Page.close")
}

/// The dialog that must be answered before its page may be left. A browser that does not keep dialogs open is not made to
/// close them by a navigation: within a site the page is stuck for good, and to another site the next answer ends the
/// browser.
pub(crate) fn dialog_that_forbids(state: &State, route: &Route, method: &str) -> Option<DialogId> {
    let leaves = matches!(method, "Page.navigate" | "Page.reload" | "Page.navigateToHistoryEntry");
    let session = state.sessions.get(route).filter(|_| leaves)?;
    let (id, open) = state.open_dialog(&session.page)?;
    (open.is_showing() && !open.opening.has_browser_handler).then_some(id)
}

/// The dialog that blocks the renderer behind this session, as far as it can be known.
pub(crate) fn dialog_that_blocks(state: &State, route: &Route) -> Option<DialogId> {
    let mut open = state.dialogs.open.iter().filter(|(_, open)| open.is_showing()).peekable();
    open.peek()?;
    let blocks = |open: &Open| owner(state, open).is_some_and(|owner| is_shared(state, &owner, route));
    open.find(|(_, open)| blocks(open)).map(|(id, _)| *id).or_else(|| dialog_found_out(state, route))
}

/// The dialog that was found out to hold a call there, whose renderer was asked in vain.
fn dialog_found_out(state: &State, route: &Route) -> Option<DialogId> {
    let here = state.calls.open.values().filter(|call| call.route == *route && call.pulse.is_some());
    let holder = |call: &Call| match call.stage {
        CallStage::Interrupted(dialog, _) => Some(dialog),
        CallStage::Waiting | CallStage::Running => None,
    };
    let is_open = |dialog: &DialogId| state.dialogs.open.get(dialog).is_some_and(Open::is_showing);
    here.filter_map(holder).find(is_open)
}

/// The dialog that may block the renderer behind this session: nobody tells whether.
pub(crate) fn dialog_that_may_block(state: &State, route: &Route) -> Option<DialogId> {
    let mut open = state.dialogs.open.iter().filter(|(_, open)| open.is_showing());
    open.find(|(_, open)| may_block(state, open, route)).map(|(id, _)| *id)
}

/// Whether a dialog may block the renderer behind this session, though that cannot be known.
pub(crate) fn may_block(state: &State, open: &Open, route: &Route) -> bool {
    let Some(session) = state.sessions.get(route) else { return false };
    let Some(owner) = owner(state, open) else { return session.page == open.opening.page };
    if is_shared(state, &owner, route) {
        return false;
    }
    match (process(state, &owner), process(state, route)) {
        (Some(one), Some(other)) => one.1 == other.1 && may_be_one_site(one.2, other.2),
        // Before its first document a page is where its opener is.
        _ => are_related(state, &owner, route),
    }
}

/// The dialog that may block the renderer behind this session, of a page that can script its page.
pub(crate) fn dialog_of_relatives(state: &State, route: &Route) -> Option<DialogId> {
    let is_related =
        |open: &Open| may_block(state, open, route) && are_related(state, &open.opening.route, route);
    state.dialogs.open.iter().find(|(_, open)| open.is_showing() && is_related(open)).map(|(id, _)| *id)
}

/// Whether two sessions are of pages that can script each other.
fn are_related(state: &State, one: &Route, other: &Route) -> bool {
    let family = |route| state.sessions.get(route).map(|session| state.pages.family(&session.page));
    family(one) == family(other)
}

/// Whether two hosts may be of one site: nobody here knows which domains are registrable, but all have two labels at least.
fn may_be_one_site(one: &str, other: &str) -> bool {
    let domain = |site: &str| {
        let (scheme, host) = site.split_once("://")?;
        let is_name = host.contains(|c: char| !c.is_ascii_digit() && c != '.') && !host.starts_with('[');
        let labels: Vec<&str> = host.rsplit('.').take(if is_name { 2 } else { usize::MAX }).collect();
        Some((scheme.to_owned(), labels.join(".")))
    };
    domain(one) == domain(other)
}

/// Whether two sessions are known to be of one renderer process.
fn is_shared(state: &State, one: &Route, other: &Route) -> bool {
    let is_known = state.sessions.get(other).is_some();
    is_known && (one == other || process(state, one).is_some_and(|it| process(state, other) == Some(it)))
}

/// The sessions that a dialog is known to block: those whose renderer process is that of its frame. Same-site pages that
/// can script each other share one; whether two others do, nobody tells.
pub(crate) fn group(state: &State, open: &Open) -> BTreeSet<Route> {
    let Some(owner) = owner(state, open) else { return BTreeSet::new() };
    let process = process(state, &owner);
    let shares =
        |route: &Route| *route == owner || (process.is_some() && self::process(state, route) == process);
    state.sessions.iter().map(|(route, _)| route).filter(|route| shares(route)).cloned().collect()
}

/// The session of the process that raised the dialog. Older browsers name no frame: then the page's only process leaves no
/// doubt, nor does a URL that only frames of one process have.
pub(crate) fn owner(state: &State, open: &Open) -> Option<Route> {
    match &open.opening.frame {
        Some(frame) => match state.frames.get(frame) {
            Some(frame) => frame.owner.clone(),
            // A frame that is not known yet can only be one of a document that was just committed there.
            None => Some(open.opening.route.clone()),
        },
        None => {
            let has_children =
                state.sessions.get(&open.opening.route).is_some_and(|page| !page.children.is_empty());
            if has_children { owner_by_url(state, open) } else { Some(open.opening.route.clone()) }
        }
    }
}

fn owner_by_url(state: &State, open: &Open) -> Option<Route> {
    let frames = state.frames.of_page(&open.opening.page).filter_map(|id| state.frames.get(id));
    let fits = frames.filter(|frame| without_fragment(&frame.url) == without_fragment(&open.opening.url));
    let owners: BTreeSet<_> = fits.filter_map(|frame| frame.owner.as_ref()).collect();
    owners.first().filter(|_| owners.len() == 1).map(|owner| (*owner).clone())
}

/// What identifies a renderer process: the family of pages that can script each other, the site, and whether it is for
/// sandboxed documents of that site. Ports do not make a site; whether two different hosts share one is not decided here.
fn process<'s>(state: &'s State, route: &Route) -> Option<(TargetId, bool, &'s str)> {
    let session = state.sessions.get(route)?;
    let root = state.root_frame(route)?;
    let own = state.origin(&root);
    let is_sandboxed = own == "null";
    let origin = if is_sandboxed { &state.frames.get(&root)?.origin } else { own };
    let (scheme, rest) = origin.split_once("://")?;
    let host = rest
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
        .map_or(rest, |it| it.0);
    let site = &origin[..scheme.len() + 3 + host.len()];
    (!host.is_empty()).then(|| (state.pages.family(&session.page), is_sandboxed, site))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_site_share_two_labels() {
        assert!(may_be_one_site("http://www.a.test", "http://a.test"));
        assert!(may_be_one_site("http://www.a.test", "http://x.y.a.test"));
        assert!(may_be_one_site("http://a.test", "http://a.test"));
        assert!(!may_be_one_site("http://a.test", "https://a.test"));
        assert!(!may_be_one_site("http://a.test", "http://b.test"));
        assert!(!may_be_one_site("http://10.0.0.1", "http://127.0.0.1"));
        assert!(!may_be_one_site("http://[::1]", "http://[::2]"));
    }

    #[test]
    fn the_table_is_what_was_measured() {
        let hang = [
            "Runtime.evaluate",
            "Runtime.enable",
            "Runtime.terminateExecution",
            "Page.enable",
            "Page.disable",
            "Page.getFrameTree",
            "Page.getLayoutMetrics",
            "Page.captureScreenshot",
            "Page.createIsolatedWorld",
            "Page.addScriptToEvaluateOnNewDocument",
            "Page.getResourceTree",
            "Page.setLifecycleEventsEnabled",
            "DOM.getDocument",
            "Accessibility.getFullAXTree",
            "Input.insertText",
            "Network.enable",
            "Log.enable",
            "Emulation.setDeviceMetricsOverride",
            "Target.setAutoAttach",
            "Debugger.enable",
            "Performance.getMetrics",
        ];
        let answered = [
            "Page.handleJavaScriptDialog",
            "Page.getNavigationHistory",
            "Page.bringToFront",
            "Page.stopLoading",
            "Page.navigate",
            "Page.reload",
            "Fetch.enable",
            "Network.getCookies",
            "Storage.getCookies",
            "Target.getTargets",
            "Browser.getVersion",
        ];
        assert!(hang.iter().all(|method| fate(method) == Fate::Hangs));
        assert!(answered.iter().all(|method| fate(method) == Fate::Answered));
        assert_eq!(fate("Input.dispatchMouseEvent"), Fate::Swallowed);
    }
}
