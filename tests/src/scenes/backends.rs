//! The bridge: dialogs on backends that dismiss them.

use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Source};
use supervisor::supervisor_core::snapshot::BridgeView;
use supervisor::{Action, Bridge, Options, Snapshot};

use super::{Scene, Set, Way, set::plain};
use crate::talk::{accept, accept_with};

const ASKED: &str = "recv Fetch.requestPaused";
const ANSWERED: &str = "send Fetch.fulfillRequest";

fn on(options: &mut Options) {
    options.bridge = Bridge::On;
}

fn asking() -> Site {
    plain().page("/asks", "<title>asks</title><script>window.first = confirm('first')</script>").page_with(
        "/forbids",
        "<title>forbids</title>",
        &[("Permissions-Policy", "sync-xhr=()")],
    )
}

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "bridge-answers",
            "On a backend that dismisses, each kind of dialog goes by the bridge and the page gets the host's answer.",
            &[ASKED, "host respond", ANSWERED, ASKED, "host respond", ANSWERED],
            |set| Box::pin(answers(set)),
        )
        .with(on)
        .by(Way::Dismissing),
        Scene::new(
            "bridge-in-oopif",
            "An iframe of another site asks in its first script, and the bridge is there before.",
            &["recv Target.attachedToTarget", ASKED, ANSWERED],
            |set| Box::pin(in_oopif(set)),
        )
        .on(asking)
        .with(on)
        .by(Way::Dismissing),
        Scene::new(
            "bridge-in-popup",
            "A popup asks in its first script, and the bridge is there before.",
            &["recv Target.attachedToTarget openerId", ASKED, ANSWERED],
            |set| Box::pin(in_popup(set)),
        )
        .on(asking)
        .with(on)
        .by(Way::Dismissing),
        Scene::new(
            "bridge-found-out",
            "Two dialogs are dismissed by the backend before anybody could answer: from then on the bridge is on.",
            &["recv Page.javascriptDialogClosed", ASKED, ANSWERED],
            |set| Box::pin(found_out(set)),
        )
        .by(Way::Dismissing),
        Scene::new(
            "bridge-left-by-a-navigation",
            "A page is left while a bridged dialog waits: the request is ended and the navigation does not wait.",
            &[ASKED, "send Page.navigate", "recv Page.frameNavigated /next"],
            |set| Box::pin(left(set)),
        )
        .with(on),
        Scene::new(
            "bridge-forbidden",
            "A page that forbids what the bridge needs asks by the browser's own dialog.",
            &["recv Page.javascriptDialogOpening", "send Page.handleJavaScriptDialog"],
            |set| Box::pin(forbidden(set)),
        )
        .on(asking)
        .with(on),
    ]
}

/// Answers the dialog with this message, which must have come by the bridge.
async fn answer(set: &Set, message: &str, action: Action) {
    let dialog = set.dialog_where(|dialog| dialog.message == message).await;
    assert_eq!(dialog.source, Source::Bridge, "{dialog:?}");
    set.answer_to(dialog.id, action).await.unwrap();
}

async fn answers(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "window.answers = [typeof alert('a'), confirm('c'), prompt('p', 'dflt')]").await;
    for (message, action) in [("a", accept()), ("c", accept()), ("p", accept_with("typed"))] {
        answer(set, message, action).await;
    }
    set.comes_true(None, "window.answers").await;
    assert_eq!(set.value(None, "answers").await, json!(["undefined", true, "typed"]));
}

async fn in_oopif(set: &Set) {
    set.open("a.test", "/").await;
    let url = set.pages.url("b.test", "/asks");
    set.start(
        None,
        &format!("document.body.append(Object.assign(document.createElement('iframe'), {{ src: '{url}' }}))"),
    )
    .await;
    answer(set, "first", accept()).await;
    let frame = set.frame("/asks").await;
    assert!(frame.is_oopif);
    assert_eq!(set.value(Some(&frame.frame_id), "first").await, json!(true));
}

async fn in_popup(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "window.open('/asks')").await;
    answer(set, "first", accept()).await;
    let snapshot = set.until(|it| it.pages.iter().any(|page| page.url.ends_with("/asks"))).await;
    let popup = snapshot.pages.iter().find(|page| page.url.ends_with("/asks")).unwrap();
    assert_eq!(set.value_on(&popup.target_id, "first").await, json!(true));
}

/// On a busy machine a dismissal may take longer, which tells nothing: one more is lost then.
async fn found_out(set: &Set) {
    set.open("a.test", "/").await;
    let mut lost = 0;
    while set.page().bridge == BridgeView::Off {
        lost += 1;
        set.start(None, "window.answer = confirm('lost')").await;
        // Why it was closed is known a moment later, and with it whether that tells something.
        let is_known = |it: &Snapshot| {
            it.recent_dialogs.len() == lost && it.recent_dialogs[lost - 1].reason == Some(Reason::OtherClient)
        };
        let snapshot = set.until(is_known).await;
        assert!(snapshot.recent_dialogs.iter().all(|it| it.closed_by == Some(ClosedBy::Remote)));
    }
    set.start(None, "window.later = confirm('kept')").await;
    answer(set, "kept", accept()).await;
    assert_eq!(set.value(None, "[answer, later]").await, json!([false, true]));
}

async fn left(set: &Set) {
    set.open("a.test", "/").await;
    let held = set.ask(None, "confirm('c')").await;
    assert_eq!(held.dialog.source, Source::Bridge);
    set.open("a.test", "/next").await;
    let ended = set.ended(held.dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Navigation)));
}

async fn forbidden(set: &Set) {
    set.open("a.test", "/forbids").await;
    let held = set.ask(None, "confirm('native')").await;
    assert_eq!(held.dialog.source, Source::Native);
    set.answer_to(held.dialog.id, accept()).await.unwrap();
    assert_eq!(set.late(held.call).await, json!(true));
}
