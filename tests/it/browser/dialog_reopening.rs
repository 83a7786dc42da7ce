//! A page that opens the next dialog as soon as one is closed, and is left meanwhile.

use integration_tests::{RawClient, Stage, accept, is_headless_shell};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{Reason, Unanswerable};
use supervisor::supervisor_core::snapshot::RemedyName;
use supervisor::{Code, Remedy};

/// Somebody else navigates within the site. The browser closes one dialog, the old document's script opens the next, and
/// nobody can answer that: only closing the page helps.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_again_while_it_is_left_can_be_closed() {
    let stage = Stage::new(Site::new().page("/", "<p>page").page("/next", "<p>next")).await;
    stage.open("a.test", "/").await;
    stage.call("Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
    stage.until(|snapshot| snapshot.pages.len() == 2).await;
    stage.value(None, "void setTimeout(() => { for (let n = 0; n < 100; n++) confirm(n) })").await;
    let first = stage.dialog_where(|it| it.message == "0").await;
    let target = first.target_id.clone();
    let other = RawClient::connect(stage.browser.ws_url()).await;
    let session = other.attach(target.as_str()).await;
    let url = stage.pages.url("a.test", "/next");
    other.post("Page.navigate", json!({ "url": url }), Some(&session));
    let next = if is_headless_shell() {
        first.clone()
    } else {
        assert_eq!(stage.ended(first.id).await.reason, Some(Reason::Navigation));
        stage.dialog_where(|it| it.message == "1").await
    };
    if is_headless_shell() && stage.major_version() <= 138 {
        // Older ones still take the answer, and open the next.
        stage.answer_to(next.id, accept()).await.unwrap();
        assert_eq!(stage.ended(next.id).await.accepted, Some(true));
        stage.dialog_where(|it| it.message == "1").await;
        other.close().await;
        return stage.end().await;
    }
    let refused = stage.answer_to(next.id, accept()).await.unwrap_err();
    assert_eq!(refused.code, Code::Unanswerable, "{refused:?}");
    let page = |it: &supervisor::Snapshot| it.pages.iter().find(|page| page.target_id == target).cloned();
    let shown = stage.until(|it| page(it).is_some_and(|page| page.blocked.is_some())).await;
    let blocked = page(&shown).unwrap().blocked.unwrap();
    assert_eq!((blocked.reason, blocked.dialog_id), (Unanswerable::Reopening, Some(next.id)));
    assert_eq!(blocked.remedies, [RemedyName::Close]);
    stage.task.recover(target.clone(), Remedy::Close).await.unwrap();
    stage.until(|it| page(it).is_none()).await;
    // The browser may close the dialog before it says that the page is gone; and the page was being left.
    let reason = stage.ended(next.id).await.reason;
    assert!(matches!(reason, Some(Reason::TargetGone | Reason::Navigation)), "{reason:?}");
    other.close().await;
    stage.end().await;
}
