//! Iframes in processes of their own: seen, evaluated, followed when they move and gone when they go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use integration_tests::{Stage, patience};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::console::Level;
use supervisor::{Code, EvalOptions, Event, FrameId, FrameView, Options, Place, Snapshot, TargetId};
use tokio::task::JoinHandle;

/// Frames on other sites, as deep as three processes.
fn site() -> Site {
    Site::new()
        .page("/empty", "<title>empty</title>")
        .page("/leaf", "<p>leaf")
        .page("/one", "<iframe name=one src=http://b.test:{PORT}/leaf></iframe>")
        .page("/nested", "<iframe name=outer src=http://b.test:{PORT}/middle></iframe>")
        .page(
            "/middle",
            "<iframe name=same src=http://b.test:{PORT}/leaf></iframe>
             <iframe name=other src=http://c.test:{PORT}/leaf></iframe>
             <iframe name=back src=http://a.test:{PORT}/leaf></iframe>",
        )
}

/// A page that moves its iframe between its own process and another one.
fn mover() -> Site {
    site().page(
        "/mover",
        "<iframe name=moved src=/leaf></iframe><script>
            const go = (host, path) => { document.querySelector('iframe').src = `http://${host}:{PORT}${path}` }
        </script>",
    )
}

fn find<'s>(snapshot: &'s Snapshot, id: &FrameId) -> Option<&'s FrameView> {
    snapshot.frame_tree.children.iter().find(|frame| frame.frame_id == *id)
}

async fn arrives(stage: &Stage, id: &FrameId, host: &str, path: &str, is_oopif: bool) {
    let url = stage.pages.url(host, path);
    stage.value(None, &format!("go('{host}', '{path}')")).await;
    stage
        .until(|snapshot| find(snapshot, id).is_some_and(|it| it.url == url && it.is_oopif == is_oopif))
        .await;
    assert_eq!(stage.value(Some(id), "location.href").await, json!(url));
}

#[tokio::test(flavor = "multi_thread")]
async fn s065_a_cross_site_iframe_has_a_session_and_takes_calls() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/one").await;
    let one = stage.frame_named("one").await;
    assert_eq!(stage.frames().len(), 2);
    assert!(one.is_oopif && one.session_id.is_some());
    assert_eq!(
        (&one.parent_frame_id, &one.target_id),
        (&Some(stage.top().frame_id), &stage.page().target_id)
    );
    assert_eq!(one.origin, stage.pages.url("b.test", ""));
    assert_eq!(stage.value(Some(&one.frame_id), "location.href").await, json!(one.url));

    let call = |place| stage.task.call(place, "Runtime.evaluate", r#"{"expression": "location.host"}"#, None);
    let routed = call(Place::Frame(one.frame_id.clone())).await.unwrap();
    let result: Value = serde_json::from_str(routed.result.get()).unwrap();
    assert_eq!(result["result"]["value"], json!(format!("b.test:{}", stage.pages.port())));
    assert_eq!((routed.session_id, routed.frame_id), (one.session_id, Some(one.frame_id)));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s066_a_removed_oopif_leaves_with_its_session() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/one").await;
    let one = stage.frame_named("one").await.frame_id;
    stage.value(None, "document.querySelector('iframe').remove()").await;
    stage.without(&one).await;
    assert_eq!(stage.frames().len(), 1);
    for place in [Place::Frame(one.clone()), Place::Target(TargetId::from(&one))] {
        let failure = stage.task.call(place.clone(), "DOM.getDocument", "{}", None).await.unwrap_err();
        let expected = if matches!(place, Place::Frame(_)) { Code::FrameGone } else { Code::PageGone };
        assert_eq!(failure.code, expected);
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s067_s079_a_frame_keeps_its_id_from_process_to_process_and_is_never_missing() {
    let stage = Stage::new(mover()).await;
    stage.open("a.test", "/mover").await;
    let moved = stage.frame_named("moved").await.frame_id;
    let mut stream = stage.task.events();
    let removing = Arc::new(AtomicBool::new(false));
    let missed = missed(&stage, moved.clone(), Arc::clone(&removing));
    let ways = [
        ("b.test", "/leaf"),
        ("a.test", "/leaf"),
        ("b.test", "/middle"),
        ("a.test", "/empty"),
        ("c.test", "/leaf"),
    ];
    for (host, path) in ways {
        let is_oopif = host != "a.test";
        arrives(&stage, &moved, host, path, is_oopif).await;
        let frames = stage.frames();
        let oopifs = frames.iter().filter(|frame| frame.is_oopif && frame.frame_id == moved);
        assert_eq!(oopifs.count(), usize::from(is_oopif));
        let expected = if path == "/middle" { 4 } else { 1 };
        stage.until(|snapshot| snapshot.frame_tree.children.len() == expected).await;
    }
    removing.store(true, SeqCst);
    stage.value(None, "document.querySelector('iframe').remove()").await;
    assert!(missed.await.unwrap(), "it was missing before it was removed");
    let is_end = |event: &Event| matches!(event, Event::FrameGone { frame } if *frame == moved);
    let seen = stage.happened(&mut stream, is_end).await;
    let documents =
        |event: &&Event| matches!(event, Event::FrameNavigated { frame, .. } if frame.id == moved);
    assert_eq!(
        seen.iter().filter(documents).count(),
        ways.len(),
        "it was gone before it was removed: {seen:#?}"
    );
    stage.end().await;
}

/// Looks at the snapshots until one is without the frame: whether that was allowed by then.
fn missed(stage: &Stage, id: FrameId, allowed: Arc<AtomicBool>) -> JoinHandle<bool> {
    let task = stage.task.clone();
    tokio::spawn(async move {
        let is_missing = |snapshot: &Snapshot| find(snapshot, &id).is_none();
        task.wait_for(is_missing, 3 * patience()).await.unwrap();
        allowed.load(SeqCst)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn s068_frames_below_an_oopif_have_the_right_parents_and_processes() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/nested").await;
    let outer = stage.frame_named("outer").await;
    let expected = [("same", "b.test", false), ("other", "c.test", true), ("back", "a.test", true)];
    for (name, host, is_oopif) in expected {
        let frame = stage.frame_named(name).await;
        assert_eq!(frame.parent_frame_id.as_ref(), Some(&outer.frame_id), "{name}");
        assert_eq!((frame.is_oopif, frame.session_id.is_some()), (is_oopif, is_oopif), "{name}");
        assert_eq!(frame.url, stage.pages.url(host, "/leaf"));
        assert_eq!(stage.value(Some(&frame.frame_id), "location.href").await, json!(frame.url));
    }
    assert_eq!(stage.frames().len(), 5);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s069_removing_an_outer_oopif_takes_what_is_below_it() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/nested").await;
    let mut old = vec![stage.frame_named("outer").await.frame_id];
    for name in ["same", "other", "back"] {
        old.push(stage.frame_named(name).await.frame_id);
    }
    stage.value(None, "document.querySelector('iframe').remove()").await;
    stage.until(|snapshot| snapshot.frame_tree.children.is_empty()).await;
    assert_eq!(stage.frames().len(), 1);
    for frame in old {
        assert_eq!(stage.eval(Some(&frame), "1").await.unwrap_err().code, Code::FrameGone);
    }
    assert_eq!(stage.task.snapshot().counts.meters.protocol_violations, 0);
    stage.end().await;
}

/// Whether a session is announced before the listing of its parent's frames arrives, is the browser's choice here.
#[tokio::test(flavor = "multi_thread")]
async fn s070_s071_frames_that_were_there_before_us_are_placed() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/nested").await;
    stage.frame_named("back").await;
    stage
        .until(|snapshot| {
            snapshot.frame_tree.children.iter().all(|it| !it.url.is_empty() && !it.name.is_empty())
        })
        .await;
    let second =
        stage.supervisor.get_or_start("late", stage.browser.ws_url(), Options::default()).await.unwrap();
    let shown = |task: &supervisor::Task| {
        let frames = task.frames(None).unwrap_or_default().into_iter();
        let mut frames: Vec<_> = frames.map(|frame| FrameView { session_id: None, ..frame }).collect();
        frames.sort_by(|one, other| one.frame_id.as_str().cmp(other.frame_id.as_str()));
        frames
    };
    let expected = shown(&stage.task);
    let placed = second.wait_for(|_| shown(&second) == expected, patience()).await;
    assert!(placed.is_ok(), "{:#?} is not {expected:#?}", shown(&second));
    for frame in expected {
        let value = second.eval(Some(frame.frame_id), "location.href", EvalOptions::default()).await.unwrap();
        assert_eq!(value.value.get(), json!(frame.url).to_string());
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s072_an_oopif_with_a_worker_leaves_no_trace() {
    let worker = "<script>
        const source = new Blob(['postMessage(1)'], { type: 'text/javascript' });
        window.ran = new Promise(done => { new Worker(URL.createObjectURL(source)).onmessage = () => done(1) });
    </script>";
    let stage = Stage::new(site().page("/leaf", worker)).await;
    stage.open("a.test", "/one").await;
    let one = stage.frame_named("one").await.frame_id;
    assert_eq!(stage.value(Some(&one), "ran").await, json!(1), "the worker is not held");
    assert_eq!(stage.frames().len(), 2, "a worker is no frame");
    stage.open("c.test", "/empty").await;
    assert_eq!(stage.frames().len(), 1);
    assert_eq!(stage.eval(Some(&one), "1").await.unwrap_err().code, Code::FrameGone);
    assert_eq!(stage.task.snapshot().counts.meters.protocol_violations, 0);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s076_what_an_oopif_complains_of_is_tagged_with_it() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/one").await;
    let one = stage.frame_named("one").await;
    let complain = "console.error('said', 1); setTimeout(() => { throw new Error('thrown') }); void 0";
    let mut stream = stage.task.events();
    stage.value(Some(&one.frame_id), complain).await;
    let told = |text: &str| {
        let view = stage.task.console(Some(&one.frame_id));
        view.errors.into_iter().find(|entry| entry.text.contains(text))
    };
    stage.happened(&mut stream, |_| told("said").is_some() && told("thrown").is_some()).await;
    for (text, level) in [("said 1", Level::Error), ("Error: thrown", Level::Exception)] {
        let entry = told(text).unwrap();
        assert_eq!(
            (entry.level, &entry.frame_id, &entry.target_id),
            (level, &Some(one.frame_id.clone()), &one.target_id)
        );
    }
    assert!(stage.task.console(Some(&stage.top().frame_id)).errors.is_empty());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s077_an_oopif_that_comes_long_after_the_load_is_seen() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/empty").await;
    // The page waits, not the test.
    let late = "void setTimeout(() => {
        const late = Object.assign(document.createElement('iframe'), { name: 'late', src: `http://b.test:${location.port}/leaf` });
        document.body.append(late);
    }, 5000)";
    stage.value(None, late).await;
    let late = stage.frame_named("late").await;
    assert!(late.is_oopif);
    assert_eq!(stage.value(Some(&late.frame_id), "location.href").await, json!(late.url));
    stage.end().await;
}

/// The old process reports last that it gave the frame away, when the new one has announced grandchildren already.
#[tokio::test(flavor = "multi_thread")]
async fn s078_a_late_swap_does_not_take_the_frame_or_its_grandchildren() {
    let stage = Stage::new(mover()).await;
    stage.open("a.test", "/mover").await;
    let moved = stage.frame_named("moved").await.frame_id;
    for _ in 0..10 {
        arrives(&stage, &moved, "b.test", "/middle", true).await;
        for name in ["same", "other", "back"] {
            let frame = stage.frame_named(name).await;
            assert_eq!(frame.parent_frame_id.as_ref(), Some(&moved));
            // A round trip through each process: whatever it had to report has been heard.
            assert_eq!(stage.value(Some(&frame.frame_id), "location.href").await, json!(frame.url));
        }
        stage.value(None, "1").await;
        assert_eq!(stage.names_below(&moved), ["back", "other", "same"]);
        arrives(&stage, &moved, "a.test", "/leaf", false).await;
        stage.until(|snapshot| snapshot.frame_tree.children.len() == 1).await;
    }
    stage.end().await;
}
