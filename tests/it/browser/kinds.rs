//! Every kind of frame that a page can have, each with its URL, origin, name, parent and process.

use integration_tests::{Stage, is_headless_shell};
use page_server::{Gate, Site};
use serde_json::json;
use supervisor::{Code, FrameTree, FrameView};

/// What is said about a frame: its name, its parent's, URL, origin, and whether it has a process of its own.
type Said = (String, String, String, String, bool);

fn site() -> Site {
    Site::new().page("/empty", "<title>empty</title>").page("/leaf", "<p>leaf")
}

fn said(tree: &FrameTree) -> Vec<Said> {
    let name = |wanted: &FrameView| {
        let all = tree.top.iter().chain(&tree.children);
        let parent = all.clone().find(|frame| Some(&frame.frame_id) == wanted.parent_frame_id.as_ref());
        parent.map(|frame| frame.name.clone()).unwrap_or_else(|| "no parent".to_owned())
    };
    let children = tree.children.iter();
    let mut said: Vec<_> = children
        .map(|it| (it.name.clone(), name(it), it.url.clone(), it.origin.clone(), it.is_oopif))
        .collect();
    said.sort();
    said
}

/// A frame of the page itself.
fn child(name: &str, url: &str, origin: &str, is_oopif: bool) -> Said {
    below("", name, url, origin, is_oopif)
}

fn below(parent: &str, name: &str, url: &str, origin: &str, is_oopif: bool) -> Said {
    (name.to_owned(), parent.to_owned(), url.to_owned(), origin.to_owned(), is_oopif)
}

/// Waits until exactly this is said, and asks each frame whether it agrees.
async fn has(stage: &Stage, mut expected: Vec<Said>) {
    expected.sort();
    let wait =
        stage.task.wait_for(|snapshot| said(&snapshot.frame_tree) == expected, integration_tests::patience());
    if wait.await.is_err() {
        assert_eq!(said(&stage.task.snapshot().frame_tree), expected);
    }
    for frame in stage.task.snapshot().frame_tree.children.iter() {
        let words = stage.value(Some(&frame.frame_id), "[name, location.href, origin]").await;
        assert_eq!(words, json!([frame.name, frame.url, frame.origin]));
        assert_eq!(frame.session_id.is_some(), frame.is_oopif);
        assert_eq!(frame.target_id, stage.page().target_id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_in_their_parents_process() {
    let page = "
        <iframe name=plain src='/leaf?query#fragment'></iframe>
        <iframe name=subdomain src=http://sub.a.test:{PORT}/leaf></iframe>
        <iframe name=srcdoc srcdoc='<p>text'></iframe>
        <iframe name=nothing></iframe>
        <iframe name=blank src=about:blank></iframe>
        <iframe name=data src='data:text/html,<p>text'></iframe>
        <iframe name=script src=\"javascript:'<p>text'\"></iframe>
        <iframe name=open sandbox='allow-scripts allow-same-origin' src=/leaf></iframe>
        <object name=object data=/leaf type=text/html></object>
        <embed name=embed src=/leaf type=text/html>";
    let stage = Stage::new(site().page("/", page)).await;
    stage.open("a.test", "/").await;
    let (a, sub) = (stage.pages.url("a.test", ""), stage.pages.url("sub.a.test", ""));
    let leaf = format!("{a}/leaf");
    has(
        &stage,
        vec![
            child("plain", &format!("{leaf}?query#fragment"), &a, false),
            child("subdomain", &format!("{sub}/leaf"), &sub, false),
            child("srcdoc", "about:srcdoc", &a, false),
            child("nothing", "about:blank", &a, false),
            child("blank", "about:blank", &a, false),
            child("data", "data:text/html,<p>text", "null", false),
            child("script", "about:blank", &a, false),
            child("open", &leaf, &a, false),
            child("object", &leaf, &a, false),
            child("embed", &leaf, &a, false),
        ],
    )
    .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sandboxed_frames_are_opaque_and_have_another_process() {
    let page = "
        <iframe name=scripts sandbox=allow-scripts src=/leaf></iframe>
        <iframe name=all sandbox src=/leaf></iframe>
        <iframe name=doc sandbox=allow-scripts srcdoc='<p>text'></iframe>
        <iframe name=blank sandbox=allow-scripts></iframe>
        <iframe name=far sandbox=allow-scripts src=http://b.test:{PORT}/leaf></iframe>
        <iframe name=credentialless credentialless src=http://b.test:{PORT}/leaf></iframe>";
    let stage = Stage::new(site().page("/", page)).await;
    stage.open("a.test", "/").await;
    let (a, b) = (stage.pages.url("a.test", "/leaf"), stage.pages.url("b.test", "/leaf"));
    let apart = stage.isolates_sandboxed_frames();
    has(
        &stage,
        vec![
            child("scripts", &a, "null", apart),
            child("all", &a, "null", apart),
            child("doc", "about:srcdoc", "null", apart),
            child("blank", "about:blank", "null", false),
            child("far", &b, "null", true),
            child("credentialless", &b, &stage.pages.url("b.test", ""), true),
        ],
    )
    .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_an_oopif_inherit_from_it() {
    let outer =
        "<iframe name=doc srcdoc='<iframe name=deep src=http://a.test:{PORT}/leaf></iframe>'></iframe>
        <iframe name=nothing></iframe><iframe name=near src=/leaf></iframe>";
    let page = "<iframe name=outer src=http://b.test:{PORT}/outer></iframe>";
    let stage = Stage::new(site().page("/", page).page("/outer", outer)).await;
    stage.open("a.test", "/").await;
    let (a, b) = (stage.pages.url("a.test", ""), stage.pages.url("b.test", ""));
    has(
        &stage,
        vec![
            child("outer", &format!("{b}/outer"), &b, true),
            below("outer", "doc", "about:srcdoc", &b, false),
            below("outer", "nothing", "about:blank", &b, false),
            below("outer", "near", &format!("{b}/leaf"), &b, false),
            below("doc", "deep", &format!("{a}/leaf"), &a, true),
        ],
    )
    .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_scripts_make() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/empty").await;
    stage
        .value(
            None,
            "
        const add = (name, more) => {
            const frame = Object.assign(document.createElement('iframe'), { name, ...more });
            document.body.append(frame);
            return frame;
        };
        const blob = URL.createObjectURL(new Blob(['<p>text'], { type: 'text/html' }));
        add('blob', { src: blob });
        add('far', { src: `http://b.test:${location.port}/leaf` });
        const written = add('written', {}).contentDocument;
        written.open(); written.write('<p>text'); written.close();
        window.blob = blob",
        )
        .await;
    let (a, b) = (stage.pages.url("a.test", ""), stage.pages.url("b.test", ""));
    let blob = stage.value(None, "window.blob").await;
    has(
        &stage,
        vec![
            child("blob", blob.as_str().unwrap(), &a, false),
            child("far", &format!("{b}/leaf"), &b, true),
            child("written", &format!("{a}/empty"), &a, false),
        ],
    )
    .await;
    // Moved to another place in the document, a frame is another frame.
    let before = stage.frame_named("far").await.frame_id;
    stage.value(None, "void document.body.prepend(document.querySelector('[name=far]'))").await;
    stage.without(&before).await;
    let after =
        stage.frame_where(|frame| frame.name == "far" && frame.is_oopif && !frame.url.is_empty()).await;
    assert_eq!(stage.eval(Some(&before), "1").await.unwrap_err().code, Code::FrameGone);
    assert_eq!(stage.value(Some(&after.frame_id), "location.href").await, json!(after.url));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s057_frames_in_shadow_trees() {
    let page = "<div></div><p></p><script>
        const frames = '<iframe name=near src=/leaf></iframe><iframe name=far src=http://b.test:{PORT}/leaf></iframe>';
        document.querySelector('div').attachShadow({ mode: 'open' }).innerHTML = frames;
        document.querySelector('p').attachShadow({ mode: 'closed' }).innerHTML = frames.replaceAll('name=', 'name=closed-');
    </script>";
    let stage = Stage::new(site().page("/", page)).await;
    stage.open("a.test", "/").await;
    let (a, b) = (stage.pages.url("a.test", ""), stage.pages.url("b.test", ""));
    has(
        &stage,
        vec![
            child("near", &format!("{a}/leaf"), &a, false),
            child("far", &format!("{b}/leaf"), &b, true),
            child("closed-near", &format!("{a}/leaf"), &a, false),
            child("closed-far", &format!("{b}/leaf"), &b, true),
        ],
    )
    .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn framesets_nest() {
    let page = "<frameset cols='*,*'><frame name=left src=/leaf>
        <frameset rows='*,*'><frame name=up src=/inner><frame name=down src=http://b.test:{PORT}/leaf></frameset></frameset>";
    let inner = "<frameset cols='*'><frame name=inmost src=/leaf></frameset>";
    let stage = Stage::new(site().page("/", page).page("/inner", inner)).await;
    stage.open("a.test", "/").await;
    let (a, b) = (stage.pages.url("a.test", ""), stage.pages.url("b.test", ""));
    has(
        &stage,
        vec![
            child("left", &format!("{a}/leaf"), &a, false),
            child("up", &format!("{a}/inner"), &a, false),
            child("down", &format!("{b}/leaf"), &b, true),
            below("up", "inmost", &format!("{a}/leaf"), &a, false),
        ],
    )
    .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_whose_document_is_late_and_one_that_gets_none() {
    let (gate, port) = (Gate::new(), "{PORT}");
    let page = format!(
        "<iframe name=late src=http://b.test:{port}/late></iframe><iframe name=error src=http://a.test:9/></iframe>"
    );
    let stage = Stage::new(site().page("/", &page).slow("/late", &gate, "<p>late")).await;
    let url = stage.pages.url("a.test", "/");
    stage.call("Page.navigate", json!({ "url": url })).await.unwrap();
    gate.arrived(1).await;
    let error = stage.frame_named("error").await;
    assert_eq!((error.url.as_str(), error.origin.as_str()), ("http://a.test:9/", "null"));
    let href = stage.value(Some(&error.frame_id), "location.href").await;
    assert_eq!(href, json!("chrome-error://chromewebdata/"), "the browser's own page stands for it");
    let late = stage.frame_where(|frame| frame.frame_id != error.frame_id).await;
    assert_eq!((late.url.as_str(), late.is_oopif), ("", false), "no document yet");
    gate.release();
    let there = stage.frame_named("late").await;
    assert_eq!((there.frame_id, there.is_oopif), (late.frame_id.clone(), true));
    assert_eq!(stage.value(Some(&late.frame_id), "location.href").await, json!(there.url));
    stage.end().await;
}

/// A PDF is shown by an extension, in frames that no page made. The headless shell has none, and downloads it.
#[tokio::test(flavor = "multi_thread")]
async fn a_pdf_is_three_frames_deep() {
    let pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n";
    let site =
        site().page("/", "<iframe name=pdf src=/a.pdf></iframe>").file("/a.pdf", "application/pdf", pdf);
    let stage = Stage::new(site).await;
    stage.call("Page.setDownloadBehavior", json!({ "behavior": "deny" })).await.unwrap();
    stage.open("a.test", "/").await;
    if is_headless_shell() {
        let frame = stage.frame_where(|_| true).await;
        assert!(!frame.is_oopif);
        assert_eq!(
            stage.value(Some(&frame.frame_id), "[name, location.href]").await,
            json!(["pdf", "about:blank"])
        );
        return stage.end().await;
    }
    let url = stage.pages.url("a.test", "/a.pdf");
    let outer = stage.frame_where(|frame| frame.name == "pdf" && frame.url == url).await;
    let viewer = stage.frame_where(|it| it.is_oopif && it.url.starts_with("chrome-extension://")).await;
    let inner = stage.frame_where(|it| it.is_oopif && it.url == url).await;
    assert_eq!((outer.is_oopif, outer.parent_frame_id), (false, Some(stage.top().frame_id)));
    assert_eq!(viewer.parent_frame_id, Some(outer.frame_id));
    assert_eq!(inner.parent_frame_id, Some(viewer.frame_id));
    assert_eq!(stage.frames().len(), 4);
    assert_eq!(stage.value(Some(&inner.frame_id), "location.href").await, json!(url));
    stage.end().await;
}
