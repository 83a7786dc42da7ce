//! The page that `timeline` makes, in a browser.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use integration_tests::{Stage, built_command};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::Options;

const NESTED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/transcripts/confirm-in-nested-oopif.cdp.jsonl");

#[tokio::test(flavor = "multi_thread")]
async fn a_timeline_shows_lanes_dialogs_and_the_snapshot_of_a_moment() {
    let folder = std::env::temp_dir().join(format!("cdp-timeline-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let page = folder.join("run.html");
    let made = Command::new(built_command()).args(["timeline", NESTED, "-o"]).arg(&page).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let again = Command::new(built_command()).args(["timeline", NESTED, "-o"]).arg(&page).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "a file that is there is kept");

    let stage = Stage::new(Site::new()).await;
    let url = format!("file://{}", page.display());
    stage.call("Page.navigate", json!({"url": url})).await.unwrap();
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url == url)).await;
    let ready = "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))";
    stage.value(None, ready).await;
    let kinds = "JSON.stringify(['page', 'session', 'dialog'].map(kind => lanes.filter(it => it.kind === kind && it.bars.length).length))";
    assert_eq!(stage.value(None, kinds).await, json!("[1,2,1]"));
    let dialog = stage.value(None, "dialogs.bars[0].label").await;
    assert_eq!(dialog, json!("d-1 confirm \"Pay 25.00 from the innermost frame?\" · closed by agent"));

    let text = |at: &str| format!("show({at}); document.getElementById('snapshot').textContent");
    assert_eq!(stage.value(None, &text("0")).await, json!(""));
    let pending = stage.value(None, &text("dialogs.bars[0].from")).await;
    let pending: Value = serde_json::from_str(pending.as_str().unwrap()).unwrap();
    assert_eq!(pending["pending_dialogs"][0]["id"], "d-1");
    let ended = stage.value(None, &text("end")).await;
    let ended: Value = serde_json::from_str(ended.as_str().unwrap()).unwrap();
    assert_eq!(ended["recent_dialogs"][0]["closed_by"], "agent");
    stage.end().await;
    std::fs::remove_dir_all(folder).unwrap();
}

/// Another client's transcript: a page is attached and loaded in it, and then an alert opens.
const BEGINNING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/foreign/alert.jsonl");

/// Iframes that come and go, six events each, and every tenth time a dialog.
const ROUNDS: usize = 30_000;
const DIALOG_EVERY: usize = 10;

/// The least number of events.
const MANY: u64 = 100_000;

/// A session and its page in that transcript.
const SESSION: &str = "BDA8FA1629FF7D20083E9416A5DE61F8";
const PAGE: &str = "6A35A385D42D7A521363C56AD0D09191";

/// Half a minute of a page that never rests.
fn long_transcript() -> String {
    let beginning = std::fs::read_to_string(BEGINNING).unwrap();
    let until_alert = beginning.lines().take_while(|line| !line.contains("\"method\":\"Runtime.evaluate\""));
    let mut text: String = until_alert.flat_map(|line| [line, "\n"]).collect();
    for round in 0..ROUNDS {
        let mut at = 1.5 + round as f64 / 1_000.0;
        let mut say = |dir: &str, mut message: Value| {
            at += 0.000_1;
            message["sessionId"] = json!(SESSION);
            writeln!(text, "{}", json!({ "t": at, "dir": dir, "msg": message })).unwrap();
        };
        let frame = format!("F{round}");
        let document = json!({ "id": frame, "parentId": PAGE, "loaderId": format!("L{round}"), "url": format!("http://a.test/{round}"),
            "securityOrigin": "http://a.test", "mimeType": "text/html" });
        say(
            "recv",
            json!({ "method": "Page.frameAttached", "params": { "frameId": frame, "parentFrameId": PAGE } }),
        );
        say(
            "recv",
            json!({ "method": "Page.frameNavigated", "params": { "frame": document, "type": "Navigation" } }),
        );
        if round % DIALOG_EVERY == 0 {
            let opening = json!({ "url": "http://a.test/", "frameId": PAGE, "message": format!("Question {round}?"),
                "type": "confirm", "hasBrowserHandler": true, "defaultPrompt": "" });
            let id = 1_000 + round;
            say("recv", json!({ "method": "Page.javascriptDialogOpening", "params": opening }));
            say(
                "send",
                json!({ "id": id, "method": "Page.handleJavaScriptDialog", "params": { "accept": true } }),
            );
            say(
                "recv",
                json!({ "method": "Page.javascriptDialogClosed", "params": { "result": true, "userInput": "", "frameId": PAGE } }),
            );
            say("recv", json!({ "id": id, "result": {} }));
        }
        say(
            "recv",
            json!({ "method": "Page.frameDetached", "params": { "frameId": frame, "reason": "remove" } }),
        );
    }
    text
}

/// The page that `timeline` makes of this.
fn made_of(folder: &Path, transcript: &str) -> PathBuf {
    let (file, page) = (folder.join("long.jsonl"), folder.join("long.html"));
    std::fs::write(&file, transcript).unwrap();
    let made =
        Command::new(built_command()).arg("timeline").arg(&file).arg("-o").arg(&page).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    page
}

/// Nothing is asserted of how long it takes, and the deadline is for machines under load.
#[tokio::test(flavor = "multi_thread")]
async fn a_timeline_of_a_hundred_thousand_events_opens_and_can_be_searched_and_wound() {
    let folder = tempfile::tempdir().unwrap();
    let page = made_of(folder.path(), &long_transcript());
    let mut options = Options::default();
    options.call_timeout = Duration::from_secs(300);
    let stage = Stage::with(Site::new(), options).await;
    let url = format!("file://{}", page.display());
    stage.call("Page.navigate", json!({"url": url})).await.unwrap();
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url == url)).await;
    // Something is painted where the first dialog is.
    let drawn = "document.readyState === 'complete' && canvas.width > 0
        && draw2d.getImageData(0, 0, canvas.width, Math.min(canvas.height, 400)).data.some(value => value)";
    stage.comes_true(None, drawn).await;
    let events = stage.value(None, "events.length").await.as_u64().unwrap();
    assert!(events >= MANY, "{events} events");
    let about = stage.value(None, "document.getElementById('about').textContent").await;
    assert!(about.as_str().unwrap().starts_with(&format!("{events} events")), "{about}");
    assert_eq!(stage.value(None, "dialogs.bars.length").await, json!(ROUNDS / DIALOG_EVERY));

    let search = "const search = document.getElementById('search'); search.value = 'question 7770?';
        search.dispatchEvent(new Event('input')); document.getElementById('found').textContent";
    assert_eq!(stage.value(None, &format!("{{ {search} }}")).await, json!("1 found"));
    let next = "document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
        Math.abs(moment - dialogs.bars[777].from) < 1";
    assert_eq!(stage.value(None, &format!("{{ {next} }}")).await, json!(true));

    let wind = "const time = document.getElementById('time'); time.value = 5000; time.dispatchEvent(new Event('input'));
        [Math.abs(moment - end / 2) < end / 1000, document.getElementById('near').textContent.split('\\n').length]";
    assert_eq!(stage.value(None, &format!("{{ {wind} }}")).await, json!([true, 8]));
    let snapshot = stage.value(None, "document.getElementById('snapshot').textContent").await;
    let snapshot: Value = serde_json::from_str(snapshot.as_str().unwrap()).unwrap();
    assert_eq!(snapshot["pages"][0]["target_id"], json!(PAGE));
    // The last twenty of about a thousand.
    assert_eq!(snapshot["recent_dialogs"].as_array().map(Vec::len), Some(20));
    stage.end().await;
}
