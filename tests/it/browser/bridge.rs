//! The bridge on a browser that closes nothing itself: what it does, and how its dialogs end.

use integration_tests::{RawClient, SetUps, Stage, accept, accept_with, dismiss};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Source};
use supervisor::supervisor_core::snapshot::BridgeView;
use supervisor::{Action, Bridge, Code, DialogPolicy, DialogView, FrameId, Options, Snapshot};

pub(super) fn bridged() -> Options {
    let mut options = Options::default();
    options.bridge = Bridge::On;
    options
}

/// Answers the dialog with this message, which must have come by the bridge.
pub(super) async fn answer(stage: &Stage, message: &str, action: Action) -> DialogView {
    let dialog = stage.dialog_where(|dialog| dialog.message == message).await;
    assert_eq!(dialog.source, Source::Bridge, "{dialog:?}");
    stage.answer_to(dialog.id, action).await.unwrap_or_else(|failure| panic!("{failure:?}"));
    dialog
}

/// What an expression gives whose one dialog is answered so.
pub(super) async fn answered(
    stage: &Stage,
    frame: Option<&FrameId>,
    expression: &str,
    action: Action,
) -> Value {
    let held = stage.ask(frame, expression).await;
    assert_eq!(held.dialog.source, Source::Bridge);
    stage.answer_to(held.dialog.id, action).await.unwrap();
    stage.late(held.call).await
}

/// Has a page do something in a moment. The dialog that it opens may be told before the reply that it was set going.
pub(super) async fn start(stage: &Stage, frame: Option<&FrameId>, what: &str) {
    let started = stage.eval(frame, &format!("void setTimeout(() => {what})")).await;
    assert!(!matches!(&started, Err(failure) if failure.code != Code::DialogOpened), "{started:?}");
}

/// Navigates to where a first script asks: the navigation may wait for the answer.
pub(super) async fn go(stage: &Stage, url: &str) {
    let gone = stage.call("Page.navigate", json!({ "url": url })).await;
    assert!(!matches!(&gone, Err(failure) if failure.code != Code::DialogOpened), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s104_the_main_frame_gets_every_answer() {
    let stage = Stage::with(Site::new().page("/", "<h1>page"), bridged()).await;
    stage.open("a.test", "/").await;
    assert_eq!(stage.page().bridge, BridgeView::On);
    let asks = [
        ("typeof alert('a')", accept(), json!("undefined")),
        ("typeof alert('a')", dismiss(), json!("undefined")),
        ("confirm('c')", accept(), json!(true)),
        ("confirm('c')", dismiss(), json!(false)),
        ("prompt('p', 'dflt')", accept(), json!("dflt")),
        ("prompt('p', 'dflt')", accept_with(""), json!("")),
        ("prompt('p')", accept_with("t\u{ef}ped \"\u{1F600}\""), json!("t\u{ef}ped \"\u{1F600}\"")),
        ("prompt('p', 'dflt')", dismiss(), json!(null)),
    ];
    for (expression, action, expected) in asks {
        assert_eq!(answered(&stage, None, expression, action).await, expected, "{expression}");
    }
    let snapshot = stage.task.snapshot();
    assert!(snapshot.recent_dialogs.iter().all(|it| it.closed_by == Some(ClosedBy::Agent)));
    assert_eq!((snapshot.recent_dialogs.len(), snapshot.counts.meters.bridge_refused), (8, 0));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_what_the_browser_would_show_and_the_functions_look_like_its_own() {
    let stage = Stage::with(Site::new().page("/", ""), bridged()).await;
    stage.open("a.test", "/").await;
    let messages = [
        ("alert()", ""),
        ("alert(undefined)", "undefined"),
        ("alert({})", "[object Object]"),
        ("confirm(undefined)", ""),
        ("confirm(null)", "null"),
        ("prompt()", ""),
        ("alert('\\ud800x')", "\u{FFFD}x"),
    ];
    for (expression, message) in messages {
        let held = stage.ask(None, expression).await;
        assert_eq!(held.dialog.message, message, "{expression}");
        stage.answer_to(held.dialog.id, accept()).await.unwrap();
        stage.late(held.call).await;
    }
    let held = stage.ask(None, "alert('x'.repeat(3 << 20))").await;
    assert_eq!(held.dialog.full_length, Some(10_240));
    stage.answer_to(held.dialog.id, accept()).await.unwrap();
    let default = answered(&stage, None, "prompt('?', 'y'.repeat(1 << 20)).length", accept()).await;
    assert_eq!(default, json!(1 << 20));

    let looks =
        "[alert, confirm, prompt].map(f => [f.name, f.length, String(f), f.hasOwnProperty('toString')])";
    let native = |name: &str, length: u8| {
        json!([name, length, format!("function {name}() {{ [native code] }}"), false])
    };
    let expected = json!([native("alert", 0), native("confirm", 0), native("prompt", 0)]);
    assert_eq!(stage.value(None, looks).await, expected);
    let unseen = "Function.prototype.toString.call(confirm).includes('native code')";
    assert_eq!(stage.value(None, unseen).await, json!(true));
    let thrown = "try { alert(Symbol()) } catch (error) { error.name }";
    assert_eq!(stage.value(None, thrown).await, json!("TypeError"));
    let borrowed = "try { confirm.call({}) } catch (error) { error.name }";
    assert_eq!(stage.value(None, borrowed).await, json!("TypeError"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_changes_afterwards_changes_nothing() {
    let spoil = "<script>
        for (const name of ['XMLHttpRequest', 'Reflect', 'JSON', 'Proxy', 'String']) window[name] = undefined;
        for (const kind of [Object, Array, Function]) {
            for (const name of ['toJSON', 'apply', 'call', 'then', 'accepted', 'status', 'slice'])
                Object.defineProperty(kind.prototype, name, { get() { window.seen = name }, set() {}, configurable: true });
        }
        Array.prototype[Symbol.iterator] = null;
        </script>";
    let stage = Stage::with(Site::new().page("/", spoil), bridged()).await;
    stage.open("a.test", "/").await;
    assert_eq!(answered(&stage, None, "confirm('c')", accept()).await, json!(true));
    assert_eq!(answered(&stage, None, "prompt('p', 'd')", accept()).await, json!("d"));
    assert_eq!(stage.value(None, "window.seen ?? null").await, json!(null));
    stage.end().await;
}

/// The script is there before the iframe's own.
#[tokio::test(flavor = "multi_thread")]
async fn s074_s105_an_oopif_that_comes_later_asks_from_its_first_script_on() {
    let site = Site::new()
        .page("/", "<h1>top")
        .page("/asks", "<script>window.first = [confirm('first'), prompt('second', 'd')]</script>");
    let stage = Stage::with(site, bridged()).await;
    stage.open("a.test", "/").await;
    let add = "const f = document.createElement('iframe'); f.src = `http://b.test:${location.port}/asks`;
        document.body.append(f)";
    start(&stage, None, &format!("{{ {add} }}")).await;
    let first = answer(&stage, "first", accept()).await;
    let frame = stage.frame("/asks").await;
    assert!(frame.is_oopif && first.frame_id.as_ref() == Some(&frame.frame_id), "{first:?}");
    let page_session = stage.task.snapshot().recent_dialogs.last().and_then(|it| it.session_id.clone());
    assert!(page_session.is_some() && page_session != frame.session_id, "the page's session");
    answer(&stage, "second", accept_with("typed")).await;
    assert_eq!(stage.value(Some(&frame.frame_id), "first").await, json!([true, "typed"]));
    assert_eq!(answered(&stage, Some(&frame.frame_id), "confirm('later')", dismiss()).await, json!(false));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s073_an_iframe_that_goes_while_it_is_set_up_harms_nobody() {
    let stage = Stage::with(Site::new().page("/", "<h1>top").page("/leaf", "<p>leaf"), bridged()).await;
    stage.open("a.test", "/").await;
    let (mut events, mut set_ups) = (stage.task.events(), SetUps::default());
    // How long it takes until one is being set up, the machine decides: each round gives it more time.
    let flickering = async {
        for pause in (1..=10).cycle() {
            let flicker = format!(
                "(async () => {{ for (let i = 0; i < 20; i++) {{
                    const f = document.createElement('iframe'); f.src = `http://b.test:${{location.port}}/leaf?${{i}}`;
                    document.body.append(f); await new Promise(done => setTimeout(done, i * {pause})); f.remove(); }} }})()"
            );
            stage.value(None, &flicker).await;
        }
    };
    tokio::select! {
        _ = stage.happened(&mut events, |event| set_ups.is_cut_short(event)) => {}
        () = flickering => {}
    }
    stage.until(|snapshot| snapshot.frame_tree.children.is_empty()).await;
    assert_eq!(answered(&stage, None, "confirm('c')", accept()).await, json!(true));
    assert_eq!(stage.task.snapshot().counts.meters.protocol_violations, 0);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s085_the_bridge_answers_after_a_return_from_the_back_forward_cache() {
    let site = Site::new()
        .page("/one", "<script>addEventListener('pageshow', e => window.kept = e.persisted)</script>");
    let stage = Stage::with(site.page("/two", "two"), bridged()).await;
    stage.open("a.test", "/one").await;
    let one = stage.top().url;
    stage.open("a.test", "/two").await;
    stage.value(None, "void setTimeout(() => history.back())").await;
    stage.until(|snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == one)).await;
    assert_eq!(answered(&stage, None, "confirm('c')", accept()).await, json!(true));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s107_a_navigation_ends_it_and_does_not_wait() {
    let stage = Stage::with(Site::new().page("/", "").page("/next", ""), bridged()).await;
    stage.open("a.test", "/").await;
    let held = stage.ask(None, "confirm('c')").await;
    stage.open("a.test", "/next").await;
    let ended = stage.ended(held.dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Navigation)));
    let late = stage.answer_to(held.dialog.id, accept()).await.unwrap_err();
    assert_eq!(late.code, Code::AlreadyClosed);
    assert_eq!(stage.value(None, "1").await, json!(1));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s108_what_takes_its_frame_away_ends_it() {
    let site = Site::new().page("/", "<iframe src='http://b.test:{PORT}/leaf'></iframe>").page("/leaf", "");
    let stage = Stage::with(site, bridged()).await;
    stage.open("a.test", "/").await;
    let frame = stage.frame("/leaf").await.frame_id;
    let held = stage.ask(Some(&frame), "confirm('c')").await;
    stage.value(None, "document.querySelector('iframe').remove()").await;
    let ended = stage.ended(held.dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::TargetGone)));
    assert_eq!(stage.page().blocked, None);
    let held = stage.ask(None, "confirm('c')").await;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    client.send("Target.closeTarget", json!({ "targetId": stage.page().target_id }), None).await;
    assert_eq!(stage.ended(held.dialog.id).await.reason, Some(Reason::TargetGone));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s109_beforeunload_stays_the_browsers_own() {
    let page = "<script>addEventListener('beforeunload', event => {
        window.inside = confirm('inside'); event.preventDefault();
        event.returnValue = 'stay' })</script>";
    let stage = Stage::with(Site::new().page("/", page).page("/next", ""), bridged()).await;
    stage.open("a.test", "/").await;
    stage.click(5, 5).await.unwrap();
    go(&stage, &stage.pages.url("a.test", "/next")).await;
    let dialog = stage.dialog().await;
    assert_eq!((dialog.kind, dialog.source), (supervisor::DialogType::Beforeunload, Source::Native));
    stage.answer(dismiss()).await;
    assert_eq!(stage.value(None, "inside").await, json!(false), "as without the bridge");
    assert_eq!(stage.page().bridge, BridgeView::On);
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 1);
    go(&stage, &stage.pages.url("a.test", "/next")).await;
    stage.dialog().await;
    stage.answer(accept()).await;
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url.ends_with("/next"))).await;
    stage.end().await;
}

/// The browser suppresses most dialogs there, and shows some: which, is left to it.
#[tokio::test(flavor = "multi_thread")]
async fn pagehide_stays_the_browsers_own() {
    let page = "<script>addEventListener('pagehide', () => localStorage.inside = confirm('inside'))</script>";
    let stage = Stage::with(Site::new().page("/", page).page("/next", ""), bridged()).await;
    stage.open("a.test", "/").await;
    let next = stage.pages.url("a.test", "/next");
    go(&stage, &next).await;
    let is_there = |snapshot: &Snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == next);
    let snapshot = stage.until(|it| is_there(it) || !it.pending_dialogs.is_empty()).await;
    assert!(snapshot.pending_dialogs.iter().all(|it| it.source == Source::Native), "{snapshot:?}");
    assert!(snapshot.recent_dialogs.iter().all(|it| it.source == Source::Native), "{snapshot:?}");
    assert_eq!(snapshot.pages[0].bridge, BridgeView::On, "that says nothing about the bridge");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_answers_and_a_stop_lets_the_page_go() {
    let mut options = bridged();
    options.dialog_policy = DialogPolicy::AutoAccept;
    let stage = Stage::with(Site::new().page("/", ""), options).await;
    stage.open("a.test", "/").await;
    start(&stage, None, "window.answers = [confirm('c'), prompt('p', 'd')]").await;
    let snapshot = stage.until(|snapshot| snapshot.recent_dialogs.len() == 2).await;
    assert!(snapshot.recent_dialogs.iter().all(|it| it.closed_by == Some(ClosedBy::AutoPolicy)));
    assert_eq!(stage.value(None, "answers").await, json!([true, "d"]));

    let started = stage.supervisor.get_or_start("test", stage.browser.ws_url(), bridged()).await;
    started.unwrap_or_else(|error| panic!("{error:?}"));
    start(&stage, None, "window.answer = confirm('last')").await;
    stage.dialog().await;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    let session = client.attach(stage.page().target_id.as_str()).await;
    stage.supervisor.stop("test").await;
    let wait = json!({ "expression": "new Promise(done => { const look = () => window.answer === undefined
        ? setTimeout(look, 5) : done(window.answer); look() })", "awaitPromise": true, "returnByValue": true });
    let reply = client.send("Runtime.evaluate", wait, Some(&session)).await;
    assert_eq!(reply["result"]["result"]["value"], json!(false));
    stage.end().await;
}
