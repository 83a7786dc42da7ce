//! Popups: attached before they run, answered on their own page, gone without residue.

use std::time::Duration;

use integration_tests::{Held, RawClient, Stage, accept, accept_with, patience};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::{Code, Event, Failure, Observed, PageView, TargetId};

/// A link as large as the window, and a page whose first script asks.
fn linked(relation: &str) -> Site {
    let link = format!(
        "<body style=margin:0><a href=/asks target=_blank rel={relation} \
         style='position:fixed;inset:0'>go</a><script>addEventListener('click', () => window.clicked = true)</script>"
    );
    Site::new().page("/", &link).page("/asks", "<script>window.answer = prompt('Who?', 'nobody')</script>")
}

async fn popup_asks_first(relation: &str) -> (Stage, Result<(), Code>) {
    let stage = Stage::new(linked(relation)).await;
    stage.open("a.test", "/").await;
    let opener = stage.page().target_id;
    let clicked = stage.click(20, 20).await.map(drop).map_err(|failure| failure.code);
    let dialog = stage.dialog().await;
    assert_eq!((&*dialog.message, &*dialog.default_prompt), ("Who?", "nobody"));
    let popup = stage.page_of(&dialog.target_id).unwrap();
    assert_ne!(popup.target_id, opener);
    assert_eq!(popup.opener_target_id, Some(opener.clone()));
    assert!(stage.page_of(&opener).unwrap().active, "a popup does not take the snapshot over");
    let answered = stage.answer(accept_with("somebody")).await;
    assert_eq!(answered.dialog.user_input.as_deref(), Some("somebody"));
    assert_eq!(stage.value_on(&popup.target_id, "window.answer").await, json!("somebody"));
    assert_eq!(stage.value_on(&opener, "window.clicked").await, json!(true));
    (stage, clicked)
}

#[tokio::test(flavor = "multi_thread")]
async fn s087_a_click_that_opens_a_popup_whose_first_script_prompts_returns() {
    let (stage, clicked) = popup_asks_first("noopener").await;
    assert_eq!(clicked, Ok(()), "the popup is on its own");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s087_a_click_that_opens_a_popup_with_an_opener_returns() {
    let (stage, clicked) = popup_asks_first("opener").await;
    // They share a renderer: the popup's dialog may come before the click is acknowledged.
    assert!(matches!(clicked, Ok(()) | Err(Code::DialogOpened)), "{clicked:?}");
    stage.end().await;
}

/// What is attached and what goes, from the stream of events.
struct Traffic(supervisor::EventStream);

impl Traffic {
    async fn until_gone(&mut self, pages: usize) -> (usize, usize) {
        let (mut came, mut went) = (0, 0);
        while went < pages {
            match self.0.recv().await.expect("the task goes on") {
                Observed::Event(it) => match &it.event {
                    Event::PageAttached { .. } => came += 1,
                    Event::SessionGone { .. } => went += 1,
                    _ => {}
                },
                Observed::Lagged(missed) => panic!("{missed} events were missed"),
            }
        }
        (came, went)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s088_popups_that_close_at_once_leave_no_residue() {
    let stage = Stage::new(Site::new().page("/", "<h1>opener</h1>").page("/popup", "<h1>popup</h1>")).await;
    stage.open("a.test", "/").await;
    let mut traffic = Traffic(stage.task.events());
    for url in ["about:blank", "/popup", "/popup", "about:blank"] {
        // One a script: the second window that a script opens unasked is refused.
        stage.value(None, &format!("window.open('{url}').close()")).await;
    }
    let seen = tokio::time::timeout(integration_tests::patience(), traffic.until_gone(4)).await;
    assert_eq!(seen.expect("each one comes and goes"), (4, 4));
    let client = RawClient::connect(stage.browser.ws_url()).await;
    assert_eq!(client.tabs().await.len(), 1);
    let snapshot = stage.until(|it| it.pages.len() == 1).await;
    assert_eq!(snapshot.pages[0].target_id, stage.page().target_id);
    assert!(snapshot.pending_dialogs.is_empty() && snapshot.recent_dialogs.is_empty());
    assert_eq!(snapshot.counts.meters.protocol_violations, 0);
    assert_eq!(stage.frames().len(), 1);
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("opener"));
    stage.end().await;
}

async fn popup_of(stage: &Stage, url_part: &str) -> PageView {
    let is_it = |page: &&PageView| page.url.contains(url_part);
    let snapshot = stage.until(|it| it.pages.iter().any(|page| is_it(&page))).await;
    snapshot.pages.iter().find(is_it).cloned().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn s089_a_popup_opened_in_an_iframe_names_that_frame() {
    let frames = "<iframe src=/child></iframe><iframe src='http://b.test:{PORT}/stranger'></iframe>";
    let site = Site::new().page("/", frames).page("/child", "").page("/stranger", "").page("/popup", "");
    let stage = Stage::new(site).await;
    stage.open("a.test", "/").await;
    let opener = stage.page().target_id;
    for (frame, popup) in [("/child", "popup?same-process"), ("/stranger", "popup?other-process")] {
        let frame = stage.frame(frame).await;
        stage.value(Some(&frame.frame_id), &format!("void window.open('/{popup}')")).await;
        let popup = popup_of(&stage, popup).await;
        assert_eq!(popup.opener_target_id.as_ref(), Some(&opener));
        assert_eq!(popup.opener_frame_id, Some(frame.frame_id), "{}", popup.url);
    }
    stage.end().await;
}

/// Fault D12.
#[tokio::test(flavor = "multi_thread")]
async fn d12_the_openers_block_names_the_popups_dialog() {
    let stage =
        Stage::new(Site::new().page("/", "").page("/alerts", "<script>alert('popup')</script>")).await;
    stage.open("a.test", "/").await;
    let opener = stage.page().target_id;
    stage.value(None, "setTimeout(() => window.open('/alerts'))").await;
    let dialog = stage.dialog().await;
    assert_ne!(dialog.target_id, opener);

    let failure = stage.eval_on(&opener, "1").await.unwrap_err();
    assert_eq!(failure.code, Code::BlockedByDialog);
    let named = failure.detail.dialog.unwrap();
    assert_eq!((named.id, &named.target_id), (dialog.id, &dialog.target_id));
    assert!(failure.message.contains(&dialog.id.to_string()), "{}", failure.message);

    let answered = stage.answer(accept()).await;
    assert_eq!(answered.dialog.id, dialog.id);
    assert_eq!(stage.value_on(&opener, "1").await, json!(1));
    stage.end().await;
}

/// The other way round: the popup waits for its opener's dialog.
#[tokio::test(flavor = "multi_thread")]
async fn d12_the_popups_block_names_the_openers_dialog() {
    let stage = Stage::new(Site::new().page("/", "").page("/popup", "")).await;
    stage.open("a.test", "/").await;
    stage.value(None, "void window.open('/popup')").await;
    let popup = popup_of(&stage, "/popup").await.target_id;
    loaded(&stage, &popup).await;
    stage.value(None, "setTimeout(() => alert('opener'))").await;
    let dialog = stage.dialog().await;
    assert_eq!(dialog.target_id, stage.page().target_id);
    let failure = stage.eval_on(&popup, "1").await.unwrap_err();
    assert_eq!(
        (failure.code, failure.detail.dialog.map(|it| it.id)),
        (Code::BlockedByDialog, Some(dialog.id))
    );
    stage.answer(accept()).await;
    assert_eq!(stage.value_on(&popup, "1").await, json!(1));
    stage.end().await;
}

/// The popup is of the opener's site, but nobody tells that they share a process: the call is sent, and its renderer's silence
/// says that the opener's dialog holds it.
#[tokio::test(flavor = "multi_thread")]
async fn a_popup_on_another_host_of_its_openers_site_waits_for_its_dialog_and_is_told_so() {
    let stage = Stage::new(Site::new().page("/", "").page("/popup", "")).await;
    stage.open("a.test", "/").await;
    let url = stage.pages.url("www.a.test", "/popup");
    stage.value(None, &format!("void window.open('{url}')")).await;
    let popup = popup_of(&stage, "/popup").await.target_id;
    loaded(&stage, &popup).await;
    stage.value(None, "setTimeout(() => alert('opener'))").await;
    let dialog = stage.dialog().await;
    let held = Held::from_failure(&eval_for_hours(&stage, &popup, "location.hostname").await.unwrap_err());
    assert_eq!(held.dialog.id, dialog.id);
    // Now it is known.
    let failure = stage.eval_on(&popup, "1").await.unwrap_err();
    assert_eq!(
        (failure.code, failure.detail.dialog.map(|it| it.id)),
        (Code::BlockedByDialog, Some(dialog.id))
    );
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!("www.a.test"));
    assert_eq!(stage.value_on(&popup, "1").await, json!(1));
    stage.end().await;
}

/// Of another process it is only suspected, and answers.
#[tokio::test(flavor = "multi_thread")]
async fn a_popup_on_its_own_is_not_held_by_a_dialog_of_its_openers_site() {
    let stage = Stage::new(Site::new().page("/", "").page("/popup", "")).await;
    stage.open("a.test", "/").await;
    let url = stage.pages.url("www.a.test", "/popup");
    stage.value(None, &format!("void window.open('{url}', '', 'noopener')")).await;
    let popup = popup_of(&stage, "/popup").await.target_id;
    loaded(&stage, &popup).await;
    stage.value(None, "setTimeout(() => alert('opener'))").await;
    stage.dialog().await;
    let slow = "new Promise(done => setTimeout(() => done('slowly'), 3000))";
    assert_eq!(eval_for_hours(&stage, &popup, slow).await, Ok(json!("slowly")));
    stage.answer(accept()).await;
    stage.end().await;
}

/// No test lives to see the deadline.
async fn eval_for_hours(stage: &Stage, page: &TargetId, expression: &str) -> Result<Value, Failure> {
    let frame = stage.main_frame(page).await;
    let call = stage.eval_within(Some(&frame), expression, Duration::from_secs(10 * 3600));
    tokio::time::timeout(patience(), call).await.expect("its value, or why there is none")
}

async fn loaded(stage: &Stage, page: &TargetId) {
    let wait = "location.pathname === '/popup' && document.readyState === 'complete'";
    while stage.value_on(page, wait).await != Value::Bool(true) {
        tokio::task::yield_now().await;
    }
}
