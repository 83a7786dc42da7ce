//! Answering dialogs: by the host, the policy, the watchdog or `stop`, one at a time, each told the truth.

use cdp_wire::page::{DialogType, HandleJavaScriptDialog};
use cdp_wire::{ReplyError, TargetId};

use crate::bridge::rules as bridge;
use crate::context::Cx;
use crate::dialog::apply::leaves_a_stray;
use crate::dialog::preset::Of;
use crate::dialog::rules::{end, end_owing};
use crate::dialog::{Answerer, Closed, ClosedBy, Kept, Open, Progress, Reason, Unanswerable};
use crate::effect::Outcome;
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::flights::Purpose;
use crate::ids::{DialogId, Req};
use crate::input::{Action, DialogChoice};
use crate::limits::{ANSWER_CONFIRM, MAX_ANSWER_WAITERS, MAX_DEFAULT_PROMPT, MAX_SHOWN_TEXT};
use crate::options::DialogPolicy;
use crate::shown::cut;
use crate::snapshot::view;
use crate::state::State;

/// The host answers.
pub(crate) fn respond(cx: &mut Cx<'_>, req: Req, choice: &DialogChoice, action: &Action) {
    match choose(cx.state(), choice).and_then(|id| answerable(cx.state(), id, action).map(|()| id)) {
        Ok(id) if is_on_its_way(cx.state(), id) => cx.emit(Event::DialogAwaited { id, req }),
        Ok(id) => send(cx, id, Answerer::Agent, Some(req), action),
        Err(failure) => cx.fail(req, failure),
    }
}

/// Whether an answer to it is on its way. It may still lose: whoever comes now is told when that is known.
fn is_on_its_way(state: &State, id: DialogId) -> bool {
    state.dialogs.open.get(&id).is_some_and(|open| open.answer().is_some())
}

/// Which dialog is meant.
fn choose(state: &State, choice: &DialogChoice) -> Result<DialogId, Failure> {
    if let Some(id) = choice.dialog_id {
        return Ok(id);
    }
    let open = state.dialogs.open.iter().filter(|(_, open)| open.is_showing());
    let here = |page: &TargetId| choice.target_id.as_ref().is_none_or(|wanted| wanted == page);
    let candidates: Vec<_> = open.filter(|(_, open)| here(&open.opening.page)).collect();
    match (candidates.as_slice(), &choice.target_id) {
        ([(id, _)], _) => Ok(**id),
        ([], Some(target)) if state.pages.get(target).is_none() => {
            let text = format!("there is no page {target}; take a target_id from the snapshot's `pages`");
            Err(Failure::new(Code::PageGone, text))
        }
        ([], _) => Err(no_dialog(state, choice)),
        _ => {
            let candidates = candidates.iter().map(|(id, open)| view::open(state, **id, open)).collect();
            let text = "more than one dialog is pending; name one of the candidates by its dialog_id";
            Err(Failure::new(Code::AmbiguousDialog, text).with(|detail| detail.candidates = candidates))
        }
    }
}

/// Nothing is pending; where a page is stuck all the same, that is what must be said.
fn no_dialog(state: &State, choice: &DialogChoice) -> Failure {
    let here = |page: &&TargetId| choice.target_id.as_ref().is_none_or(|wanted| wanted == *page);
    let stuck =
        state.pages.iter().filter(|(_, page)| page.blocked.is_some()).map(|(target, _)| target).find(here);
    match stuck {
        Some(page) => {
            let text = format!(
                "page {page} is blocked by something that nobody can answer; its entry in the snapshot's `pages` says \
                 what and which remedies work (see `recover`)"
            );
            Failure::new(Code::Unanswerable, text)
        }
        None => Failure::new(Code::NoDialog, "no dialog is pending; nothing was sent"),
    }
}

/// Whether this dialog can take this answer now.
fn answerable(state: &State, id: DialogId, action: &Action) -> Result<(), Failure> {
    let Some(open) = state.dialogs.open.get(&id) else { return Err(not_open(state, id)) };
    if open.kept == Kept::Unsure(None) {
        let text = format!(
            "the connection was just lost; whether {id} is still open is known in a moment: try again"
        );
        let dialog = view::open(state, id, open);
        return Err(Failure::new(Code::Disconnected, text).with(|detail| detail.dialog = Some(dialog)));
    }
    if open.answer().is_some() && open.waiting.len() < MAX_ANSWER_WAITERS {
        return Ok(());
    }
    if open.answer().is_some() {
        let by = open.answer().map(|answer| ClosedBy::from(answer.by).as_str().to_owned());
        let text = format!("{id} is being answered already, by {}", by.as_deref().unwrap_or("another party"));
        return Err(closed_failure(text, view::open(state, id, open), by));
    }
    if let Some(why) = open.unanswerable {
        let text = format!(
            "nobody can answer {id} any more ({}); the page's entry in the snapshot says which remedies work",
            view::explain(why)
        );
        let dialog = view::open(state, id, open);
        return Err(Failure::new(Code::Unanswerable, text).with(|detail| detail.dialog = Some(dialog)));
    }
    match action {
        Action::Accept { prompt_text: Some(text) } if text.len() > MAX_DEFAULT_PROMPT => {
            let text = format!("prompt_text has {} bytes, at most {MAX_DEFAULT_PROMPT} are sent", text.len());
            Err(Failure::new(Code::InvalidArgument, text))
        }
        _ => Ok(()),
    }
}

fn not_open(state: &State, id: DialogId) -> Failure {
    if let Some(closed) = state.dialogs.closed(id) {
        return lost(state, closed);
    }
    if (state.dialogs.first..state.dialogs.next).contains(&id) {
        return Failure::new(
            Code::AlreadyClosed,
            format!("{id} closed long ago; see recent_dialogs for what is remembered"),
        );
    }
    let text = format!("there is no dialog {id} on this connection; take an id from pending_dialogs");
    Failure::new(Code::UnknownDialog, text)
}

fn lost(state: &State, closed: &Closed) -> Failure {
    let by = closed.by.as_str();
    let text = format!("{} is closed already, by {by}; the page has gone on with that answer", closed.id);
    closed_failure(text, view::closed(state, closed), Some(by.to_owned()))
}

fn closed_failure(text: String, dialog: crate::snapshot::DialogView, won_by: Option<String>) -> Failure {
    Failure::new(Code::AlreadyClosed, text).with(|detail| {
        detail.dialog = Some(dialog);
        detail.won_by = won_by;
    })
}

/// The policy answers what has just opened, if that is its job.
pub(crate) fn by_policy(cx: &mut Cx<'_>, id: DialogId) {
    let action = match cx.state().options.dialog_policy {
        _ if cx.state().connection.stopper.is_some() => return by_stop(cx, id),
        _ if cx.is_observing() => return,
        DialogPolicy::MustRespond => return,
        DialogPolicy::AutoDismiss => Action::Dismiss,
        DialogPolicy::AutoAccept => Action::Accept { prompt_text: None },
    };
    answer_if_pending(cx, id, Answerer::Policy, &action);
}

/// `stop` dismisses: a dialog that outlives its last client can never be answered again.
pub(crate) fn by_stop(cx: &mut Cx<'_>, id: DialogId) {
    answer_if_pending(cx, id, Answerer::Stop, &Action::Dismiss);
}

/// The bridge is turned off: the page is not to be asked again.
pub(crate) fn by_turning_off(cx: &mut Cx<'_>, id: DialogId) {
    answer_if_pending(cx, id, Answerer::Policy, &Action::Dismiss);
}

/// The deadline passed and the host has not answered.
pub(crate) fn watchdog(cx: &mut Cx<'_>, id: DialogId) {
    answer_if_pending(cx, id, Answerer::Watchdog, &Action::Dismiss);
}

fn answer_if_pending(cx: &mut Cx<'_>, id: DialogId, by: Answerer, action: &Action) {
    let is_pending = |open: &Open| matches!(open.progress, Progress::Pending) && open.is_answerable();
    let open = cx.state().dialogs.open.get(&id).filter(|open| is_pending(open));
    if open.is_some_and(|open| has_a_way(cx.state(), open)) {
        send(cx, id, by, None, action);
    }
}

/// Whether there is a connection for an answer to this dialog.
pub(crate) fn has_a_way(state: &State, open: &Open) -> bool {
    match open.kept {
        Kept::ByMain => state.is_connected(),
        Kept::Unsure(None) => false,
        Kept::Unsure(Some(_)) | Kept::ByGuard(_) => true,
    }
}

/// Sends the answer. An accepted prompt always carries a text: without one the browser would give the page an empty
/// text instead of its default.
fn send(cx: &mut Cx<'_>, id: DialogId, by: Answerer, req: Option<Req>, action: &Action) {
    let Some(open) = cx.state().dialogs.open.get(&id) else { return };
    let (route, opening) = (open.opening.route.clone(), &open.opening);
    let prompt_text = match action {
        Action::Accept { prompt_text } if opening.kind == DialogType::Prompt => {
            let preset = cx.desk.presets.get(&Of::Dialog(id)).unwrap_or(&opening.default_prompt);
            Some(prompt_text.as_deref().unwrap_or(preset).to_owned())
        }
        _ => None,
    };
    let accept = action.accepts();
    let user_input = prompt_text.as_deref().map(|text| cut(text, MAX_SHOWN_TEXT).to_owned());
    let command = match (open.opening.paused.clone(), open.kept.by_guard().cloned()) {
        (Some(paused), _) => {
            let reply = bridge::reply(&paused, accept, prompt_text.as_deref());
            cx.send(&paused.route, &reply, Purpose::Answer(id))
        }
        (None, Some(route)) => {
            cx.send_guard(&route, &HandleJavaScriptDialog { accept, prompt_text }, Purpose::Answer(id))
        }
        (None, None) => cx.send(&route, &HandleJavaScriptDialog { accept, prompt_text }, Purpose::Answer(id)),
    };
    cx.emit(Event::DialogAnswering { id, by, req, accept, user_input, command });
}

/// The browser answered our answer.
pub(crate) fn confirmed(cx: &mut Cx<'_>, id: DialogId, error: Option<&ReplyError<'_>>) {
    let Some(open) = cx.state().dialogs.open.get(&id).cloned() else {
        return stray_settled(cx, id, error.is_none());
    };
    match (&open.progress, error) {
        (Progress::Answering(_), None) if open.opening.paused.is_some() => end_as_answered(cx, id, &open),
        // The browser knows of no such request any more: the page went on without it.
        (Progress::Answering(_), Some(_)) if open.opening.paused.is_some() => {
            end(cx, id, ClosedBy::Remote, Some(Reason::TargetGone), None, None);
        }
        (Progress::Answering(_), None) => {
            let until = cx.at.after(ANSWER_CONFIRM);
            cx.emit(Event::DialogTaken { id, until });
        }
        (Progress::Answering(answer), Some(error)) => refused(cx, id, &open, answer.req, error),
        (Progress::Closing(_), None) => end_as_answered(cx, id, &open),
        // It was closed as we would have closed it, but not by us: the browser did not take our answer.
        (Progress::Closing(answer), Some(_)) => {
            let accepted = Some(answer.accept);
            end_owing(cx, id, ClosedBy::Remote, Some(Reason::OtherClient), accepted, None, others(&open));
            stray_settled(cx, id, false);
        }
        (Progress::Pending | Progress::Taken(_), _) => {}
    }
}

/// The sessions that will report the end once more.
fn others(open: &Open) -> Vec<crate::ids::Route> {
    open.seen_by.iter().filter(|seen| **seen != open.opening.route).cloned().collect()
}

pub(crate) fn end_as_answered(cx: &mut Cx<'_>, id: DialogId, open: &Open) {
    if let Some(answer) = open.answer() {
        let (by, input) = (answer.by.into(), answer.user_input.clone());
        end_owing(cx, id, by, None, Some(answer.accept), input, others(open));
    }
}

/// The browser says that no dialog is showing, while we know of one: it has lost track of it.
fn refused(cx: &mut Cx<'_>, id: DialogId, open: &Open, req: Option<Req>, error: &ReplyError<'_>) {
    let page = open.opening.page.clone();
    let why = match &*error.message {
        message if message.contains("Not attached to an active page") => Unanswerable::Reopening,
        _ => open.unanswerable.unwrap_or(Unanswerable::BeforeAttach),
    };
    cx.emit(Event::DialogAnswerRefused { id });
    cx.emit(Event::DialogUnanswerable { id, why });
    cx.emit(Event::PageBlocked { target: page, why, dialog: Some(id) });
    for req in req.into_iter().chain(open.waiting.iter().copied()) {
        let text = format!(
            "the browser refused the answer to {id} ({}); nobody can answer it any more. The page's entry in the \
             snapshot says which remedies work",
            error.message
        );
        let dialog = cx.state().dialogs.open.get(&id).map(|open| view::open(cx.state(), id, open));
        cx.fail(req, Failure::new(Code::Unanswerable, text).with(|detail| detail.dialog = dialog));
    }
    crate::connection::stop_if_answered(cx);
}

/// Tells the host how its answer ended, once that is known.
pub(crate) fn tell(cx: &mut Cx<'_>, id: DialogId, open: &Open, by: ClosedBy, reason: Option<Reason>) {
    if let Some(closed) = cx.state().dialogs.closed(id).filter(|_| !open.waiting.is_empty()) {
        let failure = lost(cx.state(), closed);
        open.waiting.iter().for_each(|req| cx.fail(*req, failure.clone()));
    }
    let Some((answer, req)) = open.answer().and_then(|answer| Some((answer, answer.req?))) else { return };
    let waits = by == ClosedBy::Remote && leaves_a_stray(reason) && open.opening.paused.is_none();
    let Some(closed) = cx.state().dialogs.closed(id).filter(|_| !waits) else { return };
    let outcome = if by == ClosedBy::Remote {
        Outcome::Failed(lost(cx.state(), closed))
    } else {
        let next =
            cx.state().waiting_dialog(&open.opening.page).map(|(id, open)| view::open(cx.state(), id, open));
        let dialog = Box::new(view::closed(cx.state(), closed));
        Outcome::Answered { accepted: answer.accept, dialog, next: next.map(Box::new) }
    };
    cx.reply(req, outcome);
}

/// It is known where an answer went whose dialog another party had closed: nowhere, or into the next dialog.
fn stray_settled(cx: &mut Cx<'_>, id: DialogId, was_taken: bool) {
    let Some(stray) = cx.state().dialogs.strays.iter().find(|stray| stray.meant == id).cloned() else {
        return;
    };
    let mut hit = stray.hit.filter(|_| was_taken);
    // What it hit is what closed last before its reply, on the same socket. That may be a dialog with an answer of its own on
    // the way: then that one is astray now.
    let is_it = |open: &Open| !open.is_showing() && (open.kept != Kept::ByMain) == stray.by_guard;
    let closing = cx.state().open_dialog(&stray.page).filter(|(_, open)| is_it(open)).map(|(id, _)| id);
    if let Some(next) = closing.filter(|_| was_taken) {
        end(cx, next, ClosedBy::Remote, Some(Reason::StrayAnswer), Some(stray.answer.accept), None);
        hit = Some(next);
    } else if let Some(hit) = hit {
        cx.emit(Event::DialogReasonKnown { id: hit, reason: Reason::StrayAnswer });
    } else if was_taken && stray.by_guard && !stray.taken {
        // Two sockets have no common order: its victim's end may be told later.
        return cx.emit(Event::DialogStrayTaken { id });
    }
    cx.emit(Event::DialogAnswerSettled { id });
    if let (Some(req), Some(closed)) = (stray.answer.req, cx.state().dialogs.closed(id)) {
        let failure = lost(cx.state(), closed).with(|detail| detail.misdirected_to = hit);
        cx.fail(req, failure);
    }
}

/// A dialog ended. If an answer that went astray did that, both are told.
pub(crate) fn may_be_hit(cx: &mut Cx<'_>, id: DialogId) {
    let stray = cx.state().dialogs.strays.iter().find(|stray| stray.taken && stray.hit == Some(id));
    if let Some(meant) = stray.map(|stray| stray.meant) {
        stray_settled(cx, meant, true);
    }
}

/// The browser has said nothing about an answer for as long as a request may take.
pub(crate) fn overdue(cx: &mut Cx<'_>, id: DialogId) {
    let dialogs = &cx.state().dialogs;
    let open = dialogs.open.get(&id);
    let stray = dialogs.strays.iter().find(|stray| stray.meant == id).map(|stray| &stray.answer);
    let answer = open.and_then(Open::answer).or(stray);
    let waiting = open.map(|open| open.waiting.clone()).unwrap_or_default();
    let reqs: Vec<Req> = answer.and_then(|answer| answer.req).into_iter().chain(waiting).collect();
    if reqs.is_empty() {
        return;
    }
    let dialog = dialogs.open.get(&id).map(|open| view::open(cx.state(), id, open));
    cx.emit(Event::DialogAnswerOverdue { id });
    let text = format!(
        "the answer to {id} was sent, and the browser has not said what became of it; it may still take effect. Until it \
         does the snapshot shows {id} as pending"
    );
    let failure = Failure::new(Code::Timeout, text).with(|detail| detail.dialog = dialog);
    reqs.into_iter().for_each(|req| cx.fail(req, failure.clone()));
}

/// The browser closed the dialog or took the answer, and said nothing more: that is as much as will be known.
pub(crate) fn confirmation_missing(cx: &mut Cx<'_>, id: DialogId) {
    match cx.state().dialogs.open.get(&id).cloned() {
        Some(open) => end_as_answered(cx, id, &open),
        None => stray_settled(cx, id, false),
    }
}

/// An answer went out on the main connection just before that was lost, and the guard still sees the dialog: it never
/// arrived. Whoever answers by rule does so again; the host decides for itself.
pub(crate) fn lost_with_main(cx: &mut Cx<'_>, id: DialogId, open: &Open) {
    let Some(answer) = open.answer().cloned().filter(|_| open.kept != Kept::ByMain) else { return };
    cx.emit(Event::DialogAnswerRefused { id });
    for req in answer.req.into_iter().chain(open.waiting.iter().copied()) {
        let dialog = cx.state().dialogs.open.get(&id).map(|open| view::open(cx.state(), id, open));
        let text = format!(
            "the connection was lost with the answer to {id} on its way, and {id} is still open; answer again"
        );
        cx.fail(req, Failure::new(Code::Disconnected, text).with(|detail| detail.dialog = dialog));
    }
    match answer.by {
        Answerer::Agent if cx.state().options.dialog_policy == DialogPolicy::MustRespond => {
            let watchdog = open.opened_at.after(cx.state().options.dialog_timeout).max(cx.at);
            cx.emit(Event::DialogWatchdogSet { id, watchdog: Some(watchdog) });
            by_policy(cx, id);
        }
        Answerer::Watchdog => watchdog(cx, id),
        Answerer::Agent | Answerer::Policy | Answerer::Stop => by_policy(cx, id),
    }
}

/// The main connection was lost while the task stops: what the guard carries is dismissed by it.
pub(crate) fn by_stop_again(cx: &mut Cx<'_>) {
    let open = cx.state().dialogs.open.iter().filter(|(_, open)| open.kept.by_guard().is_some());
    let carried: Vec<(DialogId, Open)> = open.map(|(id, open)| (*id, open.clone())).collect();
    for (id, open) in carried {
        lost_with_main(cx, id, &open);
        by_stop(cx, id);
    }
}
