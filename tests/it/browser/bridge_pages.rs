//! The bridge on every kind of page, and on those that forbid it or abuse it.

use integration_tests::{InventedHosts, Stage, accept, accept_with};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::bridge::Unavailable;
use supervisor::supervisor_core::dialog::Source;
use supervisor::supervisor_core::snapshot::BridgeView;

use super::bridge::{answer, answered, bridged, go, start};

/// An iframe of each kind that a page can make, each of which asks in its first script.
const KINDS: &str = "<script>
    const asks = kind => `<script>
        parent.postMessage(['${kind}', confirm('confirm ${kind}'), prompt('prompt ${kind}', 'dflt')], '*')<\\/script>`;
    window.heard = {};
    addEventListener('message', event => heard[event.data[0]] = event.data.slice(1));
    const add = (kind, fill) => { const f = document.createElement('iframe'); fill(f, asks(kind)); document.body.append(f) };
    const kinds = {
        srcdoc: (f, html) => f.srcdoc = html,
        data: (f, html) => f.src = 'data:text/html,' + encodeURIComponent(html),
        blob: (f, html) => f.src = URL.createObjectURL(new Blob([html], { type: 'text/html' })),
        written: (f, html) => setTimeout(() => f.contentDocument.write(html)),
    };
    const start = kind => add(kind, kinds[kind]);
    </script>";

async fn every_kind_asks(stage: &Stage) {
    for kind in ["srcdoc", "data", "blob", "written"] {
        start(stage, None, &format!("start('{kind}')")).await;
        answer(stage, &format!("confirm {kind}"), accept()).await;
        answer(stage, &format!("prompt {kind}"), accept_with(kind)).await;
        let heard = format!(
            "new Promise(done => {{ const look = () => heard.{kind} ? done(heard.{kind}) : setTimeout(look, 5); look() }})"
        );
        assert_eq!(stage.value(None, &heard).await, json!([true, kind]));
    }
    let fresh = "const f = document.createElement('iframe'); document.body.append(f); f.contentWindow.confirm('fresh')";
    assert_eq!(answered(stage, None, fresh, accept()).await, json!(true));
    assert_eq!(answered(stage, None, "prompt('main')", accept_with("x")).await, json!("x"));
    assert_eq!(stage.page().bridge, BridgeView::On);
}

#[tokio::test(flavor = "multi_thread")]
async fn b1_every_kind_of_document_on_an_http_page_asks() {
    let stage = Stage::with(Site::new().page("/", KINDS), bridged()).await;
    stage.open("a.test", "/").await;
    every_kind_asks(&stage).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b1_every_kind_of_document_on_an_https_page_asks() {
    let stage = Stage::with(Site::new(), bridged()).await;
    let first = format!("<script>window.first = confirm('first')</script>{KINDS}");
    let _hosts = InventedHosts::serve(stage.browser.ws_url(), &[("/", &first)]).await;
    go(&stage, "https://secure.test/").await;
    answer(&stage, "first", accept()).await;
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url == "https://secure.test/")).await;
    assert_eq!(stage.value(None, "[first, isSecureContext]").await, json!([true, true]));
    every_kind_asks(&stage).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_without_an_origin_ask() {
    let stage = Stage::with(Site::new(), bridged()).await;
    if stage.runs_scripts_immediately() {
        // Without that, the first document is from before the script.
        assert_eq!(answered(&stage, None, "confirm('blank')", accept()).await, json!(true));
    }
    go(&stage, "data:text/html,<script>window.first = confirm('data')</script>").await;
    answer(&stage, "data", accept()).await;
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url.starts_with("data:"))).await;
    assert_eq!(stage.value(None, "first").await, json!(true));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_same_origin_iframe_asks_for_itself() {
    let site = Site::new().page("/", "<iframe src=/child></iframe>").page("/child", "<p>child");
    let stage = Stage::with(site, bridged()).await;
    stage.open("a.test", "/").await;
    let frame = stage.frame("/child").await.frame_id;
    let held = stage.ask(Some(&frame), "confirm('c')").await;
    assert_eq!((held.dialog.source, held.dialog.frame_id.as_ref()), (Source::Bridge, Some(&frame)));
    assert!(held.dialog.url.ends_with("/child"));
    stage.answer_to(held.dialog.id, accept()).await.unwrap();
    assert_eq!(stage.late(held.call).await, json!(true));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn popups_ask_from_their_first_script_and_while_they_are_blank() {
    let site = Site::new()
        .page("/", "<h1>opener")
        .page("/popup", "<script>window.first = [confirm('first'), prompt('second', 'd')]</script>");
    let stage = Stage::with(site, bridged()).await;
    stage.open("a.test", "/").await;
    for features in ["''", "'noopener'"] {
        start(&stage, None, &format!("window.open('/popup', '_blank', {features})")).await;
        let first = answer(&stage, "first", accept()).await;
        assert_ne!(first.target_id, stage.page().target_id);
        answer(&stage, "second", accept_with("typed")).await;
        assert_eq!(stage.value_on(&first.target_id, "first").await, json!([true, "typed"]));
    }
    let blank = "window.open('about:blank').confirm('blank')";
    assert_eq!(answered(&stage, None, blank, accept()).await, json!(true));
    stage.end().await;
}

/// Strict pages are what the browser makes them: the answer is the browser's, and the page shows why.
#[tokio::test(flavor = "multi_thread")]
async fn s106_pages_that_forbid_it_fall_back_and_say_why() {
    let policies = [
        (
            "Content-Security-Policy",
            "connect-src 'self'",
            Unavailable::ContentSecurityPolicy,
            "Content Security Policy",
        ),
        ("Permissions-Policy", "sync-xhr=()", Unavailable::PermissionsPolicy, "ermissions policy"),
    ];
    for (header, value, mut why, console) in policies {
        let site = Site::new().page_with("/strict", "", &[(header, value)]).page("/", "");
        let stage = Stage::with(site, bridged()).await;
        stage.open("a.test", "/strict").await;
        let is_told = why == Unavailable::ContentSecurityPolicy || stage.runs_scripts_immediately();
        if !is_told {
            why = Unavailable::Unknown;
        }
        let held = stage.ask(None, "confirm('c')").await;
        assert_eq!(held.dialog.source, Source::Native, "{header}");
        let page = stage.until(|it| it.pages[0].bridge_reason == Some(why)).await.pages[0].clone();
        assert_eq!(page.bridge, BridgeView::Unavailable);
        stage.answer_to(held.dialog.id, accept()).await.unwrap();
        assert_eq!(stage.late(held.call).await, json!(true));
        let errors = stage.task.console(None).errors;
        assert!(!is_told || errors.iter().any(|entry| entry.text.contains(console)), "{errors:?}");
        stage.open("a.test", "/").await;
        assert_eq!(stage.page().bridge, BridgeView::On, "another document");
        assert_eq!(answered(&stage, None, "confirm('c')", accept()).await, json!(true));
        stage.end().await;
    }
}

/// Sandboxed frames: in this process and in others, below and beside, with the word that lets them ask and without.
#[tokio::test(flavor = "multi_thread")]
async fn b7_frames_sandboxed_without_modals_ask_nobody() {
    let page = "<iframe name=same sandbox='allow-scripts allow-same-origin' src=/leaf?same></iframe>
        <iframe name=opaque sandbox=allow-scripts src=/leaf?opaque></iframe>
        <iframe name=cross sandbox='allow-scripts allow-same-origin' src='http://b.test:{PORT}/nest'></iframe>
        <iframe name=allowed sandbox='allow-scripts allow-modals' src='http://b.test:{PORT}/leaf?allowed'></iframe>";
    let nest = "<iframe name=nested src='http://c.test:{PORT}/leaf?nested'></iframe>";
    let site = Site::new().page("/", page).page("/leaf", "<p>leaf").page("/nest", nest);
    let stage = Stage::with(site, bridged()).await;
    stage.open("a.test", "/").await;
    // An opaque frame in its parent's process can neither look at its element nor be asked for: there it asks all the same.
    let silent = ["same", "cross", "nested"].into_iter();
    for silent in silent.chain(stage.isolates_sandboxed_frames().then_some("opaque")) {
        let frame = stage.frame_named(silent).await.frame_id;
        let said = stage.value(Some(&frame), "[confirm('c'), prompt('p')]").await;
        assert_eq!(said, json!([false, null]), "{silent}");
    }
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 0);
    assert_eq!(stage.page().bridge, BridgeView::On);
    let frame = stage.frame_named("allowed").await.frame_id;
    assert_eq!(answered(&stage, Some(&frame), "confirm('c')", accept()).await, json!(true));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b6_a_page_can_neither_forge_nor_flood() {
    let stage = Stage::with(Site::new().page("/", ""), bridged()).await;
    stage.open("a.test", "/").await;
    assert_eq!(answered(&stage, None, "confirm('real')", accept()).await, json!(true));
    // All that a page can find out is the URL.
    let forge = "(async () => {
        const url = performance.getEntriesByType('resource').map(it => it.name).find(it => it.includes('bridge'));
        const body = JSON.stringify({ token: '', kind: 'confirm', message: 'forged', preset: '' });
        const tries = [];
        for (let i = 0; i < 250; i++) {
            tries.push(fetch(url, { method: 'POST', body }).then(() => 'answered', () => 'failed'));
            tries.push(new Promise(done => {
                const x = new XMLHttpRequest(); x.open('POST', url); x.send(body);
                x.onload = () => done('answered'); x.onerror = () => done('failed'); }));
        }
        return [!!url, [...new Set(await Promise.all(tries))]];
    })()";
    assert_eq!(stage.value(None, forge).await, json!([true, ["failed"]]));
    let snapshot = stage.task.snapshot();
    assert_eq!((snapshot.counts.dialogs_seen, snapshot.pending_dialogs.len()), (1, 0));
    assert_eq!(snapshot.counts.meters.bridge_refused, 500);
    let elsewhere = "fetch('/').then(r => r.status)";
    assert_eq!(stage.value(None, elsewhere).await, json!(200), "other requests go on");
    stage.end().await;
}
