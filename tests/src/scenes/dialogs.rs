//! Each kind of dialog, and each way in which a host answers.

use serde_json::json;
use supervisor::DialogType;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};

use super::{Scene, Set, Way};
use crate::talk::{accept, accept_with, dismiss};

/// The order of a dialog that a host answers: it ends before the answer is acknowledged, and what it held is answered last.
const ANSWERED: &[&str] = &[
    "recv Page.javascriptDialogOpening",
    "host respond",
    "send Page.handleJavaScriptDialog",
    "recv Page.javascriptDialogClosed",
    "recv *",
    "recv *",
];

/// A dialog that was there and that nobody here answered.
const CLOSED: &[&str] =
    &["recv Page.javascriptDialogOpening", "recv Page.javascriptDialogClosed \"result\":false"];

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new("alert-answered", "An alert is shown until the host accepts it, and then what it held is answered.", ANSWERED, |set| {
            Box::pin(alert(set))
        }),
        Scene::new("confirm-dismissed", "The host dismisses a confirm, and the page gets false.", ANSWERED, |set| {
            Box::pin(confirm(set))
        }),
        Scene::new("prompt-typed", "The host types into a prompt, and the page gets the text as it was typed.", ANSWERED, |set| {
            Box::pin(prompt(set))
        }),
        Scene::new(
            "prompt-default",
            "A prompt that is accepted without a text gets its default, because we send it along.",
            &["recv Page.javascriptDialogOpening dflt", "send Page.handleJavaScriptDialog dflt"],
            |set| Box::pin(prompt_default(set)),
        ),
        Scene::new(
            "odd-texts",
            "Texts with emoji, NUL, marks of direction and half characters pass: half ones in the console as they are, in dialogs cleaned.",
            &["recv Runtime.consoleAPICalled \\ud800", "recv Page.javascriptDialogOpening half"],
            |set| Box::pin(odd_texts(set)),
        ),
        Scene::new(
            "two-pages-ask",
            "Two pages ask at once: each has its own dialog, and an answer that names neither is refused.",
            &["recv Page.javascriptDialogOpening front", "recv Page.javascriptDialogOpening behind", "send Page.handleJavaScriptDialog"],
            |set| Box::pin(two_pages(set)),
        ),
        Scene::new(
            "calls-during-a-dialog",
            "A dialog in an iframe of another process blocks that process only; what it blocks is refused at once.",
            &["recv Page.javascriptDialogOpening in b", "host eval", "host respond"],
            |set| Box::pin(calls(set)),
        )
        .on(|| super::set::plain().page("/parent", "<iframe src=http://b.test:{PORT}/leaf></iframe><iframe src=http://c.test:{PORT}/leaf></iframe>")),
        Scene::new("another-client-answers", "Another client answers first: we see how, and our own answer comes too late.", CLOSED, |set| {
            Box::pin(another_client(set))
        }),
        Scene::new("backend-dismisses", "A backend dismisses each dialog after ten milliseconds, and the page has false.", CLOSED, |set| {
            Box::pin(backend(set))
        })
        .with(|options| options.bridge = supervisor::Bridge::Off)
        .by(Way::Dismissing),
        Scene::new("headless-shell-alert", "An alert of a headless shell, which has nobody who could show it.", ANSWERED, |set| {
            Box::pin(alert(set))
        })
        .on_headless_shell(),
    ]
}

async fn alert(set: &Set) {
    set.open("a.test", "/").await;
    let held = set.ask(None, "alert('Saved.')").await;
    assert_eq!(held.dialog.kind, DialogType::Alert);
    let answered = set.answer(accept()).await;
    assert_eq!(answered.dialog.closed_by, Some(ClosedBy::Agent));
    set.late(held.call).await;
}

async fn confirm(set: &Set) {
    set.open("a.test", "/").await;
    let held = set.ask(None, "confirm('Delete all?')").await;
    set.answer(dismiss()).await;
    assert_eq!(set.late(held.call).await, json!(false));
}

async fn prompt(set: &Set) {
    set.open("a.test", "/").await;
    let held = set.ask(None, "prompt('Your name?', 'nobody')").await;
    assert_eq!(&*held.dialog.default_prompt, "nobody");
    set.answer(accept_with("Zo\u{eb} \u{1F980} \"quoted\"")).await;
    assert_eq!(set.late(held.call).await, json!("Zo\u{eb} \u{1F980} \"quoted\""));
}

async fn prompt_default(set: &Set) {
    set.open("a.test", "/").await;
    let held = set.ask(None, "prompt('Your name?', 'dflt')").await;
    set.answer(accept()).await;
    assert_eq!(set.late(held.call).await, json!("dflt"));
    let held = set.ask(None, "prompt('Your name?', 'dflt')").await;
    set.answer(dismiss()).await;
    assert_eq!(set.late(held.call).await, json!(null));
}

async fn odd_texts(set: &Set) {
    set.open("a.test", "/").await;
    set.value(None, "console.error('half \\ud800 of it', '\\u{1F980}', 'a\\0b', '\\u202Ertl')").await;
    set.until(|_| !set.task.console(None).errors.is_empty()).await;
    let held = set.ask(None, "confirm('half \\ud800, \\u{1F980}, a\\0b, \\u202Ertl')").await;
    assert_eq!(held.dialog.message.as_str(), "half \u{FFFD}, \u{1F980}, a\0b, \u{202E}rtl");
    set.answer(accept()).await;
    assert_eq!(set.late(held.call).await, json!(true));
}

async fn two_pages(set: &Set) {
    set.open("a.test", "/").await;
    let behind = set.add_page("b.test", "/next").await.target_id;
    set.start(None, "alert('front')").await;
    set.dialog_where(|dialog| dialog.message == "front").await;
    let top = set.main_frame(&behind).await;
    set.start(Some(&top), "window.answer = confirm('behind')").await;
    set.dialog_where(|dialog| dialog.message == "behind").await;
    let unnamed = set.task.respond(Default::default(), accept()).await.unwrap_err();
    assert_eq!(unnamed.code, supervisor::Code::AmbiguousDialog);
    set.answer_on(&behind, accept()).await.unwrap();
    assert_eq!(set.value_on(&behind, "answer").await, json!(true));
    set.answer(accept()).await;
}

async fn calls(set: &Set) {
    set.open("a.test", "/parent").await;
    let (b, c) = (set.frame("b.test").await.frame_id, set.frame("c.test").await.frame_id);
    let held = set.ask(Some(&b), "confirm('in b')").await;
    assert_eq!(set.value(None, "1 + 1").await, json!(2));
    assert_eq!(set.value(Some(&c), "location.hostname").await, json!("c.test"));
    let refused = set.eval(Some(&b), "1").await.unwrap_err();
    assert_eq!(refused.code, supervisor::Code::BlockedByDialog);
    set.answer(accept()).await;
    assert_eq!(set.late(held.call).await, json!(true));
}

async fn another_client(set: &mut Set) {
    set.open("a.test", "/").await;
    let session = set.other_client().await;
    set.other().send("Page.enable", json!({}), Some(&session)).await;
    let held = set.ask(None, "confirm('Who is first?')").await;
    set.other().event("Page.javascriptDialogOpening").await;
    set.other().send("Page.handleJavaScriptDialog", json!({ "accept": false }), Some(&session)).await;
    let ended = set.ended(held.dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(false)));
    let late = set.answer_to(held.dialog.id, accept()).await.unwrap_err();
    assert_eq!(late.code, supervisor::Code::AlreadyClosed);
    assert_eq!(set.late(held.call).await, json!(false));
}

async fn backend(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "window.answer = confirm('Anybody?')").await;
    let snapshot = set.until(|it| it.recent_dialogs.len() == 1).await;
    let ended = &snapshot.recent_dialogs[0];
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(false)));
    assert_ne!(ended.reason, Some(Reason::Navigation));
    assert_eq!(set.value(None, "answer").await, json!(false));
}
