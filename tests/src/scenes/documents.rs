//! Where a dialog comes from: every kind of document, and those whose dialogs nobody sees.

use page_server::Site;
use serde_json::json;

use super::{Scene, Set, set::plain};
use crate::talk::accept;

const OPENING: &str = "recv Page.javascriptDialogOpening";

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "iframe-of-the-same-site",
            "The confirm of an iframe of the page's own site names the iframe and is answered on the page.",
            &["recv Page.frameAttached", OPENING, "send Page.handleJavaScriptDialog"],
            |set| Box::pin(same_site(set)),
        )
        .on(|| plain().page("/near", "<iframe name=near src=/leaf></iframe>")),
        Scene::new(
            "confirm-in-nested-oopif",
            "A confirm in the third of three nested sites comes on the page's session, names its frame, and the frame gets the answer.",
            &["recv Target.attachedToTarget", "recv Target.attachedToTarget", OPENING, "send Page.handleJavaScriptDialog"],
            |set| Box::pin(nested(set)),
        )
        .on(nested_site),
        Scene::new(
            "inline-documents",
            "Documents without an address of their own ask on the page too, each with the URL that the browser gives it.",
            &["recv Page.javascriptDialogOpening about:srcdoc"],
            |set| Box::pin(inline(set)),
        ),
        Scene::new(
            "sandbox-without-modals",
            "A sandboxed iframe that may not open dialogs gets false at once, and the console says why.",
            &["recv Log.entryAdded Ignored call"],
            |set| Box::pin(sandbox(set)),
        )
        .on(|| plain().page("/boxed", "<iframe sandbox=allow-scripts src=/leaf></iframe>")),
        Scene::new(
            "permissions-are-no-dialogs",
            "What asks the user outside of the page blocks nothing: printing, places, notifications, cameras, the clipboard, files, payment, keys.",
            &["host eval", "recv * settled"],
            |set| Box::pin(permissions(set)),
        ),
    ]
}

async fn same_site(set: &Set) {
    set.open("a.test", "/near").await;
    let frame = set.frame_loaded("near").await;
    assert!(!frame.is_oopif);
    let held = set.ask(Some(&frame.frame_id), "confirm('inside')").await;
    assert_eq!(held.dialog.frame_id.as_ref(), Some(&frame.frame_id));
    set.answer(accept()).await;
    assert_eq!(set.late(held.call).await, json!(true));
}

/// Three sites, each in the other.
pub(super) fn nested_site() -> Site {
    plain()
        .page("/nested", "<title>nested</title><iframe name=middle src=http://b.test:{PORT}/middle></iframe>")
        .page("/middle", "<iframe name=inner src=http://c.test:{PORT}/leaf></iframe>")
}

async fn nested(set: &Set) {
    set.open("a.test", "/nested").await;
    let inner = set.frame_loaded("inner").await;
    assert!(inner.is_oopif);
    let held = set.ask(Some(&inner.frame_id), "confirm('Pay 25.00 from the innermost frame?')").await;
    assert_eq!(held.dialog.frame_id.as_ref(), Some(&inner.frame_id));
    set.answer(accept()).await;
    assert_eq!(set.late(held.call).await, json!(true));
}

/// Each asks when it loads.
const INLINE: [(&str, &str); 5] = [
    ("srcdoc", "{ srcdoc: `<script>alert('srcdoc')<\\/script>` }"),
    ("data", "{ src: `data:text/html,<script>alert('data')<\\/script>` }"),
    (
        "blob",
        "{ src: URL.createObjectURL(new Blob([`<script>alert('blob')<\\/script>`], { type: 'text/html' })) }",
    ),
    ("blank", "{ src: 'about:blank', onload() { this.contentWindow.alert('blank') } }"),
    ("javascript", "{ src: `javascript:alert('javascript')` }"),
];

async fn inline(set: &Set) {
    set.open("a.test", "/").await;
    for (name, how) in INLINE {
        let add = format!("document.body.append(Object.assign(document.createElement('iframe'), {how}))");
        set.start(None, &add).await;
        let dialog = set.dialog_where(|dialog| dialog.message == name).await;
        assert_eq!(dialog.target_id, set.page().target_id);
        set.answer_to(dialog.id, accept()).await.unwrap();
        set.ended(dialog.id).await;
    }
    assert_eq!(set.value(None, "document.querySelectorAll('iframe').length").await, json!(INLINE.len()));
}

async fn sandbox(set: &Set) {
    set.open("a.test", "/boxed").await;
    let frame = set.frame("/leaf").await;
    assert_eq!(set.value(Some(&frame.frame_id), "confirm('may I?')").await, json!(false));
    set.until(|_| set.task.console(None).errors.iter().any(|it| it.text.contains("Ignored call"))).await;
    assert_eq!(set.task.snapshot().counts.dialogs_seen, 0);
}

/// Nothing waits for an answer of these: the page goes on, and so do we.
const ASKS: &str = "{
    const quiet = what => { try { Promise.resolve(what()).catch(() => 0) } catch {} };
    quiet(() => print());
    quiet(() => navigator.geolocation.getCurrentPosition(() => 0, () => 0));
    quiet(() => Notification.requestPermission());
    quiet(() => navigator.mediaDevices.getUserMedia({ audio: true }));
    quiet(() => navigator.clipboard.readText());
    quiet(() => showOpenFilePicker());
    quiet(() => new PaymentRequest([{ supportedMethods: 'https://pay.test/' }],
        { total: { label: 'all', amount: { currency: 'EUR', value: '1' } } }).show());
    quiet(() => navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16) } }));
    'settled' }";

async fn permissions(set: &Set) {
    // A secure context, without which most of these are not there.
    set.open("localhost", "/").await;
    assert_eq!(set.value(None, ASKS).await, json!("settled"));
    assert_eq!(set.value(None, "document.title").await, json!("page"));
    assert_eq!(set.task.snapshot().counts.dialogs_seen, 0);
}
