//! Pages that come and go, and what else the browser attaches.

use page_server::Site;
use serde_json::json;
use supervisor::{Code, Snapshot};

use super::{Scene, Set, Way, set::plain};
use crate::talk::{accept, accept_with};

const ATTACHED: &str = "recv Target.attachedToTarget";
const OPENING: &str = "recv Page.javascriptDialogOpening";

fn popups() -> Site {
    plain().page("/asks", "<title>asks</title><script>window.answer = prompt('Who?', 'nobody')</script>")
}

fn workers() -> Site {
    let inner = "postMessage('inner')";
    let page = format!(
        "<title>workers</title><script>
        const url = script => URL.createObjectURL(new Blob([script], {{ type: 'text/javascript' }}));
        window.dedicated = new Promise(done => new Worker(url(`{inner}`)).onmessage = event => done(event.data));
        window.shared = new Promise(done => new SharedWorker('/shared.js').port.onmessage = event => done(event.data));
        window.service = navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => 'ready');
        </script>"
    );
    plain()
        .page("/workers", &page)
        .file("/shared.js", "text/javascript", "onconnect = event => event.ports[0].postMessage('shared')")
        .file("/service.js", "text/javascript", "onfetch = () => 0")
}

pub(super) fn scenes() -> Vec<Scene> {
    [opened(), attached(), closed()].concat()
}

fn opened() -> Vec<Scene> {
    vec![
        Scene::new(
            "popup-prompt",
            "A popup asks in its first script: it is attached paused, so its prompt is seen and answered.",
            &["recv Target.attachedToTarget openerId", "send Runtime.runIfWaitingForDebugger", "recv Page.javascriptDialogOpening Who?"],
            |set| Box::pin(popup(set)),
        )
        .on(popups),
        Scene::new(
            "popup-blocks-its-opener",
            "A popup shares its opener's process: its dialog blocks the opener, and the refusal names the dialog.",
            &[ATTACHED, OPENING, "host eval"],
            |set| Box::pin(blocks(set)),
        )
        .on(popups),
        Scene::new(
            "popup-closed-at-once",
            "A popup that its opener closes in the same script comes and goes without residue.",
            &[ATTACHED, "recv Target.detachedFromTarget"],
            |set| Box::pin(closed_at_once(set)),
        ),
    ]
}

fn attached() -> Vec<Scene> {
    vec![
        Scene::new(
            "workers-run",
            "Dedicated, shared and service workers are attached, let go at once, and are no pages.",
            &["recv Target.attachedToTarget worker", "send Runtime.runIfWaitingForDebugger"],
            |set| Box::pin(workers_run(set)),
        )
        .on(workers),
        Scene::new(
            "attached-once",
            "Only pages are asked for, and each is attached once though another client is attached as well; a host that attaches by hand is refused.",
            &["send Target.setAutoAttach \"type\":\"page\"", ATTACHED, "host call attachToTarget", OPENING],
            |set| Box::pin(once(set)),
        ),
        Scene::new(
            "page-endpoint",
            "Supervised by a page's own socket: the page's messages have no session, its iframes and popups have.",
            &["send Page.enable", ATTACHED, "recv Page.javascriptDialogOpening", "send Page.handleJavaScriptDialog"],
            |set| Box::pin(page_endpoint(set)),
        )
        .by(Way::Page),
    ]
}

fn closed() -> Vec<Scene> {
    vec![
        Scene::new(
            "page-closed-with-a-call",
            "A page is closed while a call is in flight, which the browser never answers: it ends with the session.",
            &["host eval", "recv Target.detachedFromTarget"],
            |set| Box::pin(closed_with_a_call(set)),
        ),
        Scene::new(
            "page-closed-with-a-dialog",
            "A page is closed with its dialog open: the dialog ends with it.",
            &[OPENING, "recv Target.detachedFromTarget"],
            |set| Box::pin(closed_with_a_dialog(set)),
        ),
    ]
}

async fn popup(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "window.open('/asks')").await;
    let dialog = set.dialog().await;
    assert_eq!((&*dialog.message, &*dialog.default_prompt), ("Who?", "nobody"));
    let popup = set.page_of(&dialog.target_id).unwrap();
    assert_eq!(popup.opener_target_id, Some(set.page().target_id));
    set.answer(accept_with("admin")).await;
    assert_eq!(set.value_on(&popup.target_id, "answer").await, json!("admin"));
}

async fn blocks(set: &Set) {
    set.open("a.test", "/").await;
    let opener = set.page().target_id;
    set.start(None, "window.open('/asks')").await;
    let dialog = set.dialog().await;
    assert_ne!(dialog.target_id, opener);
    let failure = set.eval_on(&opener, "1").await.unwrap_err();
    assert_eq!(failure.code, Code::BlockedByDialog);
    assert_eq!(failure.detail.dialog.map(|it| it.id), Some(dialog.id));
    set.answer(accept()).await;
    assert_eq!(set.value_on(&opener, "1").await, json!(1));
}

async fn closed_at_once(set: &Set) {
    set.open("a.test", "/").await;
    let version = set.task.snapshot().version;
    set.value(None, "window.open('about:blank').close()").await;
    let is_over = |it: &Snapshot| it.version > version && it.pages.len() == 1;
    set.until(is_over).await;
    set.value(None, "1").await;
    set.until(|it| it.pages.len() == 1).await;
    assert_eq!(set.task.snapshot().counts.meters.protocol_violations, 0);
}

async fn workers_run(set: &Set) {
    set.open("localhost", "/workers").await;
    for (name, word) in [("dedicated", "inner"), ("shared", "shared"), ("service", "ready")] {
        assert_eq!(set.value(None, name).await, json!(word));
    }
    assert_eq!((set.frames().len(), set.known_pages().len()), (1, 1));
}

async fn once(set: &mut Set) {
    set.open("a.test", "/").await;
    let session = set.other_client().await;
    set.other().send("Page.enable", json!({}), Some(&session)).await;
    let target = json!({ "targetId": set.page().target_id, "flatten": true });
    let refused = set.call("Target.attachToTarget", target).await.unwrap_err();
    assert_eq!(refused.code, Code::Refused);
    set.confirms(None).await;
    let snapshot = set.task.snapshot();
    assert_eq!((snapshot.pages.len(), snapshot.counts.dialogs_seen), (1, 1));
}

async fn page_endpoint(set: &Set) {
    set.open("a.test", "/far").await;
    let far = set.frame_loaded("far").await;
    assert!(far.is_oopif);
    set.confirms(Some(&far.frame_id)).await;
    set.confirms(None).await;
}

async fn closed_with_a_call(set: &Set) {
    set.open("a.test", "/").await;
    let page = set.add_page("c.test", "/leaf").await.target_id;
    let never = set.eval_on(&page, "(window.runs = true, new Promise(() => {}))");
    let close = async {
        set.comes_true_on(&page, "window.runs").await;
        set.call("Target.closeTarget", json!({ "targetId": page })).await.unwrap();
    };
    let (ended, ()) = tokio::join!(never, close);
    let code = ended.unwrap_err().code;
    assert!(matches!(code, Code::PageGone | Code::FrameGone), "{code:?}");
    set.until(|it| it.pages.len() == 1).await;
}

async fn closed_with_a_dialog(set: &Set) {
    set.open("a.test", "/").await;
    let page = set.add_page("c.test", "/leaf").await.target_id;
    let top = set.main_frame(&page).await;
    set.start(Some(&top), "confirm('open')").await;
    let dialog = set.dialog().await;
    set.call("Target.closeTarget", json!({ "targetId": page })).await.unwrap();
    set.ended(dialog.id).await;
    set.until(|it| it.pages.len() == 1).await;
}
