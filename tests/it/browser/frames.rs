//! The frame tree of pages whose frames share their process, and calls into such frames.

use std::time::Duration;

use integration_tests::Stage;
use page_server::Site;
use serde_json::json;
use supervisor::{Code, Event, FrameId, Place};

/// A deadline that no test reaches: what ends before ends for a better reason.
const HOURS: Duration = Duration::from_secs(10 * 3600);

fn site() -> Site {
    Site::new()
        .page("/empty", "<title>empty</title>")
        .page("/leaf", "<p>leaf")
        .page("/pair", "<iframe name=uno src=/leaf></iframe><iframe name=dos src=/leaf></iframe>")
        .page("/nested", "<iframe name=pair src=/pair></iframe><iframe name=aframe src=/leaf></iframe>")
        .page("/four", &"<iframe src=/leaf></iframe>".repeat(4))
        .page(
            "/frameset",
            "<frameset cols='*,*'><frame name=left src=/leaf><frame name=right src=/pair></frameset>",
        )
}

fn is_attached(event: &Event) -> bool {
    matches!(event, Event::FrameAttached { .. } | Event::IframeAttached { .. })
}

fn navigated(event: &Event, id: &FrameId) -> bool {
    matches!(event, Event::FrameNavigated { frame, .. } if frame.id == *id)
}

#[tokio::test(flavor = "multi_thread")]
async fn s052_three_levels_of_named_frames_are_a_tree() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/nested").await;
    let top = stage.top();
    let pair = stage.frame_named("pair").await;
    stage.frame_named("dos").await;
    assert_eq!(stage.names_below(&top.frame_id), ["aframe", "pair"]);
    assert_eq!(stage.names_below(&pair.frame_id), ["dos", "uno"]);
    let frames = stage.frames();
    assert_eq!(frames.len(), 5);
    assert!(frames.iter().all(|frame| !frame.is_oopif && frame.session_id.is_none()), "{frames:#?}");
    for frame in frames {
        assert_eq!(stage.value(Some(&frame.frame_id), "location.href").await, json!(frame.url));
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s053_a_frame_comes_once_changes_its_url_and_goes_once() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/empty").await;
    let mut stream = stage.task.events();
    stage.value(None, "document.body.append(Object.assign(document.createElement('iframe'), { src: '/leaf', name: 'new' }))").await;
    let frame = stage.frame("/leaf").await;
    assert_eq!((frame.name.as_str(), frame.parent_frame_id), ("new", Some(stage.top().frame_id)));
    stage.value(None, "document.querySelector('iframe').src = '/empty'").await;
    assert_eq!(stage.frame("/empty").await.frame_id, frame.frame_id);
    stage.value(None, "document.querySelector('iframe').remove()").await;
    stage.without(&frame.frame_id).await;

    let is_end = |event: &Event| matches!(event, Event::FrameGone { frame: gone } if *gone == frame.frame_id);
    let seen = stage.happened(&mut stream, is_end).await;
    assert_eq!(seen.iter().filter(|event| is_attached(event)).count(), 1);
    assert_eq!(seen.iter().filter(|event| navigated(event, &frame.frame_id)).count(), 2);
    assert_eq!(stage.frames().len(), 1);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s054_an_anchor_changes_the_url_and_nothing_else() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/nested").await;
    stage.frame_named("dos").await;
    let before = stage.frames();
    stage.value(None, "void (window.mark = 1)").await;
    for fragment in ["#by-script", "#by-command"] {
        let url = stage.pages.url("a.test", "/nested") + fragment;
        match fragment {
            "#by-script" => drop(stage.value(None, "void (location.hash = 'by-script')").await),
            _ => drop(stage.call("Page.navigate", json!({ "url": url })).await.unwrap()),
        }
        stage.until(|snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == url)).await;
    }
    assert_eq!(stage.value(None, "window.mark").await, json!(1), "the document is the same");
    let after = stage.frames();
    assert_eq!(after[1..], before[1..]);
    assert_eq!((&after[0].frame_id, &after[0].origin), (&before[0].frame_id, &before[0].origin));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s055_the_main_frame_and_its_session_outlive_a_change_of_process() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/empty").await;
    let session = || async { stage.call("Page.getNavigationHistory", json!({})).await.unwrap().session_id };
    let (before, page, first_session) = (stage.top(), stage.page(), session().await);
    let mut stream = stage.task.events();
    stage.open("b.test", "/empty").await;
    let after = stage.top();
    assert_eq!((&after.frame_id, &after.target_id), (&before.frame_id, &page.target_id));
    assert_ne!(after.origin, before.origin);
    assert_eq!((session().await, stage.page().target_id), (first_session, page.target_id));
    let seen = stage.happened(&mut stream, |event| navigated(event, &after.frame_id)).await;
    let moved = |event: &Event| matches!(event, Event::SessionGone { .. } | Event::PageAttached { .. });
    assert!(!seen.iter().any(moved), "{seen:#?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s056_a_navigation_takes_the_old_documents_frames() {
    for (path, count) in [("/four", 4), ("/frameset", 4)] {
        let stage = Stage::new(site()).await;
        stage.open("a.test", path).await;
        let leaves = |snapshot: &supervisor::Snapshot| {
            snapshot.frame_tree.children.iter().filter(|frame| !frame.url.is_empty()).count()
        };
        stage.until(|snapshot| leaves(snapshot) == count).await;
        let old: Vec<_> = stage.frames().into_iter().skip(1).collect();
        let mut stream = stage.task.events();
        stage.open("a.test", "/empty").await;
        let top = stage.top().frame_id;
        let seen = stage.happened(&mut stream, |event| navigated(event, &top)).await;
        assert!(!seen.iter().any(is_attached), "{seen:#?}");
        assert_eq!(stage.frames().len(), 1);
        for frame in old {
            let failure = stage.eval(Some(&frame.frame_id), "1").await.unwrap_err();
            assert_eq!(failure.code, Code::FrameGone);
        }
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s058_query_and_fragment_are_part_of_a_frames_url() {
    let stage = Stage::new(site().page("/", "<iframe src='/leaf?param=value#fragment'></iframe>")).await;
    stage.open("a.test", "/").await;
    let frame = stage.frame("/leaf").await;
    assert_eq!(frame.url, stage.pages.url("a.test", "/leaf?param=value#fragment"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s059_calls_for_a_removed_frame_end_at_once() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/nested").await;
    let uno = stage.frame_named("uno").await.frame_id;
    let pair = stage.frame_named("pair").await.frame_id;
    stage.value(None, "document.querySelector('iframe').remove()").await;
    stage.without(&pair).await;
    for frame in [pair, uno] {
        let failure = stage.eval_within(Some(&frame), "1", HOURS).await.unwrap_err();
        assert_eq!((failure.code, failure.detail.frame_id), (Code::FrameGone, Some(frame.clone())));
        let call = stage.task.call(Place::Frame(frame), "DOM.getDocument", "{}", Some(HOURS)).await;
        assert_eq!(call.unwrap_err().code, Code::FrameGone);
    }
    let never = stage.eval_within(Some(&FrameId::from("NEVER")), "1", HOURS).await.unwrap_err();
    assert_eq!(never.code, Code::FrameNotFound);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s060_a_local_frame_takes_an_eval_and_refuses_a_raw_call() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/nested").await;
    let uno = stage.frame_named("uno").await;
    assert!(!uno.is_oopif && uno.session_id.is_none());
    let place = Place::Frame(uno.frame_id.clone());
    let failure =
        stage.task.call(place, "Runtime.evaluate", r#"{"expression": "1"}"#, None).await.unwrap_err();
    assert_eq!(failure.code, Code::NotAnOopif);
    let ways = ["eval", "contentWindow", "contentDocument"];
    assert!(ways.iter().all(|way| failure.message.contains(way)), "{}", failure.message);

    stage.value(Some(&uno.frame_id), "void (window.here = name)").await;
    let everywhere = "[name, typeof here, window === top]";
    assert_eq!(stage.value(Some(&uno.frame_id), everywhere).await, json!(["uno", "string", false]));
    assert_eq!(stage.value(None, everywhere).await, json!(["", "undefined", true]));
    let dos = stage.frame_named("dos").await;
    assert_eq!(stage.value(Some(&dos.frame_id), everywhere).await, json!(["dos", "undefined", false]));
    stage.end().await;
}
