//! What a host asks, and who answers it.

use std::time::Duration;

use crate::bridge::rules as bridge;
use crate::call::CallEnd;
use crate::call::late;
use crate::call::recover;
use crate::call::{eval, send};
use crate::connection;
use crate::context::{Cx, Expression};
use crate::dialog::answer as dialog_answer;
use crate::effect::Outcome;
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::ids::Req;
use crate::input::Command;
use crate::session::gone;

/// A host's request.
pub(crate) fn host(cx: &mut Cx<'_>, req: Req, command: Command) {
    match command {
        Command::Start => connection::start(cx, req),
        Command::Stop => connection::stop(cx, req),
        Command::Configure { options } if let Err(text) = options.check() => {
            cx.fail(req, Failure::new(Code::InvalidArgument, text));
        }
        Command::Configure { options } => {
            let is_moved = options.bridge_host != cx.state().options.bridge_host;
            cx.emit(Event::OptionsChanged { options });
            if is_moved {
                bridge::host_changed(cx);
            }
            connection::options_changed(cx);
            cx.reply(req, Outcome::Done);
        }
        Command::Respond { choice, action } => dialog_answer::respond(cx, req, &choice, &action),
        Command::Call { place, method, params, timeout_ms } => {
            send::call(cx, req, &place, &method, &params, timeout_ms.map(Duration::from_millis));
        }
        Command::Eval { frame_id, expression, await_promise, timeout_ms } => {
            let expression = Expression { text: expression, await_promise };
            eval::eval(cx, req, frame_id, expression, timeout_ms.map(Duration::from_millis));
        }
        Command::Result { call_id, timeout_ms } => {
            late::asked(cx, req, call_id, timeout_ms.map(Duration::from_millis));
        }
        Command::Recover { target_id, remedy } => recover::page(cx, req, &target_id, &remedy),
        Command::Cancel { req } => cancelled(cx, req),
    }
}

/// The caller is gone: nobody is told how the call ends.
pub(crate) fn cancelled(cx: &mut Cx<'_>, req: Req) {
    if let Some(call) = cx.state().calls.by_req.get(&req).copied() {
        let route = cx.state().calls.open.get(&call).map(|call| call.route.clone());
        cx.desk.parked.remove(&call);
        cx.emit(Event::CallEnded { call, end: CallEnd::Forgotten });
        if let Some(route) = route {
            gone::retire(cx, &route);
        }
    } else if cx.state().calls.waiters.contains_key(&req) {
        cx.emit(Event::ResultAnswered { req });
    }
}
