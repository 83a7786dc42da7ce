//! What a process lists of its frames, and what it says of them meanwhile and afterwards.

use integration_tests::{Stage, patience};
use page_server::Site;
use serde_json::json;
use supervisor::{EvalOptions, FrameView, Options, Task};

fn site() -> Site {
    Site::new()
        .page("/", "")
        .page("/leaf", "<p>leaf")
        .page("/framed", "<iframe name=near src=/leaf></iframe>")
        .page("/far", "<iframe name=far src=http://b.test:{PORT}/restless></iframe>")
        .page("/restless", "<script>
            const add = src => document.body.appendChild(Object.assign(document.createElement('iframe'), { src }));
            const toss = () => { add('/leaf'); add(`http://c.test:{PORT}/leaf`); setTimeout(() => document.body.replaceChildren(), 7) };
            onload = () => { window.runs = true; setInterval(toss, 3) };
        </script>")
}

async fn late(stage: &Stage, name: &str) -> Task {
    stage.supervisor.get_or_start(name, stage.browser.ws_url(), Options::default()).await.unwrap()
}

/// What a task believes, in the order of the tree.
fn urls(task: &Task) -> Vec<String> {
    task.frames(None).unwrap_or_default().into_iter().map(|frame| frame.url).collect()
}

async fn comes_to_show(task: &Task, expected: &[String]) -> Vec<FrameView> {
    let shown = task.wait_for(|_| urls(task) == expected, patience()).await;
    assert!(shown.is_ok(), "{:?} is not {expected:?}", urls(task));
    task.frames(None).unwrap()
}

async fn are_where_they_are_said_to_be(task: &Task, frames: Vec<FrameView>) {
    for frame in frames {
        let asked = task.eval(Some(frame.frame_id), "location.href", EvalOptions::default()).await;
        assert_eq!(asked.unwrap().value.get(), json!(frame.url).to_string());
    }
}

/// The page is listed for a task that comes, while it goes from one document to the next.
#[tokio::test(flavor = "multi_thread")]
async fn s061_a_document_that_comes_while_frames_are_listed_wins_over_the_list() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/framed?0").await;
    for n in 1..=8 {
        let host = ["b.test", "a.test"][n % 2];
        let url = stage.pages.url(host, &format!("/framed?{n}"));
        let name = format!("late-{n}");
        let (task, gone) =
            tokio::join!(late(&stage, &name), stage.call("Page.navigate", json!({ "url": url })));
        gone.unwrap();
        let frames = comes_to_show(&task, &[url, stage.pages.url(host, "/leaf")]).await;
        are_where_they_are_said_to_be(&task, frames).await;
        assert_eq!(task.snapshot().counts.meters.protocol_violations, 0);
        stage.supervisor.stop(name.as_str()).await;
    }
    stage.end().await;
}

/// Nothing but the listing told a task of this frame, which then goes elsewhere and comes home.
#[tokio::test(flavor = "multi_thread")]
async fn s062_a_frame_that_only_a_listing_told_of_is_followed_like_any_other() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/framed").await;
    stage.frame_named("near").await;
    let task = late(&stage, "late").await;
    let top = stage.top().url;
    let listed = comes_to_show(&task, &[top.clone(), stage.pages.url("a.test", "/leaf")]).await;
    for (host, path, is_oopif) in
        [("a.test", "/", false), ("b.test", "/leaf", true), ("a.test", "/leaf", false)]
    {
        let url = stage.pages.url(host, path);
        stage.value(None, &format!("void (document.querySelector('iframe').src = '{url}')")).await;
        let frames = comes_to_show(&task, &[top.clone(), url]).await;
        assert_eq!((&frames[1].frame_id, frames[1].is_oopif), (&listed[1].frame_id, is_oopif));
        are_where_they_are_said_to_be(&task, frames).await;
    }
    stage.end().await;
}

/// An iframe in another process that adds and removes frames without a pause is removed: what its process and theirs still
/// have to say is of frames that are gone, or whose parents are.
#[tokio::test(flavor = "multi_thread")]
async fn s063_s064_what_is_said_of_frames_that_are_gone_changes_nothing() {
    let stage = Stage::new(site()).await;
    for _ in 0..10 {
        stage.open("a.test", "/far").await;
        let far = stage.frame_named("far").await.frame_id;
        stage.comes_true(Some(&far), "window.runs").await;
        stage.until(|snapshot| snapshot.frame_tree.children.len() > 3).await;
        stage.value(None, "document.querySelector('iframe').remove()").await;
        stage.until(|snapshot| snapshot.frame_tree.children.is_empty()).await;
        // A round trip through the browser and the page: nothing that was said later has brought a frame back.
        stage.call("Target.getTargets", json!({})).await.unwrap();
        assert_eq!(stage.value(None, "frames.length").await, json!(0));
        assert_eq!(stage.frames().len(), 1);
    }
    assert_eq!(stage.task.snapshot().counts.meters.protocol_violations, 0);
    stage.end().await;
}
