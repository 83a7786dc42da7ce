//! The bridge among pages that forge, frames that may not ask, others who intercept, and connections that are lost.

use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Source};
use supervisor::{Bridge, Options, Remedy, Status};

use super::{Scene, Set, Way, set::plain};
use crate::talk::accept;

const ASKED: &str = "recv Fetch.requestPaused";

fn on(options: &mut Options) {
    options.bridge = Bridge::On;
}

fn sandboxed() -> Site {
    plain().page(
        "/sandboxed",
        "<iframe name=silent sandbox='allow-scripts allow-same-origin' src=http://b.test:{PORT}/leaf></iframe>",
    )
}

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "bridge-forged",
            "A page sends the bridge requests of its own: they fail at once, are counted, and no dialog comes of them.",
            &[ASKED, "send Fetch.failRequest"],
            |set| Box::pin(forged(set)),
        )
        .with(on),
        Scene::new(
            "bridge-in-a-sandbox",
            "A frame that may raise no dialogs asks by the bridge: its element is looked at, and it is left to the browser, which asks nobody.",
            &[ASKED, "send Fetch.failRequest"],
            |set| Box::pin(silent(set)),
        )
        .on(sandboxed)
        .with(on),
        Scene::new(
            "bridge-beside-an-interception",
            "The host intercepts requests of its own: both sets of patterns hold, and neither disturbs the other.",
            &["host call", "send Fetch.enable /next", ASKED, "send Fetch.fulfillRequest"],
            |set| Box::pin(beside(set)),
        )
        .with(on),
        Scene::new(
            "bridge-lost-with-its-connection",
            "The connection is lost while a bridged dialog waits: it ends as disconnected, the page asks the browser itself, and is freed by a reload.",
            &[ASKED, "net lost", "net connected", "host recover"],
            |set| Box::pin(lost(set)),
        )
        .with(on)
        .by(Way::Wire),
    ]
}

async fn forged(set: &Set) {
    set.open("a.test", "/").await;
    let forge = "Promise.all([...Array(5).keys()].map(n => fetch('https://vibeos-dialog-bridge.invalid/' + n,
        { method: 'POST', body: '{}' }).then(() => 'answered', () => 'failed')))";
    assert_eq!(set.value(None, forge).await, json!(["failed", "failed", "failed", "failed", "failed"]));
    let snapshot = set.task.snapshot();
    assert_eq!((snapshot.counts.dialogs_seen, snapshot.counts.meters.bridge_refused), (0, 5));
    set.confirms(None).await;
}

async fn silent(set: &Set) {
    set.open("a.test", "/sandboxed").await;
    let frame = set.frame_named("silent").await.frame_id;
    assert_eq!(set.value(Some(&frame), "[confirm('c'), prompt('p')]").await, json!([false, null]));
    assert_eq!(set.task.snapshot().counts.dialogs_seen, 0);
}

async fn beside(set: &Set) {
    set.open("a.test", "/").await;
    set.call("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*/next" }] })).await.unwrap();
    set.confirms(None).await;
    set.value(None, "void fetch('/next').then(() => window.got = true)").await;
    set.confirms(None).await;
    assert_eq!(set.value(None, "window.got ?? null").await, json!(null), "it is the host's to let go");
    set.call("Fetch.disable", json!({})).await.unwrap();
    assert_eq!(set.value(None, "fetch('/next').then(reply => reply.ok)").await, json!(true));
    set.confirms(None).await;
}

async fn lost(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "confirm('asked')").await;
    let dialog = set.dialog().await;
    assert_eq!(dialog.source, Source::Bridge);
    set.wire().cut();
    set.until(|it| it.status.status == Status::Reconnecting).await;
    let ended = set.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    let snapshot = set
        .until(|it| {
            it.pages.iter().any(|page| page.blocked.is_some()) && it.status.status == Status::Connected
        })
        .await;
    set.task.recover(snapshot.pages[0].target_id.clone(), Remedy::Reload).await.unwrap();
    set.until(|it| it.pages[0].blocked.is_none() && it.frame_tree.top.is_some()).await;
    set.open("a.test", "/").await;
    set.confirms(None).await;
    assert!(set.answer_to(dialog.id, accept()).await.is_err());
}
