//! Floods: so many events of one kind that nobody could read them. They cost what they cost; what is held stays bounded, and
//! dialogs are served.

use integration_tests::{Manner, PAGE, SESSION};
use serde_json::{Value, json};
use supervisor::supervisor_core::limits::{
    MAX_BRIDGE_DIALOGS, MAX_CONSOLE_ENTRIES, MAX_CONTEXTS, MAX_RECENT_DIALOGS, MAX_SESSIONS,
};

use super::Faulted;

/// Events of each kind.
const MANY: usize = 3_000;

fn page(method: &str, params: Value) -> Value {
    json!({ "method": method, "params": params, "sessionId": SESSION })
}

fn root(method: &str, params: Value) -> Value {
    json!({ "method": method, "params": params })
}

fn target(n: usize, kind: &str) -> Value {
    json!({ "targetId": format!("T{n}"), "type": kind, "title": "t", "url": "https://example.com/", "attached": true,
        "canAccessOpener": false })
}

fn attaches(n: usize, kind: &str) -> Value {
    json!({ "sessionId": format!("X{n}"), "waitingForDebugger": true, "targetInfo": target(n, kind) })
}

fn navigated(id: &str, parent: Option<&str>) -> Value {
    let mut frame = json!({ "id": id, "loaderId": format!("L{id}"), "url": "https://example.com/", "mimeType": "text/html",
        "securityOrigin": "https://example.com" });
    if let Some(parent) = parent {
        frame["parentId"] = json!(parent);
    }
    json!({ "frame": frame, "type": "Navigation" })
}

fn opens(frame: &str, n: usize) -> Value {
    json!({ "url": "u", "frameId": frame, "message": format!("{n} {}", "m".repeat(500)), "type": "prompt",
        "hasBrowserHandler": true, "defaultPrompt": "d".repeat(500) })
}

fn says(kind: &str, n: usize) -> Value {
    json!({ "type": kind, "executionContextId": 1, "timestamp": 1.0, "args": [{ "type": "string",
        "value": format!("{n} {}", "c".repeat(500)) }] })
}

fn context(n: usize) -> Value {
    json!({ "context": { "id": n + 10, "origin": "https://example.com", "name": "", "uniqueId": format!("N{n}"),
        "auxData": { "isDefault": true, "type": "default", "frameId": format!("F{n}") } } })
}

fn pauses(n: usize) -> Value {
    json!({ "requestId": format!("R{n}"), "frameId": PAGE, "resourceType": "XHR", "request": {
        "url": "https://vibeos-dialog-bridge.invalid/", "method": "POST", "headers": {}, "postData": "{}" } })
}

/// A name, and the messages of each turn.
type Kind = (&'static str, fn(usize) -> Vec<Value>);

/// Every kind of event that is modelled, and one that is not; the same event each time, with another id where it has one.
fn kinds() -> Vec<Kind> {
    vec![
        ("unknown", |n| vec![page("Network.dataReceived", json!({ "n": n }))]),
        ("console calls nobody keeps", |n| vec![page("Runtime.consoleAPICalled", says("log", n))]),
        ("console errors", |n| vec![page("Runtime.consoleAPICalled", says("error", n))]),
        ("console warnings", |n| vec![page("Runtime.consoleAPICalled", says("warning", n))]),
        ("exceptions", |n| {
            let details = json!({ "exceptionId": n, "text": "Uncaught", "lineNumber": 1, "columnNumber": 1 });
            vec![page("Runtime.exceptionThrown", json!({ "timestamp": 1.0, "exceptionDetails": details }))]
        }),
        ("log entries", |n| {
            let entry =
                json!({ "source": "network", "level": "error", "text": format!("{n}"), "timestamp": 1.0 });
            vec![page("Log.entryAdded", json!({ "entry": entry }))]
        }),
        ("frames that come and go", |n| {
            let id = format!("F{n}");
            vec![
                page("Page.frameAttached", json!({ "frameId": id, "parentFrameId": PAGE })),
                page("Page.frameNavigated", navigated(&id, Some(PAGE))),
                page("Page.frameDetached", json!({ "frameId": id, "reason": "remove" })),
            ]
        }),
        ("navigations", |_| vec![page("Page.frameNavigated", navigated(PAGE, None))]),
        ("navigations that start and end nowhere", |n| {
            let params = json!({ "frameId": PAGE, "url": "u", "loaderId": format!("N{n}"), "navigationType": "reload" });
            vec![
                page("Page.frameStartedNavigating", params),
                page("Page.frameStartedLoading", json!({ "frameId": PAGE })),
                page("Page.frameStoppedLoading", json!({ "frameId": PAGE })),
            ]
        }),
        ("fragments", |n| {
            let params = json!({ "frameId": PAGE, "url": format!("https://example.com/#{n}") });
            vec![page("Page.navigatedWithinDocument", params)]
        }),
        ("documents written anew", |_| vec![page("Page.documentOpened", navigated(PAGE, None))]),
        ("contexts that are never destroyed", |n| vec![page("Runtime.executionContextCreated", context(n))]),
        ("contexts that end without having been", |n| {
            let params =
                json!({ "executionContextId": n + 50_000, "executionContextUniqueId": format!("G{n}") });
            vec![page("Runtime.executionContextDestroyed", params)]
        }),
        ("dialogs that open and close", |n| {
            let closed = json!({ "result": true, "userInput": "x", "frameId": PAGE });
            vec![
                page("Page.javascriptDialogOpening", opens(PAGE, n)),
                page("Page.javascriptDialogClosed", closed),
            ]
        }),
        ("closed dialogs that never opened", |_| {
            vec![page(
                "Page.javascriptDialogClosed",
                json!({ "result": false, "userInput": "", "frameId": PAGE }),
            )]
        }),
        ("workers", |n| vec![page("Target.attachedToTarget", attaches(n, "worker"))]),
        ("targets of unknown kinds", |n| vec![root("Target.attachedToTarget", attaches(n, "novelty"))]),
        ("pages that come and go", |n| {
            vec![
                root("Target.attachedToTarget", attaches(n, "page")),
                root("Target.detachedFromTarget", json!({ "sessionId": format!("X{n}") })),
            ]
        }),
        ("iframes that come and go", |n| {
            vec![
                page("Target.attachedToTarget", attaches(n, "iframe")),
                page("Target.detachedFromTarget", json!({ "sessionId": format!("X{n}") })),
            ]
        }),
        ("targets that are made and destroyed", |n| {
            vec![
                root("Target.targetCreated", json!({ "targetInfo": target(n, "page") })),
                root("Target.targetInfoChanged", json!({ "targetInfo": target(n, "page") })),
                root(
                    "Target.targetCrashed",
                    json!({ "targetId": format!("T{n}"), "status": "", "errorCode": 1 }),
                ),
                root("Target.targetDestroyed", json!({ "targetId": format!("T{n}") })),
            ]
        }),
        ("titles", |n| {
            let mut info = target(n, "page");
            (info["targetId"], info["title"]) = (json!(PAGE), json!("t".repeat(5_000 + n)));
            vec![root("Target.targetInfoChanged", json!({ "targetInfo": info }))]
        }),
        ("crashes and revivals", |_| {
            vec![
                page("Inspector.targetCrashed", json!({})),
                page("Inspector.targetReloadedAfterCrash", json!({})),
            ]
        }),
        ("requests to the bridge's host", |n| vec![page("Fetch.requestPaused", pauses(n))]),
        ("events of sessions that never were", |n| {
            let params = json!({ "frameId": "F", "parentFrameId": PAGE });
            vec![
                json!({ "method": "Page.frameAttached", "params": params, "sessionId": format!("NEVER{n}") }),
            ]
        }),
        ("replies to nothing", |n| vec![json!({ "id": 1_000_000 + n, "result": {} })]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_each_kind_of_event_leaves_nothing_behind_and_dialogs_are_served() {
    for (what, events) in kinds() {
        let faulted = Faulted::start(Manner::Browser).await;
        let messages = faulted.task.snapshot().counts.meters.messages;
        let mut sent = 0;
        for n in 0..MANY {
            for event in events(n) {
                faulted.connection.send(&event);
                sent += 1;
            }
        }
        // The document may have been left, and its context with it.
        faulted.connection.event("Page.frameNavigated", navigated(PAGE, None));
        let fresh = json!({ "context": { "id": 1, "origin": "https://example.com", "name": "", "uniqueId": "FRESH",
            "auxData": { "isDefault": true, "type": "default", "frameId": PAGE } } });
        faulted.connection.event("Runtime.executionContextCreated", fresh);
        faulted.serves().await;
        assert!(faulted.task.snapshot().counts.meters.messages >= messages + sent, "{what}: all were read");
        is_bounded(what, &faulted);
    }
}

fn is_bounded(what: &str, faulted: &Faulted) {
    let held = faulted.task.holdings();
    let records = held.records;
    assert!(records.frames <= 2 && records.pages == 1, "{what}: {held:?}");
    assert!(records.sessions < MAX_SESSIONS / 100 && records.contexts <= MAX_CONTEXTS, "{what}: {held:?}");
    assert!(records.console_entries <= 2 * MAX_CONSOLE_ENTRIES, "{what}: {held:?}");
    assert!(records.recent_dialogs <= MAX_RECENT_DIALOGS && records.stray_answers == 0, "{what}: {held:?}");
    assert!(records.open_dialogs + records.bridge_held <= MAX_BRIDGE_DIALOGS, "{what}: {held:?}");
    assert!(records.flights + records.deadlines < 50, "{what}: {held:?}");
}
