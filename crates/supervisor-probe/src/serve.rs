//! Answers the requests of the probe's pages in the place of a server, on every session of the probe's hand.

use std::collections::BTreeSet;
use std::sync::Arc;

use cdp_wire::fetch::{FulfillRequest, HeaderEntry};
use cdp_wire::{SessionId, base64};
use serde_json::{Value, json};
use supervisor::TargetId;
use supervisor::supervisor_core::Route;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::error::Trouble;
use crate::line::{Heard, Line};
use crate::pages;

/// The targets whose requests are answered.
pub(crate) type Served = watch::Sender<BTreeSet<TargetId>>;

/// Answers until the connection is gone.
pub(crate) async fn serve(line: Line, served: Arc<Served>) {
    let mut events = line.events();
    loop {
        match events.recv().await {
            Ok(heard) => drop(handled(&line, &served, &heard).await),
            // What was missed is missing in a check, which then says that it timed out.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

async fn handled(line: &Line, served: &Arc<Served>, heard: &Heard) -> Result<(), Trouble> {
    let Some(session) = &heard.session else { return Ok(()) };
    match heard.method.as_str() {
        "Fetch.requestPaused" => answer(line, session, &heard.params).await,
        // Pages are attached by hand and looked after there.
        "Target.attachedToTarget" if heard.params["targetInfo"]["type"] != "page" => {
            look_after_later(line, served, &heard.params);
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn answer(line: &Line, session: &SessionId, params: &Value) -> Result<(), Trouble> {
    let page = params["request"]["url"].as_str().and_then(pages::at);
    let reply = FulfillRequest {
        request_id: params["requestId"].as_str().unwrap_or_default().into(),
        response_code: if page.is_some() { 200 } else { 404 },
        response_headers: page.map_or_else(Vec::<HeaderEntry>::new, pages::Page::headers),
        body: base64::encode(page.map_or("", pages::Page::html).as_bytes()),
    };
    line.post(&Route::Session(session.clone()), "Fetch.fulfillRequest", json!(reply)).await.map(drop)
}

/// A frame in a process of its own. Waiting for it here would hold up the requests of all others.
fn look_after_later(line: &Line, served: &Arc<Served>, params: &Value) {
    let (Some(session), Some(target)) =
        (params["sessionId"].as_str(), params["targetInfo"]["targetId"].as_str())
    else {
        return;
    };
    let (line, served) = (line.clone(), Arc::clone(served));
    let (route, target) = (Route::Session(session.into()), TargetId::from(target));
    tokio::spawn(async move { look_after(&line, &served, &route, target).await });
}

/// From when this is done on, the target's requests are answered, and those of the frames below it.
pub(crate) async fn look_after(
    line: &Line,
    served: &Served,
    route: &Route,
    target: TargetId,
) -> Result<(), Trouble> {
    let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
    line.send(route, "Target.setAutoAttach", attach).await?;
    line.send(route, "Fetch.enable", json!({ "patterns": [{ "urlPattern": pages::PATTERN }] })).await?;
    served.send_if_modified(|served| served.insert(target));
    Ok(())
}
