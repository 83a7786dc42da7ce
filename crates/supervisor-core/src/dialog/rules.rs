//! What the browser's dialog events mean.

use cdp_wire::page::{DialogType, JavascriptDialogClosed, JavascriptDialogOpening};
use cdp_wire::{FrameId, TargetId};

use crate::bridge::rules as bridge;
use crate::call::held;
use crate::connection;
use crate::context::Cx;
use crate::dialog::answer as dialog_answer;
use crate::dialog::flood;
use crate::dialog::preset::Of;
use crate::dialog::{ClosedBy, DialogOpening, Kept, Open, Progress, Reason, Source, Unanswerable};
use crate::event::{Event, FrameInfo};
use crate::guard::rules as guard;
use crate::guard::{GuardEvent, Why};
use crate::ids::{DialogId, Route};
use crate::limits::{ANSWER_CONFIRM, MAX_SHOWN_TEXT, MAX_UNEXPLAINED};
use crate::options::DialogPolicy;
use crate::session::attach::free_page;
use crate::shown::{Shown, cut, without_fragment};

pub(crate) fn opening(cx: &mut Cx<'_>, route: &Route, event: &JavascriptDialogOpening<'_>) {
    if !cx.state().is_page_session(route) {
        // Browsers report dialogs on page sessions only.
        cx.meters().protocol_violations += 1;
        return;
    }
    let Some(page) = cx.state().sessions.get(route).map(|session| session.page.clone()) else { return };
    let dialog = describe(route, &page, event);
    let mut overlaps = None;
    if let Some((id, open)) = cx.state().open_dialog(&page) {
        // What the guard carries had opened before this session listened.
        let is_known = open.kept == Kept::ByMain && !open.seen_by.contains(route);
        if is_known && open.opening.is_same(&dialog) {
            cx.emit(Event::DialogSeenAgain { id, route: route.clone() });
            return;
        }
        // Whose answer closed it, the guard is about to say.
        let is_closing = open.kept != Kept::ByMain && matches!(open.progress, Progress::Closing(_));
        overlaps = if is_closing { None } else { make_room(cx, id, &dialog) };
    }
    bridge::native_opened(cx, &dialog);
    if dialog.frame.as_ref().is_some_and(|frame| cx.state().frames.was_removed(frame)) {
        return opened_too_late(cx, dialog);
    }
    let is_kept_open = dialog.has_browser_handler;
    let preset = event.default_prompt.as_deref().unwrap_or_default();
    opened(cx, New { overlaps, ..New::of(dialog, preset) });
    if !is_kept_open && cx.state().guard.in_use() {
        guard::unsuited(cx, Why::ClosesDialogs);
    }
}

/// The removal of its frame was heard of first: nobody must answer it.
pub(crate) fn opened_too_late(cx: &mut Cx<'_>, dialog: DialogOpening) {
    let (id, page, keeps_open) = (cx.state().dialogs.next, dialog.page.clone(), dialog.has_browser_handler);
    cx.emit(Event::DialogOpened { id, dialog: Box::new(dialog), watchdog: None });
    if keeps_open {
        let why = Unanswerable::FrameRemoved;
        cx.emit(Event::DialogUnanswerable { id, why });
        cx.emit(Event::PageBlocked { target: page, why, dialog: Some(id) });
    }
    end(cx, id, ClosedBy::Remote, Some(Reason::TargetGone), None, None);
}

pub(crate) fn describe(route: &Route, page: &TargetId, event: &JavascriptDialogOpening<'_>) -> DialogOpening {
    DialogOpening {
        page: page.clone(),
        route: route.clone(),
        frame: event.frame_id.as_ref().map(|id| FrameId::from(id.as_str())),
        kind: event.kind,
        message: Shown::new(&event.message),
        default_prompt: cut(event.default_prompt.as_deref().unwrap_or_default(), MAX_SHOWN_TEXT).to_owned(),
        url: cut(&event.url, MAX_SHOWN_TEXT).to_owned(),
        source: Source::Native,
        has_browser_handler: event.has_browser_handler,
        paused: None,
    }
}

/// The page already shows a dialog: the new one takes its place. A browser that keeps dialogs open loses track of both.
pub(crate) fn make_room(cx: &mut Cx<'_>, id: DialogId, next: &DialogOpening) -> Option<Unanswerable> {
    let open = cx.state().dialogs.open.get(&id)?;
    let closed_already = !open.is_showing();
    // Older browsers name no frame.
    let place =
        |dialog: &DialogOpening| (dialog.frame.clone(), dialog.frame.is_none().then(|| dialog.url.clone()));
    let same_process = place(&open.opening) == place(next);
    if closed_already || same_process {
        // Its end was reported, or its renderer is running again: another party closed it.
        let (accepted, input) =
            (closed_already.then(|| open.answer().is_some_and(|answer| answer.accept)), None);
        end(cx, id, ClosedBy::Remote, Some(Reason::OtherClient), accepted, input);
        return None;
    }
    let keeps_open = open.opening.has_browser_handler;
    let owed = if keeps_open { vec![open.opening.route.clone()] } else { Vec::new() };
    end_owing(cx, id, ClosedBy::Remote, Some(Reason::Overlap), Some(false), None, owed);
    keeps_open.then_some(Unanswerable::Overlap)
}

/// A dialog that opens.
pub(crate) struct New<'n> {
    pub(crate) dialog: DialogOpening,
    /// The default text of a prompt, whole.
    pub(crate) preset: &'n str,
    /// Why nobody can answer it, should it be so from the start.
    pub(crate) overlaps: Option<Unanswerable>,
    /// The guard's session, when that alone saw it: it is carried from the start.
    pub(crate) carried: Option<Route>,
}

impl<'n> New<'n> {
    pub(crate) fn of(dialog: DialogOpening, preset: &'n str) -> Self {
        Self { dialog, preset, overlaps: None, carried: None }
    }
}

/// A dialog opened, native or not.
pub(crate) fn opened(cx: &mut Cx<'_>, new: New<'_>) {
    let New { dialog, preset, overlaps, carried } = new;
    let id = cx.state().dialogs.next;
    let page = dialog.page.clone();
    let options = &cx.state().options;
    let waits = options.dialog_policy == DialogPolicy::MustRespond && !cx.is_observing();
    let watchdog = waits.then(|| cx.at.after(options.dialog_timeout));
    cx.desk.presets.keep(Of::Dialog(id), preset);
    cx.emit(Event::DialogOpened { id, dialog: Box::new(dialog), watchdog });
    flood::noticed(cx, &page);
    if let Some(route) = carried {
        cx.emit(Event::Guard(GuardEvent::Carries { id, route: Some(route), sure: true }));
    }
    if let Some(why) = overlaps {
        cx.emit(Event::DialogUnanswerable { id, why });
        cx.emit(Event::PageBlocked { target: page, why, dialog: Some(id) });
    }
    held::dialog_opened(cx, id);
    dialog_answer::by_policy(cx, id);
}

pub(crate) fn closed(cx: &mut Cx<'_>, route: &Route, event: &JavascriptDialogClosed<'_>) {
    if !cx.state().is_page_session(route) {
        cx.meters().protocol_violations += 1;
        return;
    }
    let Some(page) = cx.state().sessions.get(route).map(|session| session.page.clone()) else { return };
    let frame = event.frame_id.as_ref().map(|id| FrameId::from(id.as_str()));
    let open = cx
        .state()
        .open_dialog(&page)
        .filter(|(_, open)| open.is_showing())
        .map(|(id, open)| (id, open.clone()));
    if is_owed(cx, &page, route, frame.as_ref(), open.as_ref().map(|(_, open)| open)) {
        cx.emit(Event::DialogEndRepeated { page, route: route.clone(), frame });
        return;
    }
    match open {
        Some((id, open)) => {
            let owed = open.seen_by.iter().filter(|seen| *seen != route).cloned().collect();
            let cause = cause(cx, &open, event.result);
            let end = End { accepted: event.result, user_input: &event.user_input, owed, cause };
            ended_by_browser(cx, id, &open, end);
        }
        // It was open before we came, and is gone now.
        None => free_page(cx, &page),
    }
}

/// Whether this `Closed` is one that is still to come for a dialog that has ended.
fn is_owed(
    cx: &Cx<'_>,
    page: &TargetId,
    route: &Route,
    frame: Option<&FrameId>,
    open: Option<&Open>,
) -> bool {
    let is_owed = cx.state().pages.get(page).is_some_and(|page| page.slot.owed_at(route, frame).is_some());
    let fits_open =
        open.is_some_and(|open| open.seen_by.contains(route) && frame == open.opening.frame.as_ref());
    // A session reports dialogs in their order: what it owes comes before the end of the open one. An overlapped dialog
    // of another frame is told apart by its frame.
    is_owed && (!fits_open || open.is_none_or(|open| frame == open.opening.frame.as_ref()))
}

/// How the browser says that a dialog ended.
pub(crate) struct End<'e> {
    /// Whether it was accepted.
    pub(crate) accepted: bool,
    /// What was typed.
    pub(crate) user_input: &'e str,
    /// The sessions that will say so once more.
    pub(crate) owed: Vec<Route>,
    /// What closed it, should it have been none of us.
    pub(crate) cause: Option<Reason>,
}

pub(crate) fn ended_by_browser(cx: &mut Cx<'_>, id: DialogId, open: &Open, end: End<'_>) {
    let End { accepted, user_input, owed, cause } = end;
    match &open.progress {
        Progress::Answering(answer) if answer.accept == accepted => {
            let until = cx.at.after(ANSWER_CONFIRM);
            cx.emit(Event::DialogClosing { id, accepted, until });
        }
        Progress::Taken(answer) if answer.accept == accepted => {
            let (by, input) = (answer.by.into(), answer.user_input.clone());
            end_owing(cx, id, by, None, Some(accepted), input, owed);
        }
        _ => {
            let is_prompt = open.opening.kind == DialogType::Prompt;
            let input = (is_prompt && accepted).then(|| cut(user_input, MAX_SHOWN_TEXT).to_owned());
            end_owing(cx, id, ClosedBy::Remote, cause, Some(accepted), input, owed);
        }
    }
}

/// What closed a dialog that we did not: only a person or a client accepts; a navigation dismisses.
fn cause(cx: &Cx<'_>, open: &Open, accepted: bool) -> Option<Reason> {
    let leaves =
        cx.state().is_navigating(&open.opening.page) && open.opening.kind != DialogType::Beforeunload;
    match accepted {
        true => Some(Reason::OtherClient),
        false if leaves => Some(Reason::Navigation),
        false => None,
    }
}

/// Ends a dialog: the record, whoever waited for it, and the calls that it held.
pub(crate) fn end(
    cx: &mut Cx<'_>,
    id: DialogId,
    by: ClosedBy,
    reason: Option<Reason>,
    accepted: Option<bool>,
    user_input: Option<String>,
) {
    end_owing(cx, id, by, reason, accepted, user_input, Vec::new());
}

pub(crate) fn end_owing(
    cx: &mut Cx<'_>,
    id: DialogId,
    by: ClosedBy,
    reason: Option<Reason>,
    accepted: Option<bool>,
    user_input: Option<String>,
    owed: Vec<Route>,
) {
    let Some(open) = cx.state().dialogs.open.get(&id).cloned() else { return };
    cx.emit(Event::DialogEnded { id, by, reason, accepted, user_input, owed });
    cx.desk.presets.forget(&Of::Dialog(id));
    dialog_answer::tell(cx, id, &open, by, reason);
    dialog_answer::may_be_hit(cx, id);
    held::dialog_ended(cx, id);
    bridge::closed_by_others(cx, id);
    explain_older(cx, &open.opening.page);
    let was_why = |page: &crate::page::Page| page.blocked.as_ref().is_some_and(|it| it.dialog == Some(id));
    let page = &open.opening.page;
    let stays_blocked = match open.unanswerable {
        Some(Unanswerable::FrameRemoved) => true,
        // Nothing happened to the page itself.
        Some(why) => why.is_deadly() && reason == Some(Reason::Disconnected),
        None => false,
    };
    if !stays_blocked && cx.state().pages.get(page).is_some_and(was_why) {
        cx.emit(Event::PageFreed { target: page.clone() });
    }
    connection::stop_if_answered(cx);
    guard::dialog_ended(cx);
}

/// Ends the dialog that is open on a page, whatever the page says about it.
pub(crate) fn end_open(cx: &mut Cx<'_>, page: &TargetId, reason: Reason) {
    if let Some((id, _)) = cx.state().open_dialog(page) {
        end(cx, id, ClosedBy::Remote, Some(reason), None, None);
    }
}

/// A new document takes the place of one that has a dialog open. A browser that does not keep dialogs open says nothing of
/// its end, and dies of an answer that comes after.
pub(crate) fn left_behind(cx: &mut Cx<'_>, route: &Route, document: &FrameInfo) {
    let Some(page) = cx.state().sessions.get(route).map(|session| session.page.clone()) else { return };
    let is_main = document.parent.is_none() && cx.state().is_page_session(route);
    let is_there = |dialog: &DialogOpening| dialog.frame.as_ref().map_or(is_main, |it| *it == document.id);
    // The new document's own dialog may be reported before the document is.
    let is_older = |dialog: &DialogOpening| without_fragment(&dialog.url) != without_fragment(&document.url);
    let is_silent =
        |dialog: &DialogOpening| !dialog.has_browser_handler && dialog.kind != DialogType::Beforeunload;
    let open = cx.state().open_dialog(&page).map(|(id, open)| (id, &open.opening));
    let left = open.filter(|(_, dialog)| is_silent(dialog) && is_there(dialog) && is_older(dialog));
    if let Some((id, _)) = left {
        end(cx, id, ClosedBy::Remote, Some(Reason::Navigation), None, None);
    }
}

/// The cause of ends that were not explained yet arrived.
pub(crate) fn explain(cx: &mut Cx<'_>, page: &TargetId, reason: Reason) {
    let unexplained: Vec<_> = {
        let recent = cx.state().dialogs.recent.iter();
        recent.filter(|it| it.opening.page == *page && is_unexplained(cx, it.id)).map(|it| it.id).collect()
    };
    for id in unexplained {
        cx.emit(Event::DialogReasonKnown { id, reason });
    }
}

fn is_unexplained(cx: &Cx<'_>, id: DialogId) -> bool {
    cx.state().deadlines.get(&crate::deadlines::Due::Reason(id)).is_some()
}

/// Ends whose cause cannot be told any more, or will not come: a page has one dialog at a time, so that whatever closed the
/// oldest of many is over.
fn explain_older(cx: &mut Cx<'_>, page: &TargetId) {
    let state = cx.state();
    let is_of_page = |id: &DialogId| state.dialogs.closed(*id).is_some_and(|it| it.opening.page == *page);
    let (shown, forgotten): (Vec<_>, Vec<_>) =
        state.deadlines.unexplained().partition(|id| state.dialogs.closed(*id).is_some());
    let of_page: Vec<DialogId> = shown.into_iter().filter(is_of_page).collect();
    for id in forgotten {
        cx.emit(Event::DialogReasonKnown { id, reason: Reason::Unknown });
    }
    if of_page.len() > MAX_UNEXPLAINED {
        reason_missing(cx, of_page[0]);
    }
}

/// Nothing else explains it: somebody dismissed it.
pub(crate) fn reason_missing(cx: &mut Cx<'_>, id: DialogId) {
    cx.emit(Event::DialogReasonKnown { id, reason: Reason::OtherClient });
    bridge::closed_by_others(cx, id);
}
