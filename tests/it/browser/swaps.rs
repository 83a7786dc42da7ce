//! An iframe that changes its process as fast as it can.

use integration_tests::{Stage, not_run, patience};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::{Code, Failure, FrameId};

/// Enough for every order of the messages of two processes to come up.
const SWAPS: usize = 50;

const HOSTS: [&str; 3] = ["b.test", "c.test", "a.test"];

fn site() -> Site {
    Site::new().page("/stop", "<iframe name=inner src=/leaf></iframe>").page("/leaf", "<p>leaf").page(
        "/swap",
        "<iframe name=still src=http://b.test:{PORT}/leaf></iframe><iframe name=moved src=/stop?0></iframe><script>
            const moved = document.querySelector('[name=moved]');
            const hosts = ['b.test', 'c.test', 'a.test'];
            const go = n => { moved.src = `http://${hosts[(n - 1) % 3]}:{PORT}/stop?${n}` };
            const run = last => { let n = 0; const next = () => n < last && go(++n); moved.onload = next; next() };
        </script>",
    )
}

async fn stage() -> (Stage, FrameId) {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/swap").await;
    stage.frame_named("still").await;
    let moved = stage.frame_named("moved").await.frame_id;
    (stage, moved)
}

/// What the frame says is its own: which of its documents it is. `None` when it could not say.
fn stop(answer: Result<Value, Failure>) -> Option<usize> {
    match answer {
        Ok(answer) => {
            assert_eq!(answer[0], json!("moved"), "another frame answered: {answer}");
            let href = answer[1].as_str().unwrap();
            let (before, n) =
                href.split_once("/stop?").unwrap_or_else(|| panic!("another document answered: {href}"));
            let n: usize = n.parse().unwrap();
            let host = if n == 0 { "a.test" } else { HOSTS[(n - 1) % 3] };
            assert!(before.contains(host), "{href} is on the wrong host");
            Some(n)
        }
        Err(failure) => {
            assert_eq!(failure.code, Code::Navigated, "{failure:?}");
            None
        }
    }
}

async fn ask(stage: &Stage, moved: &FrameId) -> Option<usize> {
    stop(stage.eval(Some(moved), "[name, location.href]").await)
}

/// At rest the tree is what the last document makes it.
async fn is_at_rest(stage: &Stage, moved: &FrameId, n: usize) {
    let host = HOSTS[(n - 1) % 3];
    let (url, leaf) = (stage.pages.url(host, &format!("/stop?{n}")), stage.pages.url(host, "/leaf"));
    stage
        .until(|snapshot| {
            let frames = &snapshot.frame_tree.children;
            frames.len() == 3
                && frames
                    .iter()
                    .any(|it| it.frame_id == *moved && it.url == url && it.is_oopif == (host != "a.test"))
                && frames
                    .iter()
                    .any(|it| it.parent_frame_id.as_ref() == Some(moved) && it.url == leaf && !it.is_oopif)
        })
        .await;
    let answer = stage.value(Some(moved), "[name, location.href]").await;
    assert_eq!(stop(Ok(answer)), Some(n));
    let still = stage.frame_named("still").await;
    assert_eq!(stage.value(Some(&still.frame_id), "location.href").await, json!(still.url));
    assert_eq!(stage.task.snapshot().counts.meters.protocol_violations, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_eval_after_each_of_fifty_swaps_is_answered_by_that_frame_or_not_at_all() {
    let (stage, moved) = stage().await;
    if stage.major_version() <= 111 {
        not_run(
            "a navigation that replaces one to yet another process can leave the frame's session silent for good",
        );
        return stage.end().await;
    }
    let mut latest = 0;
    let mut told = 0;
    for n in 1..=SWAPS {
        stage.value(None, &format!("go({n})")).await;
        if let Some(answered) = ask(&stage, &moved).await {
            assert!((latest..=n).contains(&answered), "{answered} after {latest}, at {n}");
            (latest, told) = (answered, told + 1);
        }
    }
    println!("{told} of {SWAPS} were answered by the frame, the others told that it navigated");
    assert!(told > 0, "not one was answered by a document of the frame");
    is_at_rest(&stage, &moved, SWAPS).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn evals_while_the_page_swaps_at_its_own_pace_stay_in_the_frame() {
    let (stage, moved) = stage().await;
    stage.value(None, &format!("run({SWAPS})")).await;
    let asking = async {
        let (mut latest, mut documents) = (0, 0);
        while latest < SWAPS {
            if let Some(answered) = ask(&stage, &moved).await {
                assert!(answered >= latest, "{answered} after {latest}");
                documents += usize::from(answered > latest);
                latest = answered;
            }
        }
        println!("{documents} of {SWAPS} documents answered");
        assert!(documents > 1, "nothing but the last document answered");
    };
    tokio::time::timeout(3 * patience(), asking).await.expect("the last document answers");
    is_at_rest(&stage, &moved, SWAPS).await;
    stage.end().await;
}
