//! Probes of a real browser, as it is and behind what stands between.

use std::collections::BTreeSet;

use integration_tests::{
    Alone, DismissingProxy, PerConnection, RawClient, RefusingProxy, browser, is_headless_shell,
    major_version,
};
use rustix::process::{Pid, Signal, kill_process};
use supervisor::{Options, Snapshot, Supervisor};

use super::*;

/// The name of this browser's expectation.
fn this_browser() -> String {
    match (is_headless_shell(), major_version(&browser().version)) {
        (false, _) => "chromium".to_owned(),
        (true, major) if major < 150 => format!("shell-{major}"),
        (true, _) => "chromium-headless-shell".to_owned(),
    }
}

/// What a browser has open: tabs and contexts.
async fn open(client: &RawClient) -> (BTreeSet<String>, Value) {
    let contexts = client.send("Target.getBrowserContexts", json!({}), None).await;
    (client.tabs().await, contexts["result"]["browserContextIds"].clone())
}

/// Waits until a browser has open what it had.
async fn is_as_before(client: &RawClient, before: &(BTreeSet<String>, Value)) {
    let wait = async {
        while open(client).await != *before {
            tokio::task::yield_now().await;
        }
    };
    if timeout(patience(), wait).await.is_err() {
        assert_eq!(&open(client).await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn this_browser_is_as_expected_and_nothing_is_left_behind() {
    let alone = Alone::new().await;
    let client = RawClient::connect(alone.browser.ws_url()).await;
    let before = open(&client).await;
    let mut probe = Probe::of(alone.browser.http_url());
    let report = probe.report().await;
    assert_expected(&this_browser(), &report);
    assert_eq!(open(&client).await, before);
    let answered = probe.said.iter().filter(|line| ["✓", "✗"].iter().any(|it| line.contains(it)));
    assert_eq!(answered.count(), report["checks"].as_array().unwrap().len(), "{:#?}", probe.said);
    alone.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_that_dismisses_this_browser_is_as_expected() {
    let alone = Alone::new().await;
    let client = RawClient::connect(alone.browser.ws_url()).await;
    let before = open(&client).await;
    let proxy = DismissingProxy::to(alone.browser.ws_url()).await;
    let name = this_browser();
    let name = name.strip_prefix("chromium-headless").map_or(name.clone(), |it| format!("headless{it}"));
    assert_expected(&format!("{name}-behind-dismissing-proxy"), &report(proxy.url()).await);
    is_as_before(&client, &before).await;
    alone.end().await;
}

/// With some answers otherwise than on this browser as it is.
fn but(otherwise: &[(&str, &str)]) -> Value {
    let mut expected = expectation(&this_browser());
    for (name, verdict) in otherwise {
        expected["checks"][name] = json!(verdict);
    }
    expected
}

/// Then all is measured in one tab among the others.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_context_of_its_own_all_else_is_found_the_same() {
    let alone = Alone::new().await;
    let client = RawClient::connect(alone.browser.ws_url()).await;
    let before = open(&client).await;
    let proxy = RefusingProxy::to(alone.browser.ws_url(), &["Target.createBrowserContext"]).await;
    let report = report(proxy.url()).await;
    assert_same(&essence(&report), &but(&[("own_context", "no: refused")]), &report);
    is_as_before(&client, &before).await;
    alone.end().await;
}

/// Then the task has a connection of its own.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_session_of_the_browser_all_is_found_the_same() {
    let alone = Alone::new().await;
    let proxy = RefusingProxy::to(alone.browser.ws_url(), &["Target.attachToBrowserTarget"]).await;
    let report = report(proxy.url()).await;
    assert_same(&essence(&report), &but(&[]), &report);
    alone.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_each_connection_is_another_browser_all_but_that_is_found_the_same() {
    let (alone, other) = (Alone::new().await, Alone::one_more().await);
    let backend = PerConnection::to(&[alone.browser.ws_url(), other.browser.ws_url()]).await;
    let report = report(backend.url()).await;
    let second = ["second_client", "second_client_sees_dialog", "second_client_answers"];
    let expected = but(&second.map(|name| (name, "no: another_browser")));
    assert_same(&essence(&report), &expected, &report);
    alone.end().await;
    other.end().await;
}

/// Ends the probe when somebody who listens too sees this dialog.
async fn interrupted_at(alone: &Alone, is_it: impl Fn(&str, &str) -> bool) -> Option<i32> {
    let others = Supervisor::start();
    let other = others.get_or_start("other", alone.browser.ws_url(), Options::default()).await.unwrap();
    let mut probe = Probe::of(alone.browser.profile().to_str().unwrap());
    let is_open = |it: &Snapshot| {
        it.pending_dialogs.iter().any(|dialog| is_it(&dialog.message, &json!(dialog.kind).to_string()))
    };
    other.wait_for(is_open, 6 * patience()).await.unwrap();
    kill_process(Pid::from_raw(i32::try_from(probe.child.id().unwrap()).unwrap()).unwrap(), Signal::INT)
        .unwrap();
    let (code, printed) = probe.ends().await;
    assert_eq!(printed, "", "{:#?}", probe.said);
    assert!(!probe.said.iter().any(|line| line.contains("could not")), "{:#?}", probe.said);
    others.stop_all().await;
    code
}

/// While a dialog is open that, closed with its page, would end the browser.
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_and_leaves_nothing_behind_and_the_browser_alive() {
    let alone = Alone::new().await;
    let client = RawClient::connect(alone.browser.ws_url()).await;
    let before = open(&client).await;
    assert_eq!(interrupted_at(&alone, |message, _| message == "probe: from a frame").await, Some(130));
    is_as_before(&client, &before).await;
    assert_eq!(interrupted_at(&alone, |_, kind| kind.contains("beforeunload")).await, Some(130));
    is_as_before(&client, &before).await;
    alone.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_that_is_killed_leaves_nothing_behind_either() {
    let alone = Alone::new().await;
    let client = RawClient::connect(alone.browser.ws_url()).await;
    let before = open(&client).await;
    let mut probe = Probe::of(alone.browser.ws_url());
    probe.says("→ a confirm").await;
    probe.child.kill().await.unwrap();
    is_as_before(&client, &before).await;
    alone.end().await;
}
