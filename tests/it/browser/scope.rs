//! Which pages a task sees, and that it opens and closes none.

use std::collections::BTreeSet;

use integration_tests::{RawClient, Stage, accept};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, Options, Place, Scope, TargetId, Task};

fn site() -> Site {
    Site::new().page("/", "<h1>here</h1>").page("/popup", "<h1>popup</h1>")
}

fn scoped(scope: Scope) -> Options {
    let mut options = Options::default();
    options.scope = scope;
    options
}

async fn client(stage: &Stage) -> RawClient {
    RawClient::connect(stage.browser.ws_url()).await
}

/// A page in a browser context of its own.
async fn page_in_context(client: &RawClient, url: &str) -> (String, TargetId) {
    let reply = client.send("Target.createBrowserContext", json!({}), None).await;
    let context = reply["result"]["browserContextId"].as_str().unwrap().to_owned();
    let params = json!({ "url": url, "browserContextId": context });
    let reply = client.send("Target.createTarget", params, None).await;
    (context, TargetId::from(reply["result"]["targetId"].as_str().unwrap()))
}

fn ids(pages: &[&TargetId]) -> BTreeSet<String> {
    pages.iter().map(ToString::to_string).collect()
}

/// Waits until these, and no others, are the task's pages.
async fn sees(stage: &Stage, pages: &[&TargetId]) {
    let expected = ids(pages);
    stage
        .until(|it| {
            it.pages.iter().map(|page| page.target_id.to_string()).collect::<BTreeSet<_>>() == expected
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_browser_is_every_page_of_every_context_and_nothing_else() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let client = client(&stage).await;
    let first = stage.page().target_id;
    let second = stage.add_page("b.test", "/").await.target_id;
    let (_, third) = page_in_context(&client, &stage.pages.url("c.test", "/")).await;
    sees(&stage, &[&first, &second, &third]).await;
    assert_eq!(client.tabs().await, stage.known_pages());
    assert!(stage.page_of(&first).unwrap().active, "the first one stays the active one");

    // The omnibox's popup, service workers and the like are nobody's business here.
    let ours = ["page", "iframe"];
    let foreign =
        client.targets().await.into_iter().filter(|it| !ours.contains(&it["type"].as_str().unwrap()));
    let attached: Vec<Value> = foreign.filter(|it| it["attached"] == true).collect();
    assert!(attached.is_empty(), "{attached:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_browser_context_is_its_own_pages_only() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let client = client(&stage).await;
    let (context, inside) = page_in_context(&client, &stage.pages.url("b.test", "/")).await;
    let (url, scope) = (stage.browser.ws_url().to_owned(), Scope::BrowserContextId(context.as_str().into()));
    stage.rejoin(&url, scoped(scope)).await;
    sees(&stage, &[&inside]).await;

    // One more page on each side: only the one inside comes.
    client.send("Target.createTarget", json!({ "url": stage.pages.url("a.test", "/popup") }), None).await;
    let more = json!({ "browserContextId": context });
    let second = stage.add_page_in("b.test", "/popup", more).await.target_id;
    sees(&stage, &[&inside, &second]).await;
    assert_eq!(client.tabs().await.len(), 4);
    assert_eq!(stage.value_on(&inside, "document.body.innerText").await, json!("here"));
    stage.end().await;
}

/// Also row 99: not the first page, but the one that was named.
#[tokio::test(flavor = "multi_thread")]
async fn s099_one_page_is_itself_and_the_popups_it_opens() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let first = stage.page().target_id;
    let named = stage.add_page("b.test", "/").await.target_id;
    let url = stage.browser.ws_url().to_owned();
    stage.rejoin(&url, scoped(Scope::TargetId(named.clone()))).await;
    sees(&stage, &[&named]).await;
    assert!(stage.page_of(&named).unwrap().active);
    assert_eq!(stage.value(None, "location.hostname").await, json!("b.test"));
    let failure = stage.call_on(&first, "Page.reload", json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::PageGone);

    stage.value(None, "void window.open('/popup')").await;
    let snapshot = stage.until(|it| it.pages.iter().any(|page| page.url.ends_with("/popup"))).await;
    let popup = snapshot.pages.iter().find(|page| page.target_id != named).unwrap();
    assert_eq!(popup.opener_target_id.as_ref(), Some(&named));
    // A popup of a page that is not ours is not ours.
    let client = client(&stage).await;
    let session = client.attach(first.as_str()).await;
    let open = json!({ "expression": "void window.open('/popup')" });
    client.send("Runtime.evaluate", open, Some(&session)).await;
    assert_eq!(client.tabs().await.len(), 4);
    let last = popup.target_id.clone();
    assert_eq!(stage.value_on(&last, "opener.location.hostname").await, json!("b.test"));
    assert_eq!(stage.known_pages(), ids(&[&named, &last]));
    stage.end().await;
}

/// The same stage with another task beside it.
async fn other_task(stage: &Stage, scope: Scope) -> Task {
    let started = stage.supervisor.get_or_start("other", stage.browser.ws_url(), scoped(scope)).await;
    started.unwrap_or_else(|failure| panic!("{failure:?}"))
}

/// Two tasks share a browser, each with a page of its own: neither hears of the other's dialogs.
#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_with_a_page_each_share_a_browser() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let ours = stage.page().target_id;
    let theirs = stage.add_page("b.test", "/").await.target_id;
    let url = stage.browser.ws_url().to_owned();
    stage.rejoin(&url, scoped(Scope::TargetId(ours.clone()))).await;
    let other = other_task(&stage, Scope::TargetId(theirs.clone())).await;
    let patience = integration_tests::patience();
    other.wait_for(|it| it.frame_tree.top.is_some(), patience).await.unwrap();

    stage.value(None, "setTimeout(() => { window.answer = confirm('ours') })").await;
    let script =
        json!({ "expression": "setTimeout(() => { window.answer = confirm('theirs') })" }).to_string();
    other.call(Place::Active, "Runtime.evaluate", script, None).await.unwrap();
    let dialog = stage.dialog().await;
    let seen = other.wait_for(|it| it.pending_dialogs.len() == 1, patience).await.unwrap();
    assert_eq!((&*dialog.message, &dialog.target_id), ("ours", &ours));
    assert_eq!((&*seen.pending_dialogs[0].message, &seen.pending_dialogs[0].target_id), ("theirs", &theirs));
    other.respond(supervisor::DialogChoice::default(), accept()).await.unwrap();
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 1);
    assert_eq!(other.snapshot().counts.dialogs_seen, 1);
    stage.end().await;
}

/// Fault D19: two tasks on one page both see its dialog, and one of them answers it.
#[tokio::test(flavor = "multi_thread")]
async fn d19_two_tasks_on_one_page_both_see_its_dialog() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let other = other_task(&stage, Scope::TargetId(stage.page().target_id)).await;
    let patience = integration_tests::patience();
    other.wait_for(|it| it.frame_tree.top.is_some(), patience).await.unwrap();
    stage.value(None, "setTimeout(() => { window.answer = confirm('shared') })").await;
    let dialog = stage.dialog().await;
    let seen = other.wait_for(|it| it.pending_dialogs.len() == 1, patience).await.unwrap();
    assert_eq!(seen.pending_dialogs[0].message, dialog.message);
    other.respond(supervisor::DialogChoice::default(), accept()).await.unwrap();
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(true)));
    stage.until(|it| it.recent_dialogs.iter().all(|it| it.reason == Some(Reason::OtherClient))).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// Fault C8.
#[tokio::test(flavor = "multi_thread")]
async fn no_tab_is_opened_or_closed_unasked() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    stage.add_page("b.test", "/").await;
    let client = client(&stage).await;
    let before = client.tabs().await;
    assert_eq!(before.len(), 2);
    let url = stage.browser.ws_url().to_owned();
    for scope in [Scope::Browser, Scope::TargetId(stage.page().target_id)] {
        stage.rejoin(&url, scoped(scope)).await;
        stage.until(|it| it.frame_tree.top.is_some()).await;
        assert_eq!(client.tabs().await, before);
        stage.supervisor.stop("test").await;
        assert_eq!(client.tabs().await, before);
    }
    stage.end().await;
}

/// What is left of a context whose last page was closed: connected all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_without_pages_is_connected_and_stays_without() {
    let mut stage = Stage::new(site()).await;
    let client = client(&stage).await;
    // Some browsers end with their last tab; a page in another context keeps them.
    let (context, page) = page_in_context(&client, "about:blank").await;
    let first = stage.page().target_id;
    let (url, scope) = (stage.browser.ws_url().to_owned(), Scope::BrowserContextId(context.as_str().into()));
    client.send("Target.closeTarget", json!({ "targetId": page }), None).await;
    stage.rejoin(&url, scoped(scope)).await;
    // The tab may still be closing.
    let snapshot = stage.until(|it| it.pages.is_empty()).await;
    assert_eq!(snapshot.status.status, supervisor::Status::Connected);
    assert!(snapshot.frame_tree.top.is_none());
    assert_eq!(stage.eval(None, "1").await.unwrap_err().code, Code::PageGone);
    assert_eq!(client.tabs().await, ids(&[&first]));
    stage.end().await;
}
