//! Dialogs that are not the only one, or that nobody can answer, met from the shell.

use page_server::{PageServer, Site};
use serde_json::{Value, json};

use crate::home::{Home, until};

/// Another task comes to the browser when a dialog is open there already: it cannot answer, and frees the page.
#[test]
fn a_page_that_nobody_can_answer_is_freed_by_a_remedy() {
    let home = Home::new();
    let _server = home.serve(&["--launch"]);
    home.run(&["eval", "confirm('early')"]).exits(1);
    let url = home.run(&["status", "--json"]).exits(0).json()["tasks"][0]["endpoint"].clone();
    home.run(&["connect", url.as_str().unwrap(), "--task", "late"]).exits(0);
    let late = |args: &[&str]| home.run(&[args, &["--task", "late"]].concat());
    until("the page is known to be stuck", || {
        late(&["snapshot"]).exits(0).out.contains("blocked (unresponsive)")
    });
    let refused = late(&["dialog", "accept"]).exits(1);
    assert!(refused.err.contains("error: unanswerable: ") && refused.err.contains("next: "), "{refused:?}");
    let page = late(&["snapshot", "--json"]).exits(0).json()["pages"][0]["target_id"].clone();
    let page = page.as_str().unwrap();
    let recovered = late(&["recover", page, "reload"]).exits(0);
    assert_eq!(recovered.out, format!("✓ reload of page {page} is done\n"));
    until("the page is free", || {
        let said = late(&["snapshot"]).exits(0).out;
        !said.contains("blocked") && !said.contains("does not answer")
    });
    assert_eq!(late(&["eval", "6 * 7"]).exits(0).out, "42\n");
    let again = late(&["recover", page, "reload"]).exits(1);
    assert!(again.err.contains("invalid_argument") && again.err.contains("is not blocked"), "{again:?}");
}

#[test]
fn of_dialogs_on_two_pages_one_must_be_named() {
    let home = Home::new();
    let _server = home.serve(&["--launch"]);
    home.run(&["cdp", "Target.createTarget", r#"{"url": "about:blank"}"#]).exits(0);
    let pages = || home.run(&["snapshot", "--json"]).exits(0).json()["pages"].as_array().unwrap().clone();
    until("both pages are there", || pages().len() == 2);
    let pages: Vec<_> = pages().iter().map(|page| page["target_id"].as_str().unwrap().to_owned()).collect();
    for page in &pages {
        let frame = || {
            home.run(&["frames", "--target", page, "--json"]).exits(0).json()["frames"][0]["frame_id"].clone()
        };
        until("its frame is told", || frame().is_string());
        let frame = frame().as_str().unwrap().to_owned();
        let held = home.run(&["eval", "confirm('Which?')", "--frame", &frame]).exits(1);
        assert!(held.err.contains("dialog_opened"), "{held:?}");
    }
    let ambiguous = home.run(&["dialog", "accept"]).exits(1);
    for part in
        ["ambiguous_dialog", "dialog: d-1 confirm", "dialog: d-2 confirm", "next: name one of them by --id"]
    {
        assert!(ambiguous.err.contains(part), "{part}: {ambiguous:?}");
    }
    let named = home.run(&["dialog", "accept", "--id", "d-2"]).exits(0);
    assert_eq!(named.out, "✓ d-2 confirm \"Which?\" accepted by agent\n");
    let of_page = home.run(&["dialog", "dismiss", "--target", &pages[0]]).exits(0);
    assert_eq!(of_page.out, "✓ d-1 confirm \"Which?\" dismissed by agent\n");
}

/// With the bridge, frames in two processes of a page ask at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_asks_besides_is_told_with_the_answer() {
    let outer = "<iframe src='http://localhost:{PORT}/inner'></iframe>";
    let site = PageServer::start(Site::new().page("/", outer).page("/inner", "<p>inner")).await.unwrap();
    let home = Home::new();
    let _server = home.serve(&["--launch", "--bridge", "on"]);
    let go = json!({"url": site.url("127.0.0.1", "/")}).to_string();
    home.run(&["cdp", "Page.navigate", &go]).exits(0);
    let frames = || home.run(&["frames", "--json"]).exits(0).json()["frames"].as_array().unwrap().clone();
    until("the iframe has its process", || frames().iter().any(|frame| frame["is_oopif"] == true));
    let ids: Vec<Value> = frames().iter().map(|frame| frame["frame_id"].clone()).collect();
    for frame in ids {
        home.run(&["eval", "confirm('Which?')", "--frame", frame.as_str().unwrap()]).exits(1);
    }
    let answered = home.run(&["dialog", "accept", "--id", "d-1"]).exits(0);
    let mut lines = answered.out.lines();
    assert_eq!(lines.next(), Some("✓ d-1 confirm \"Which?\" accepted by agent"));
    assert!(
        lines.next().unwrap().starts_with("? the page asks again: d-2 confirm \"Which?\" on page "),
        "{answered:?}"
    );
    let last = home.run(&["dialog", "accept"]).exits(0);
    assert_eq!(last.out, "✓ d-2 confirm \"Which?\" accepted by agent\n");
    site.stop().await;
}
