//! The page that `timeline` makes, in a browser.

use std::process::Command;

use integration_tests::{Stage, built_command};
use page_server::Site;
use serde_json::{Value, json};

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
