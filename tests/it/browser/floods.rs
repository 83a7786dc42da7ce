//! Pages that open dialogs without end: bounded, counted, told of, and no harm to other pages. Memory is measured in a process
//! that does nothing else.

use integration_tests::{Stage, accept, is_alone, resident};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::limits::{MAX_RECENT_DIALOGS, MAX_SHOWN_TEXT};
use supervisor::{Bridge, Options, Snapshot, TargetId};

/// How much the process may grow. What is kept is far less: a snapshot, twenty closed dialogs, and one default text of a
/// megabyte; the rest is what the allocator and the sockets' buffers keep for the next time.
const GROWTH: usize = 32 * 1024 * 1024;

/// The longest snapshot in JSON: each dialog has three texts that are cut, and there are two pages.
const SNAPSHOT: usize = (MAX_RECENT_DIALOGS + 4) * 3 * MAX_SHOWN_TEXT;

fn site() -> Site {
    let floods = "<script>function flood(ask) { setTimeout(() => { window.answers = []; \
        for (let n = 0; n < 300; n++) answers.push(ask(n)) }) } \
        function forge(count) { for (let n = 0; n < count; n++) \
        fetch('https://vibeos-dialog-bridge.invalid/' + n, { method: 'POST', body: '{}', mode: 'no-cors' }).catch(() => {}) }\
        </script>";
    let asks = "<script>function ask() { setTimeout(() => { window.answer = confirm('Sure?') }) }</script>";
    Site::new().page("/floods", floods).page("/asks", asks)
}

fn is_bounded(snapshot: &Snapshot) {
    let length = serde_json::to_vec(snapshot).unwrap().len();
    assert!(length <= SNAPSHOT, "{length}");
    assert!(snapshot.recent_dialogs.len() <= MAX_RECENT_DIALOGS);
}

/// Accepts what opens on a page until so many were.
async fn accept_all(stage: &Stage, page: &TargetId, count: usize) {
    for _ in 0..count {
        let dialog = stage.dialog_where(|it| it.target_id == *page).await;
        stage.answer_to(dialog.id, accept()).await.unwrap_or_else(|it| panic!("{it:?}"));
        is_bounded(&stage.task.snapshot());
    }
}

/// A page asks, and gets its answer.
async fn is_answered(stage: &Stage, page: &TargetId) {
    stage.value_on(page, "ask()").await;
    let dialog = stage.dialog_where(|it| it.target_id == *page).await;
    stage.answer_to(dialog.id, accept()).await.unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(stage.value_on(page, "answer").await, json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_alerts_and_five_hundred_forged_requests_stay_within_bounds() {
    let name = "browser::floods::three_hundred_alerts_and_five_hundred_forged_requests_stay_within_bounds";
    if !is_alone(name) {
        return;
    }
    let stage = Stage::new(site()).await;
    let other = stage.add_page("b.test", "/asks").await.target_id;
    stage.open("a.test", "/floods").await;
    let page = stage.page().target_id;
    is_answered(&stage, &other).await;
    let before = resident();

    stage.value(None, "flood(n => alert(n + 'x'.repeat(10000)))").await;
    tokio::join!(accept_all(&stage, &page, 300), is_answered(&stage, &other));
    let flooding = |it: &Snapshot| it.pages.iter().map(|page| page.flooding).collect::<Vec<_>>();
    let snapshot = stage.task.snapshot();
    assert_eq!((flooding(&snapshot), snapshot.counts.dialogs_seen), (vec![true, false], 302));

    // Each default text of half a megabyte comes back whole.
    stage.value(None, "flood(n => n < 20 && prompt('?', 'y'.repeat(500000)).length)").await;
    tokio::join!(accept_all(&stage, &page, 20), is_answered(&stage, &other));
    assert_eq!(
        stage.value(None, "answers.slice(0, 20).every(length => length === 500000)").await,
        json!(true)
    );

    // The bridge comes on while the task runs, and is shouted at.
    let mut options = Options::default();
    options.bridge = Bridge::On;
    stage.supervisor.get_or_start("test", stage.browser.ws_url(), options).await.unwrap();
    stage.open("a.test", "/floods").await;
    stage.value(None, "forge(500)").await;
    is_answered(&stage, &other).await;
    let snapshot = stage.until(|it| it.counts.meters.bridge_refused >= 500).await;
    is_bounded(&snapshot);
    assert_eq!(flooding(&snapshot), [true, false]);
    let grown = resident().saturating_sub(before);
    assert!(grown <= GROWTH, "grown by {grown} bytes");

    // Left alone for a while, the page is calm again.
    stage.until(|it| it.pages.iter().all(|page| !page.flooding)).await;
    stage.end().await;
}
