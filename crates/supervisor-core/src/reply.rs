//! A reply: found by its id alone, understood by the purpose of its command.

use cdp_wire::{CommandId, Reply, ReplyError, browser, page, parse, target};

use crate::bridge::{rules as bridge, sandbox};
use crate::call::ending;
use crate::call::eval;
use crate::call::suspect;
use crate::connection;
use crate::context::Cx;
use crate::dialog::answer as dialog_answer;
use crate::event::{Event, FrameInfo};
use crate::flights::{InFlight, Purpose};
use crate::frame::Frames;
use crate::frame::rules as frame_rules;
use crate::guard::hand_over;
use crate::ids::Route;
use crate::limits::MAX_BROWSER_NAME;
use crate::observe::rules as observe_rules;
use crate::session::{attach, doomed, gone};

pub(crate) fn answered(cx: &mut Cx<'_>, reply: &Reply<'_>, text: &str) {
    let Some(flight) = cx.state().flights.get(reply.id).cloned() else {
        // A call that ended, or a session that did: the browser answers some of them all the same.
        let was_sent = reply.id <= cx.state().flights.last_id();
        let meter =
            if was_sent { &mut cx.meters().late_messages } else { &mut cx.meters().protocol_violations };
        *meter += 1;
        return;
    };
    // A reply about a dead session names none. One that names another session is none of ours.
    let names_another = |session: &cdp_wire::Text<'_>| {
        observe_rules::acting(cx.state(), Some(session.as_str())) != flight.route
    };
    if reply.session.as_ref().is_some_and(names_another) {
        cx.meters().protocol_violations += 1;
        return;
    }
    cx.emit(Event::CommandAnswered { id: reply.id, ok: reply.outcome.is_ok() });
    attach::heard(cx, &flight);
    match &flight.purpose {
        Purpose::Handshake => handshake(cx, reply, &flight),
        Purpose::Probe => connection::alive(cx),
        Purpose::ListFrames => listed(cx, reply, &flight.route),
        Purpose::Resume { parent } => attach::let_session_go(cx, parent, &flight.route),
        Purpose::Describe(_) => described(cx, reply),
        Purpose::Answer(dialog) => dialog_answer::confirmed(cx, *dialog, reply.outcome.as_ref().err()),
        Purpose::FrameOwner(frame) => sandbox::owner_named(cx, frame, reply.outcome.as_ref().ok().copied()),
        Purpose::FrameElement(frame) => {
            sandbox::element_described(cx, frame, reply.outcome.as_ref().ok().copied());
        }
        Purpose::BridgeScript => {
            if let Ok(result) = reply.outcome {
                bridge::script_added(cx, &flight.route, result);
            }
        }
        Purpose::Call(call) => ending::replied(cx, *call, reply, text),
        Purpose::Setup if met_a_dead_renderer(&flight, reply) => attach::revived(cx, &flight.route),
        Purpose::Pulse(call) => suspect::renderer_answered(cx, *call),
        // Failures on sessions that die are normal, and what a session lacks then shows in what it does not report.
        Purpose::Setup
        | Purpose::Release(_)
        | Purpose::AttachPopup
        | Purpose::LetGo(_)
        | Purpose::Observed => {}
        Purpose::HandOver(target) => hand_over::signed(cx, target),
        // The guard's own; its replies are read where it is heard.
        Purpose::Watch(_) | Purpose::CatchUp => {}
    }
}

/// Whoever attaches to a page that has crashed already hears neither of the crash nor of the reload: the set-up is held until
/// the renderer is back, and then answered with this error. Only `Page.enable` counts, so that all of it is sent once more.
fn met_a_dead_renderer(flight: &InFlight, reply: &Reply<'_>) -> bool {
    let said = |error: &ReplyError<'_>| error.message.as_str() == "Target crashed";
    flight.method == "Page.enable" && reply.outcome.as_ref().err().is_some_and(said)
}

fn handshake(cx: &mut Cx<'_>, reply: &Reply<'_>, flight: &InFlight) {
    if flight.method == "Browser.getVersion"
        && let Ok(result) = reply.outcome
        && let Ok(version) = parse::<browser::Version<'_>>("Browser.getVersion", result)
    {
        cx.emit(Event::BrowserIdentified {
            product: crate::shown::cut(&version.product, MAX_BROWSER_NAME).to_owned(),
        });
    }
    match &reply.outcome {
        Err(error) if flight.method == "Target.setAutoAttach" => connection::handshake_refused(cx, error),
        _ if !cx.state().flights.any(&Purpose::Handshake) => connection::handshake_done(cx),
        _ => {}
    }
}

fn described(cx: &mut Cx<'_>, reply: &Reply<'_>) {
    // A page that is gone cannot be described, and a backend that cannot do it leaves the title as it is.
    if let Ok(result) = reply.outcome
        && let Ok(described) = parse::<target::TargetInfoResult<'_>>("Target.getTargetInfo", result)
    {
        attach::target_changed(cx, &described.target_info);
    }
}

fn listed(cx: &mut Cx<'_>, reply: &Reply<'_>, route: &Route) {
    let parsed = reply.outcome.as_ref().ok().and_then(|result| frames_of(&cx.state().frames, result));
    match parsed {
        Some(frames) if is_outdated(cx, route, reply.id, &frames) => gone::list_frames(cx, route),
        Some(frames) => {
            let ids: Vec<_> = frames.iter().map(|frame| frame.id.clone()).collect();
            doomed::listed(cx, route, &frames);
            cx.emit(Event::FramesListed { route: route.clone(), asked: reply.id, frames });
            gone::orphans_decided(cx, route, reply.id, &ids);
            for frame in &ids {
                gone::frame_settled(cx, frame);
                eval::document_came(cx, route, frame);
            }
        }
        None if reply.outcome.is_ok() => cx.meters().protocol_violations += 1,
        // The session is dying, or its renderer was: an error proves nothing.
        None => gone::orphans_undecided(cx, route, reply.id),
    }
}

fn frames_of(known: &Frames, result: &str) -> Option<Vec<FrameInfo>> {
    let tree: page::FrameTreeResult<'_> = parse("Page.getFrameTree", result).ok()?;
    let mut frames: Vec<_> =
        tree.frames().ok()?.iter().map(|frame| frame_rules::info(known, frame)).collect();
    frames.truncate(crate::limits::MAX_FRAMES);
    Some(frames)
}

/// A listing that was asked for before the present document was committed may be of the one before.
fn is_outdated(cx: &Cx<'_>, route: &Route, asked: CommandId, frames: &[FrameInfo]) -> bool {
    let state = cx.state();
    let committed = state.sessions.get(route).and_then(|session| session.committed);
    let root = state.root_frame(route).and_then(|root| state.frames.get(&root));
    let (Some(committed), Some(root)) = (committed, root) else { return false };
    committed >= asked && frames.first().is_some_and(|listed| Some(&listed.loader) != root.loader.as_ref())
}
