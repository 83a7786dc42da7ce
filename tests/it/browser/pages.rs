//! Pages that hang before the task comes: the others are usable at once, and the hung one is told and recovers.

use integration_tests::{Frozen, RawClient, Renderers, Stage, is_headless_shell, without_spare_renderers};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::Unanswerable;
use supervisor::{Code, Options, PageView, Remedy, TargetId};

fn site() -> Site {
    Site::new().page("/", "<h1>fine</h1>").page("/hangs", "<h1>hangs</h1>")
}

async fn stage_of_processes() -> (Stage, RawClient) {
    let stage = Stage::launched(without_spare_renderers(), site(), Options::default()).await;
    stage.open("a.test", "/").await;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    (stage, client)
}

/// Comes anew, and finds each page but this one usable at once.
async fn come_anew(stage: &mut Stage, hung: &TargetId) {
    let url = stage.browser.ws_url().to_owned();
    stage.rejoin(&url, Options::default()).await;
    let snapshot = stage.until(|it| it.pages.len() == 2).await;
    let fine = snapshot.pages.iter().find(|page| page.target_id != *hung).unwrap().target_id.clone();
    assert_eq!(stage.value_on(&fine, "document.body.innerText").await, json!("fine"));
    let hung = stage.page_of(hung).unwrap();
    assert!(!hung.unresponsive, "the other page was usable before this one was given up: {hung:?}");
}

async fn told_unresponsive(stage: &Stage, page: &TargetId) -> PageView {
    let is_told = |it: &PageView| it.target_id == *page && it.unresponsive;
    stage.until(|it| it.pages.iter().any(is_told)).await;
    stage.page_of(page).unwrap()
}

async fn recovered(stage: &Stage, page: &TargetId) {
    let is_well = |it: &PageView| it.target_id == *page && !it.unresponsive && it.blocked.is_none();
    stage.until(|it| it.pages.iter().any(is_well)).await;
    assert_eq!(stage.value_on(page, "document.body.innerText").await, json!("hangs"));
}

async fn page_with_its_renderers(stage: &Stage, client: &RawClient) -> (TargetId, Renderers) {
    let before = Renderers::of(client).await;
    let page = stage.add_page("c.test", "/hangs").await.target_id;
    (page, Renderers::since(client, &before).await)
}

/// Also row 98.
#[tokio::test(flavor = "multi_thread")]
async fn s098_a_page_that_hangs_holds_no_start_up_and_recovers_by_itself() {
    let (mut stage, client) = stage_of_processes().await;
    let (page, renderers) = page_with_its_renderers(&stage, &client).await;
    let frozen: Frozen = renderers.freeze();
    come_anew(&mut stage, &page).await;

    let told = told_unresponsive(&stage, &page).await;
    let blocked = told.blocked.expect("it says what is known");
    assert!(blocked.suspected && blocked.remedies.is_empty(), "nothing is offered as safe: {blocked:?}");
    assert_eq!((blocked.reason, blocked.dialog_id), (Unanswerable::Unresponsive, None));
    let failure = stage.call_on(&page, "DOM.getDocument", json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::TargetUnresponsive);

    drop(frozen);
    recovered(&stage, &page).await;
    stage.end().await;
}

/// Nobody saw this dialog open, so nobody can answer it; a reload, when the host asks for it, frees the page.
#[tokio::test(flavor = "multi_thread")]
async fn s098_a_page_with_a_dialog_from_before_holds_no_start_up_and_can_be_recovered() {
    let (mut stage, client) = stage_of_processes().await;
    let page = stage.add_page("c.test", "/hangs").await.target_id;
    stage.supervisor.stop("test").await;
    let session = client.attach(page.as_str()).await;
    let script = json!({ "expression": "setTimeout(() => { window.asked = confirm('Before you came') })" });
    client.send("Runtime.evaluate", script, Some(&session)).await;
    let hung = client.post("Runtime.evaluate", json!({ "expression": "asked" }), Some(&session));
    if is_headless_shell() {
        // It has nobody who would show it: with no client to tell, the page gets its answer at once.
        assert_eq!(client.reply(hung).await["result"]["result"]["value"], json!(false));
        come_anew(&mut stage, &page).await;
        recovered(&stage, &page).await;
        return stage.end().await;
    }

    come_anew(&mut stage, &page).await;
    let told = told_unresponsive(&stage, &page).await;
    assert_eq!(told.blocked.map(|it| it.reason), Some(Unanswerable::Unresponsive));
    assert!(stage.task.snapshot().pending_dialogs.is_empty(), "no dialog is made up");
    let failure = stage.call_on(&page, "DOM.getDocument", json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::TargetUnresponsive);
    stage.task.recover(page.clone(), Remedy::Reload).await.unwrap();
    recovered(&stage, &page).await;
    stage.end().await;
}
