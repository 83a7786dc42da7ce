//! Freeing a page that nobody can free by answering: only when asked, and never by what would kill the browser.

use cdp_wire::TargetId;

use crate::call::check;
use crate::call::raw;
use crate::call::routing::{self, Routed};
use crate::call::send;
use crate::context::Cx;
use crate::failure::{Code, Failure};
use crate::ids::{Req, Route};
use crate::input::Remedy;
use crate::state::State;

pub(crate) fn page(cx: &mut Cx<'_>, req: Req, target: &TargetId, remedy: &Remedy) {
    let (method, params) = command(target, remedy);
    match checked(cx.state(), target, method) {
        Ok(routed) => send::start_call(cx, req, routed, method, &params, None),
        Err(failure) => cx.fail(req, failure),
    }
}

fn command(target: &TargetId, remedy: &Remedy) -> (&'static str, String) {
    match remedy {
        Remedy::Reload => ("Page.reload", "{}".to_owned()),
        // `Page.close` is refused where closing is the one thing that helps, and may ask the page first.
        Remedy::Close => ("Target.closeTarget", object("targetId", target.as_str())),
        Remedy::Navigate { url } => ("Page.navigate", object("url", url)),
    }
}

fn object(key: &str, text: &str) -> String {
    format!("{{\"{key}\":{}}}", serde_json::to_string(text).unwrap_or_default())
}

fn checked(state: &State, target: &TargetId, method: &str) -> Result<Routed, Failure> {
    routing::connected(state)?;
    let Some(page) = state.pages.get(target) else {
        let text = format!("there is no page {target}; take a target_id from the snapshot's `pages`");
        return Err(Failure::new(Code::PageGone, text));
    };
    if let Some((id, open)) = state.open_dialog(target).filter(|(_, open)| open.is_answerable()) {
        let dialog = crate::snapshot::view::open(state, id, open);
        let text = format!("{id} can still be answered; do that instead, it loses nothing");
        return Err(Failure::new(Code::Refused, text).with(|detail| detail.dialog = Some(dialog)));
    }
    if page.blocked.is_none() {
        let text = format!("page {target} is not blocked; navigate, reload or close it as usual");
        return Err(Failure::new(Code::InvalidArgument, text));
    }
    if let Some(why) = raw::kills(method, page) {
        return Err(Failure::new(Code::Refused, why));
    }
    check::has_room_to_recover(state)?;
    if method == "Target.closeTarget" {
        // The page's own session would end before it could answer.
        return Ok(Routed { route: Route::Root, frame: None });
    }
    Ok(Routed { route: page.route.clone(), frame: page.main_frame.clone() })
}
