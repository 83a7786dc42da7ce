//! Pages that are left: beforeunload, and dialogs that a navigation ends.

use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, DialogType, DialogView};

use super::{Scene, Set, set::plain};
use crate::talk::{Held, accept, dismiss};

const OPENING: &str = "recv Page.javascriptDialogOpening beforeunload";
const KEPT: &str = "recv Page.javascriptDialogClosed \"result\":false";
const LEFT: &str = "recv Page.javascriptDialogClosed \"result\":true";

const ASKING: &str =
    "<title>asking</title><script>addEventListener('beforeunload', event => event.preventDefault())</script>";

fn asking() -> Site {
    plain()
        .page("/asking", ASKING)
        .page(
            "/asking-inside",
            "<title>outside</title><iframe name=asking src=http://b.test:{PORT}/asking></iframe>",
        )
        .page("/warner", "<script>addEventListener('beforeunload', () => alert('do not leave'))</script>")
}

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "beforeunload-dismissed",
            "A navigation waits while the page asks; dismissed, it is aborted and the page stays.",
            &["send Page.navigate", OPENING, "send Page.handleJavaScriptDialog", "recv * ERR_ABORTED"],
            |set| Box::pin(dismissed(set)),
        )
        .on(asking),
        Scene::new(
            "beforeunload-accepted",
            "Accepted, the page is left and the navigation answered.",
            &["send Page.navigate", OPENING, LEFT, "recv * loaderId"],
            |set| Box::pin(accepted(set)),
        )
        .on(asking),
        Scene::new(
            "beforeunload-reload",
            "A reload and a close ask as well, and are answered without waiting.",
            &["send Page.reload", OPENING, KEPT, "send Page.close", OPENING, KEPT],
            |set| Box::pin(reload(set)),
        )
        .on(asking),
        Scene::new(
            "beforeunload-in-oopif",
            "An iframe of another site asks before its page is left: on the page's session.",
            &[OPENING, LEFT],
            |set| Box::pin(in_oopif(set)),
        )
        .on(asking),
        Scene::new(
            "beforeunload-skipped",
            "Whoever closes the target asks nobody: the page goes without a dialog.",
            &["recv Target.detachedFromTarget"],
            |set| Box::pin(skipped(set)),
        )
        .on(asking),
        Scene::new(
            "alert-while-leaving",
            "An alert while a page is left is not shown, and the console says so.",
            &["recv Log.entryAdded during beforeunload"],
            |set| Box::pin(warner(set)),
        )
        .on(asking),
        Scene::new(
            "dialog-left-by-a-navigation",
            "The main frame navigates with a confirm open: the page has false, and the new document comes.",
            &[
                "recv Page.javascriptDialogOpening",
                "send Page.navigate",
                "recv Page.javascriptDialogClosed",
                "recv Page.frameNavigated",
            ],
            |set| Box::pin(navigated(set)),
        ),
        Scene::new(
            "loop-of-alerts-closed",
            "A page that alerts without end is closed: its dialog ends with it.",
            &[
                "recv Page.javascriptDialogOpening",
                "send Target.closeTarget",
                "recv Target.detachedFromTarget",
            ],
            |set| Box::pin(looped(set)),
        ),
    ]
}

/// On the asking page, which the user has touched: an evaluated expression counts as that.
async fn touched(set: &Set) {
    set.open("a.test", "/asking").await;
    set.value(None, "1").await;
}

async fn leave(set: &Set) -> Held {
    let url = set.pages.url("a.test", "/next");
    let failure = set.call("Page.navigate", json!({ "url": url })).await.unwrap_err();
    let held = Held::from_failure(&failure);
    assert_eq!((held.dialog.kind, held.dialog.message.as_str()), (DialogType::Beforeunload, ""));
    held
}

async fn dismissed(set: &Set) {
    touched(set).await;
    let held = leave(set).await;
    set.answer(dismiss()).await;
    assert_eq!(set.late(held.call).await["errorText"], json!("net::ERR_ABORTED"));
    assert_eq!(set.value(None, "location.pathname").await, json!("/asking"));
}

async fn accepted(set: &Set) {
    touched(set).await;
    let held = leave(set).await;
    set.answer(accept()).await;
    assert!(set.late(held.call).await["loaderId"].is_string());
    set.shows("/next").await;
}

/// The call is answered before the dialog opens, or held by it.
async fn asked_by(set: &Set, method: &str) -> DialogView {
    let called = set.call(method, json!({})).await;
    assert!(!matches!(&called, Err(failure) if failure.code != Code::DialogOpened), "{called:?}");
    set.dialog_where(|dialog| dialog.kind == DialogType::Beforeunload).await
}

async fn reload(set: &Set) {
    touched(set).await;
    for method in ["Page.reload", "Page.close"] {
        let dialog = asked_by(set, method).await;
        set.answer_to(dialog.id, dismiss()).await.unwrap();
        assert_eq!(set.value(None, "location.pathname").await, json!("/asking"));
    }
}

async fn in_oopif(set: &Set) {
    set.open("a.test", "/asking-inside").await;
    let frame = set.frame_loaded("asking").await;
    assert!(frame.is_oopif);
    assert_eq!(set.value(Some(&frame.frame_id), "document.title").await, json!("asking"));
    set.go(&set.pages.url("a.test", "/next")).await;
    let dialog = set.dialog().await;
    assert_eq!((dialog.kind, dialog.target_id), (DialogType::Beforeunload, set.page().target_id));
    set.answer_to(dialog.id, accept()).await.unwrap();
    set.shows("/next").await;
}

async fn skipped(set: &mut Set) {
    touched(set).await;
    let page = set.page().target_id;
    // A browser may end with its last page.
    set.add_page("c.test", "/leaf").await;
    set.other_client().await;
    let params = json!({ "targetId": page });
    set.other().send("Target.closeTarget", params, None).await;
    set.until(|it| it.pages.iter().all(|it| it.target_id != page)).await;
    assert_eq!(set.task.snapshot().counts.dialogs_seen, 0);
}

async fn warner(set: &Set) {
    set.open("a.test", "/warner").await;
    set.open("a.test", "/next").await;
    set.until(|_| set.task.console(None).errors.iter().any(|it| it.text.contains("during beforeunload")))
        .await;
    assert_eq!(set.task.snapshot().counts.dialogs_seen, 0);
}

async fn navigated(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "confirm('stay?')").await;
    let dialog = set.dialog().await;
    set.go(&set.pages.url("a.test", "/next")).await;
    set.shows("/next").await;
    let ended = set.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(false)));
    assert_eq!(set.value(None, "document.title").await, Value::from("next"));
}

async fn looped(set: &Set) {
    set.open("a.test", "/").await;
    let page = set.page().target_id;
    set.add_page("c.test", "/leaf").await;
    set.start(None, "for (let n = 1; ; n += 1) alert(`Alert ${n}`)").await;
    for _ in 0..3 {
        let dialog = set.dialog().await;
        set.answer_to(dialog.id, accept()).await.unwrap();
    }
    let last = set.dialog().await;
    set.call("Target.closeTarget", json!({ "targetId": page })).await.unwrap();
    set.until(|it| it.pages.iter().all(|it| it.target_id != page)).await;
    let ended = set.ended(last.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(false)));
    set.until(|it| it.recent_dialogs.iter().any(|it| it.reason == Some(Reason::TargetGone))).await;
}
