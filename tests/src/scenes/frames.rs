//! Frames that come, go, and move between processes.

use page_server::Site;
use serde_json::json;
use supervisor::{Code, FrameId};

use super::documents::nested_site;
use super::{Scene, Set, set::plain};

const ATTACHED: &str = "recv Target.attachedToTarget";
const DETACHED: &str = "recv Target.detachedFromTarget";

fn framed() -> Site {
    plain().page("/swap", "<title>swap</title><iframe name=moved src=/leaf></iframe>")
}

fn cached() -> Site {
    plain().page("/cached", "<title>cached</title><iframe name=near src=/leaf></iframe><iframe name=far src=http://b.test:{PORT}/leaf></iframe>")
}

fn ruled() -> Site {
    let rules = r#"<title>rules</title><script type=speculationrules>{"prerender": [{"source": "list", "urls": ["/next"]}]}</script><a href=/next>next</a>"#;
    plain().page("/rules", rules)
}

/// A page of one empty sheet, which an extension shows.
fn printed() -> Site {
    let pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n";
    plain().page("/pdf", "<iframe name=pdf src=/a.pdf></iframe>").file("/a.pdf", "application/pdf", pdf)
}

pub(super) fn scenes() -> Vec<Scene> {
    [moves(), goes(), shapes()].concat()
}

fn moves() -> Vec<Scene> {
    vec![
        Scene::new(
            "local-oopif-local",
            "A frame goes to another process and comes back: it stays one frame, and calls find it each time.",
            &[ATTACHED, "recv Page.frameNavigated", "recv Page.frameDetached swap", DETACHED, "recv Page.frameAttached"],
            |set| Box::pin(there_and_back(set)),
        )
        .on(framed),
        Scene::new(
            "oopif-to-oopif",
            "A frame goes from one foreign site to another: the same session goes on, and contexts are counted from 1 again.",
            &[ATTACHED, "recv Runtime.executionContextsCleared", "recv Page.frameNavigated c.test"],
            |set| Box::pin(through(set, &[("c.test", "/next", true)])),
        )
        .on(plain),
        Scene::new(
            "oopif-to-blank",
            "A frame of another site becomes about:blank and then inline data: it is back in the page's process.",
            &[ATTACHED, DETACHED, "recv Page.frameAttached", "recv Page.frameNavigated about:blank"],
            |set| Box::pin(to_blank(set)),
        ),
    ]
}

fn goes() -> Vec<Scene> {
    vec![
        Scene::new("oopif-removed", "A frame of another site is removed, and its session with it.", &["recv Page.frameDetached remove", DETACHED], |set| {
            Box::pin(removed(set))
        }),
        Scene::new(
            "top-navigation",
            "The page navigates away from nested sites: only the first of them is told to be gone, what hung below goes unsaid.",
            &[ATTACHED, ATTACHED, "recv Page.frameNavigated"],
            |set| Box::pin(top_navigation(set)),
        )
        .on(nested_site),
        Scene::new(
            "back-forward-cache",
            "A page comes back from the cache with its frames: those of other sites attach anew, those of its own are told by nobody and asked for.",
            &[DETACHED, ATTACHED, "recv Page.frameNavigated BackForwardCacheRestore", "send Page.getFrameTree"],
            |set| Box::pin(back(set)),
        )
        .on(cached),
    ]
}

fn shapes() -> Vec<Scene> {
    vec![
        Scene::new(
            "frames-before-us",
            "The frames were there before us: a page's listing leaves out what is in other processes, and their own name their parents.",
            &["send Page.getFrameTree", "recv * frameTree", "recv * parentId"],
            |set| Box::pin(before_us(set)),
        )
        .on(nested_site)
        .after(|set| Box::pin(opened(set, "/nested", "inner"))),
        Scene::new(
            "speculation-rules",
            "A page that would like its next one prepared: while we are attached the browser prepares none, and the link leads there as always.",
            &["recv Page.frameNavigated /next"],
            |set| Box::pin(link(set)),
        )
        .on(ruled),
        Scene::new(
            "pdf-frame",
            "A PDF in an iframe: the page's frame, an extension's in another process, and the PDF in a third.",
            &[ATTACHED, ATTACHED],
            |set| Box::pin(pdf(set)),
        )
        .on(printed),
        Scene::new(
            "within-the-document",
            "A new address and a new fragment keep the document; one that is opened again loses its frames without a navigation.",
            &[
                "recv Page.navigatedWithinDocument /pushed",
                "recv Page.navigatedWithinDocument #fragment",
                "recv Page.frameDetached remove",
            ],
            |set| Box::pin(within(set)),
        )
        .on(framed),
    ]
}

/// Sends the frame elsewhere, and waits until it is there and takes calls.
async fn send(set: &Set, frame: &FrameId, url: &str, is_oopif: bool) {
    set.value(None, &format!("void (document.querySelector('iframe').src = {})", json!(url))).await;
    let is_there =
        |it: &supervisor::FrameView| it.frame_id == *frame && it.url == url && it.is_oopif == is_oopif;
    set.frame_where(is_there).await;
    assert_eq!(set.value(Some(frame), "location.href").await, json!(url));
}

async fn there_and_back(set: &Set) {
    set.open("a.test", "/swap").await;
    let moved = set.frame_loaded("moved").await.frame_id;
    send(set, &moved, &set.pages.url("b.test", "/next"), true).await;
    send(set, &moved, &set.pages.url("a.test", "/next"), false).await;
}

async fn through(set: &Set, ways: &[(&str, &str, bool)]) {
    set.open("a.test", "/far").await;
    let frame = set.frame_loaded("far").await;
    for (host, path, is_oopif) in ways {
        send(set, &frame.frame_id, &set.pages.url(host, path), *is_oopif).await;
    }
    let after = set.frame_loaded("far").await;
    assert_eq!((after.is_oopif, &after.session_id), (true, &frame.session_id));
}

async fn to_blank(set: &Set) {
    set.open("a.test", "/far").await;
    let frame = set.frame_loaded("far").await.frame_id;
    send(set, &frame, "about:blank", false).await;
    send(set, &frame, "data:text/html,<p>inline", false).await;
}

async fn removed(set: &Set) {
    set.open("a.test", "/far").await;
    let frame = set.frame_loaded("far").await.frame_id;
    set.value(None, "document.querySelector('iframe').remove()").await;
    set.without(&frame).await;
    assert_eq!(set.eval(Some(&frame), "1").await.unwrap_err().code, Code::FrameGone);
}

async fn top_navigation(set: &Set) {
    set.open("a.test", "/nested").await;
    let inner = set.frame_loaded("inner").await.frame_id;
    set.open("a.test", "/next").await;
    set.until(|it| it.frame_tree.children.is_empty()).await;
    assert_eq!(set.eval(Some(&inner), "1").await.unwrap_err().code, Code::FrameGone);
}

async fn back(set: &Set) {
    opened(set, "/cached", "far").await;
    set.open("c.test", "/next").await;
    set.value(None, "void setTimeout(() => history.back())").await;
    set.shows("/cached").await;
    for name in ["near", "far"] {
        let frame = set.frame_loaded(name).await;
        assert_eq!(frame.is_oopif, name == "far");
        assert_eq!(set.value(Some(&frame.frame_id), "location.pathname").await, json!("/leaf"));
    }
}

async fn opened(set: &Set, path: &str, frame: &str) {
    set.open("a.test", path).await;
    let frame = set.frame_loaded(frame).await.frame_id;
    set.comes_true(Some(&frame), "document.readyState === 'complete'").await;
}

async fn before_us(set: &Set) {
    let (middle, inner) = (set.frame_loaded("middle").await, set.frame_loaded("inner").await);
    assert_eq!(inner.parent_frame_id, Some(middle.frame_id));
    assert_eq!(middle.parent_frame_id, Some(set.top().frame_id));
    assert_eq!(set.value(Some(&inner.frame_id), "location.hostname").await, json!("c.test"));
}

async fn link(set: &Set) {
    set.open("localhost", "/rules").await;
    set.value(None, "void setTimeout(() => document.querySelector('a').click())").await;
    set.shows("/next").await;
    assert_eq!(set.task.snapshot().pages.len(), 1);
    set.confirms(None).await;
}

async fn pdf(set: &Set) {
    set.call("Page.setDownloadBehavior", json!({ "behavior": "deny" })).await.unwrap();
    set.open("a.test", "/pdf").await;
    let url = set.pages.url("a.test", "/a.pdf");
    let outer = set.frame_where(|frame| frame.name == "pdf" && frame.url == url).await;
    let viewer = set.frame_where(|it| it.is_oopif && it.url.starts_with("chrome-extension://")).await;
    let inner = set.frame_where(|it| it.is_oopif && it.url == url).await;
    assert_eq!(
        (viewer.parent_frame_id, inner.parent_frame_id),
        (Some(outer.frame_id), Some(viewer.frame_id))
    );
}

async fn within(set: &Set) {
    set.open("a.test", "/swap").await;
    let frame = set.frame_loaded("moved").await.frame_id;
    set.value(None, "history.pushState(0, '', '/pushed')").await;
    set.shows("/pushed").await;
    set.value(None, "void (location.hash = 'fragment')").await;
    set.shows("/pushed#fragment").await;
    assert_eq!(set.frames().len(), 2);
    set.value(None, "document.open(); document.write('<p>written'); document.close()").await;
    set.without(&frame).await;
    assert_eq!(set.value(None, "document.body.innerText").await, json!("written"));
}
