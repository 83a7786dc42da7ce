//! Navigations: what they do to the tree, and to calls.

use std::net::{Ipv4Addr, TcpListener};

use integration_tests::{Stage, accept, is_headless_shell};
use page_server::{Gate, Site};
use serde_json::{Value, json};
use supervisor::{Code, FrameView};

fn site() -> Site {
    Site::new()
        .page("/one", "<title>one</title>")
        .page("/two", "<title>two</title>")
        .page("/leaf", "<p>leaf")
        .status("/204", 204)
        .download("/download")
}

/// What the browser says to `Page.navigate`.
async fn navigate(stage: &Stage, url: &str) -> Value {
    let result = stage.call("Page.navigate", json!({ "url": url })).await.unwrap();
    serde_json::from_str(result.result.get()).unwrap()
}

async fn shows(stage: &Stage, url: &str) -> FrameView {
    let snapshot =
        stage.until(|snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == url)).await;
    snapshot.frame_tree.top.clone().unwrap()
}

/// A port that nobody listens on.
fn closed_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

#[tokio::test(flavor = "multi_thread")]
async fn s080_the_top_frame_shows_where_it_went() {
    let stage = Stage::new(site()).await;
    let origin = stage.pages.url("a.test", "");
    let blob = "<title>data</title>";
    let unreachable = format!("http://a.test:{}/", closed_port());
    let ways = [
        (stage.pages.url("a.test", "/one"), origin.as_str()),
        (stage.pages.url("a.test", "/missing"), origin.as_str()),
        (format!("data:text/html,{blob}"), "null"),
        ("about:blank".to_owned(), "null"),
        (unreachable.clone(), "null"),
        (stage.pages.url("a.test", "/two?q#f"), origin.as_str()),
    ];
    let first = stage.top().frame_id;
    for (url, origin) in ways {
        let said = navigate(&stage, &url).await;
        assert_eq!(said.get("errorText").is_some(), url == unreachable, "{said}");
        let top = shows(&stage, &url).await;
        assert_eq!((top.origin.as_str(), &top.frame_id), (origin, &first));
        let href = if url == unreachable { "chrome-error://chromewebdata/" } else { &url };
        assert_eq!(stage.value(None, "location.href").await, json!(href));
        assert_eq!(stage.value(None, "origin").await, json!(origin));
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s081_a_navigation_that_brings_no_document_changes_nothing() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/one").await;
    stage.value(None, "void (window.mark = 1)").await;
    stage.call("Page.setDownloadBehavior", json!({ "behavior": "deny" })).await.unwrap();
    let before = stage.top();
    for path in ["/204", "/download"] {
        let said = navigate(&stage, &stage.pages.url("a.test", path)).await;
        assert_eq!(said["errorText"], json!("net::ERR_ABORTED"), "{said}");
        assert_eq!(stage.value(None, "window.mark").await, json!(1), "calls go to the document that stayed");
        assert_eq!(stage.top(), before);
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s082_a_navigation_that_is_overtaken_says_so() {
    let gate = Gate::new();
    let stage = Stage::new(site().slow("/slow", &gate, "slow")).await;
    stage.open("a.test", "/one").await;
    let (slow, two) = (stage.pages.url("a.test", "/slow"), stage.pages.url("a.test", "/two"));
    let (first, second) = tokio::join!(navigate(&stage, &slow), async {
        gate.arrived(1).await;
        navigate(&stage, &two).await
    });
    assert_eq!(first["errorText"], json!("net::ERR_ABORTED"), "{first}");
    assert_eq!(second.get("errorText"), None, "{second}");
    shows(&stage, &two).await;
    stage.comes_true(None, "document.title === 'two'").await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s083_a_call_whose_document_leaves_ends_as_navigated() {
    let stage = Stage::new(site()).await;
    for host in ["a.test", "b.test"] {
        stage.open("a.test", "/one").await;
        let never = "window.started = new Promise(() => {})";
        let (call, ()) = tokio::join!(stage.eval(None, never), async {
            stage.comes_true(None, "window.started").await;
            navigate(&stage, &stage.pages.url(host, "/two")).await;
        });
        let failure = call.unwrap_err();
        assert_eq!(failure.code, Code::Navigated, "to {host}: {failure:?}");
        stage.comes_true(None, "document.title === 'two'").await;
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s084_a_page_from_the_back_forward_cache_has_its_frames() {
    let page = "<iframe name=near src=/leaf></iframe><iframe name=far src=http://b.test:{PORT}/leaf></iframe>
        <script>window.mark = 1; addEventListener('pageshow', event => { window.persisted = event.persisted })</script>";
    let stage = Stage::new(site().page("/cached", page)).await;
    stage.open("a.test", "/cached").await;
    let names = ["near", "far"];
    for name in names {
        let frame = stage.frame_named(name).await;
        stage.value(Some(&frame.frame_id), "void (window.mark = 2)").await;
    }
    stage.open("c.test", "/two").await;
    assert_eq!(stage.frames().len(), 1);
    stage.value(None, "void setTimeout(() => history.back())").await;
    shows(&stage, &stage.pages.url("a.test", "/cached")).await;
    // The headless shell has no such cache, and loads the page again.
    let (mark, persisted) = if is_headless_shell() { (None, false) } else { (Some(2), true) };
    for name in names {
        let frame = stage.frame_named(name).await;
        assert_eq!((frame.is_oopif, frame.session_id.is_some()), (name == "far", name == "far"));
        assert_eq!(frame.parent_frame_id, Some(stage.top().frame_id));
        assert_eq!(
            stage.value(Some(&frame.frame_id), "[location.href, window.mark]").await,
            json!([frame.url, mark])
        );
    }
    stage.comes_true(None, &format!("window.persisted === {persisted}")).await;
    assert_eq!(stage.value(None, "window.mark").await, json!(1));
    assert_eq!(stage.frames().len(), 3);
    stage.end().await;
}

/// Chromium prerenders only in a secure context, which `localhost` is, and not while somebody is attached to the page
/// without its tab; where it does, the main frame may get another id.
#[tokio::test(flavor = "multi_thread")]
async fn s086_a_page_with_speculation_rules_goes_on_after_the_link() {
    let rules = r#"<script type=speculationrules>{"prerender": [{"source": "list", "urls": ["/next"]}]}</script>
        <a href=/next>next</a>"#;
    let next = "<title>next</title><script>window.activated = document.prerendering</script>
        <iframe name=inner src=/leaf></iframe>";
    let stage = Stage::new(site().page("/rules", rules).page("/next", next)).await;
    stage.open("localhost", "/rules").await;
    let (page, before) = (stage.page().target_id, stage.top());
    assert_eq!(
        stage.value(None, "isSecureContext && HTMLScriptElement.supports('speculationrules')").await,
        json!(true)
    );
    stage.value(None, "void setTimeout(() => document.querySelector('a').click())").await;
    shows(&stage, &stage.pages.url("localhost", "/next")).await;
    let inner = stage.frame_named("inner").await;
    // The document was loaded by the click, in the same main frame and session, and not before it.
    let kind = "[document.title, window.activated, performance.getEntriesByType('navigation')[0].activationStart || 0]";
    assert_eq!(stage.value(None, kind).await, json!(["next", false, 0]));
    let top = stage.top();
    assert_eq!((&top.frame_id, &top.session_id), (&before.frame_id, &before.session_id));
    assert_eq!(stage.page().target_id, page, "the page was not replaced");
    assert_eq!(stage.task.snapshot().pages.len(), 1);
    assert_eq!(inner.parent_frame_id, Some(stage.top().frame_id));
    assert_eq!(stage.value(Some(&inner.frame_id), "location.href").await, json!(inner.url));

    stage.value(None, "void setTimeout(() => { window.answer = confirm('still?') })").await;
    let dialog = stage.dialog().await;
    assert!(stage.is_of_frame(&dialog, &stage.top().frame_id));
    assert_eq!(dialog.target_id, page);
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "window.answer").await, json!(true));
    stage.end().await;
}
