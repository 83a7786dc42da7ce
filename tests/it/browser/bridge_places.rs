//! Where somebody else closes native dialogs, counted: of all that pages ask, how much gets the agent's answer. By a proxy in
//! the path and by Playwright beside us, in every place, from the first script and later, on `http` and `https`; pages whose
//! policies forbid the bridge apart.

use std::collections::BTreeMap;

use integration_tests::{InventedHosts, Stage, accept, accept_with, dismiss};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::bridge::Unavailable;
use supervisor::supervisor_core::dialog::{ClosedBy, Source};
use supervisor::supervisor_core::snapshot::BridgeView;
use supervisor::{Action, DialogView, FrameId, Place, TargetId};

use super::bridge::{bridged, go, start};
use super::bridge_backends::{behind, playwright};

/// Asks all there is, in its first script and whenever it is told to. The nonce is for pages that want one.
const ASKS: &str = "<body><script nonce=n>
    const name = location.search.slice(1);
    const ask = when => [typeof alert(`alert ${name} ${when}`), confirm(`accepted ${name} ${when}`),
        confirm(`dismissed ${name} ${when}`), prompt(`prompt ${name} ${when}`, 'dflt')];
    window.first = ask('first');
    const add = src => { const f = document.createElement('iframe'); f.src = src; document.body.append(f) };
    </script>";

/// What it asks each time, how the agent answers, and what the page is to get.
const QUESTIONS: [&str; 4] = ["alert", "accepted", "dismissed", "prompt"];

fn answer_to(question: &str, name: &str) -> Action {
    match question {
        "dismissed" => dismiss(),
        "prompt" => accept_with(name),
        _ => accept(),
    }
}

fn all_answers(name: &str) -> [Value; 4] {
    [json!("undefined"), json!(true), json!(false), json!(name)]
}

/// What a page gets whose dialogs somebody dismisses.
fn no_answers() -> [Value; 4] {
    [json!("undefined"), json!(false), json!(false), Value::Null]
}

/// How many questions were asked and how many brought the agent's answer to the page, by place and moment.
#[derive(Default)]
struct Tally(BTreeMap<String, (usize, usize)>);

impl Tally {
    /// The agent answers what it can: what the bridge asks. A native dialog is gone before an agent has made up its mind.
    async fn answers(stage: &Stage, name: &str, when: &str) {
        for question in QUESTIONS {
            let message = format!("{question} {name} {when}");
            let is_it = |it: &DialogView| it.message == message;
            let is_bridged = |it: &DialogView| is_it(it) && it.source == Source::Bridge;
            let shown = stage
                .until(|it| it.pending_dialogs.iter().any(is_bridged) || it.recent_dialogs.iter().any(is_it))
                .await;
            if let Some(dialog) = shown.pending_dialogs.iter().find(|it| is_bridged(it)) {
                let answered = stage.answer_to(dialog.id, answer_to(question, name)).await;
                answered.unwrap_or_else(|failure| panic!("{failure:?}"));
            }
        }
    }

    /// What the page has must be what its dialogs' records say, each of which is there.
    async fn count(&mut self, stage: &Stage, frame: Option<&FrameId>, name: &str, when: &str) {
        let wait = format!(
            "new Promise(done => {{ const look = () => window.{when} ? done({when}) : setTimeout(look, 5); look() }})"
        );
        let said = stage.value(frame, &wait).await;
        let recent = stage.task.snapshot().recent_dialogs.clone();
        let (asked, got) = self.0.entry(format!("{name}, {when}")).or_default();
        for (place, question) in QUESTIONS.iter().enumerate() {
            let message = format!("{question} {name} {when}");
            let dialogs: Vec<_> = recent.iter().filter(|it| it.message == message).collect();
            assert_eq!(dialogs.len(), 1, "{message}: {recent:?}");
            let by_agent = dialogs[0].closed_by == Some(ClosedBy::Agent);
            let expected = if by_agent { all_answers(name) } else { no_answers() };
            assert_eq!(said[place], expected[place], "{message}: {dialogs:?}");
            *asked += 1;
            *got += usize::from(by_agent);
        }
    }

    /// A document that has just been loaded, then and later.
    async fn document(&mut self, stage: &Stage, frame: Option<&FrameId>, name: &str) {
        self.count(stage, frame, name, "first").await;
        start(stage, frame, "window.later = ask('later')").await;
        Self::answers(stage, name, "later").await;
        self.count(stage, frame, name, "later").await;
    }

    fn total(&self) -> (usize, usize) {
        self.0.values().fold((0, 0), |(asked, got), row| (asked + row.0, got + row.1))
    }

    fn says(&self, title: &str) {
        for (row, (asked, got)) in &self.0 {
            println!("{title}: {row}: {got} of {asked}");
        }
        let (asked, got) = self.total();
        println!("{title}: all: {got} of {asked}");
    }
}

/// Main frame, iframe of the same origin, iframe of another site, popup.
async fn every_place(stage: &Stage, title: &str, scheme: &str, port: &str) {
    let mut tally = Tally::default();
    let url = |host: &str, name: &str| format!("{scheme}://{host}{port}/asks?{name}");
    main_frame(stage, &mut tally, &url("a.test", "main")).await;
    for (name, host) in [("child", "a.test"), ("oopif", "b.test")] {
        start(stage, None, &format!("add('{}')", url(host, name))).await;
        Tally::answers(stage, name, "first").await;
        let frame = stage.frame(&format!("?{name}")).await;
        assert_eq!(frame.is_oopif, name == "oopif");
        tally.document(stage, Some(&frame.frame_id), name).await;
    }
    let popup = popup_at(stage, &url("a.test", "popup")).await;
    tally.document(stage, Some(&stage.main_frame(&popup).await), "popup").await;
    tally.says(&format!("{title}, {scheme}"));
    assert_eq!(tally.total(), (32, 32));
    let ended = stage.task.snapshot();
    assert!(ended.pages.iter().all(|page| page.bridge == BridgeView::On));
    assert_eq!(ended.counts.dialogs_seen, 32);
}

/// Sends the page to one that asks; the name is in its query.
async fn main_frame(stage: &Stage, tally: &mut Tally, url: &str) {
    let name = url.rsplit_once('?').unwrap().1;
    go(stage, url).await;
    Tally::answers(stage, name, "first").await;
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url == url)).await;
    tally.document(stage, None, name).await;
}

/// A popup that is sent to a page which asks. Who answers on invented hosts may come a moment after the popup.
async fn popup_at(stage: &Stage, url: &str) -> TargetId {
    stage.value(None, "void window.open('about:blank')").await;
    let popup = the_popup(stage).await;
    loop {
        let params = json!({ "url": url }).to_string();
        match stage.task.call(Place::Target(popup.clone()), "Page.navigate", params, None).await {
            Ok(reply) if reply.result.get().contains("errorText") => tokio::task::yield_now().await,
            _ => break,
        }
    }
    Tally::answers(stage, "popup", "first").await;
    popup
}

async fn the_popup(stage: &Stage) -> TargetId {
    let snapshot = stage.until(|snapshot| snapshot.pages.len() == 2).await;
    snapshot.pages.iter().find(|page| !page.active).unwrap().target_id.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_that_dismisses_every_place_gets_its_answers_on_http() {
    let (stage, _proxy) = behind(Site::new().page("/asks", ASKS), bridged()).await;
    every_place(&stage, "behind a proxy", "http", &format!(":{}", stage.pages.port())).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_that_dismisses_every_place_gets_its_answers_on_https() {
    let (stage, _proxy) = behind(Site::new(), bridged()).await;
    let _hosts = InventedHosts::serve(stage.browser.ws_url(), &[("/asks", ASKS)]).await;
    every_place(&stage, "behind a proxy", "https", "").await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_playwright_every_place_gets_its_answers_on_http() {
    let stage = Stage::with(Site::new().page("/asks", ASKS), bridged()).await;
    let _driver = playwright(stage.browser.ws_url()).await;
    every_place(&stage, "beside Playwright", "http", &format!(":{}", stage.pages.port())).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_playwright_every_place_gets_its_answers_on_https() {
    let stage = Stage::with(Site::new(), bridged()).await;
    let _driver = playwright(stage.browser.ws_url()).await;
    let _hosts = InventedHosts::serve(stage.browser.ws_url(), &[("/asks", ASKS)]).await;
    every_place(&stage, "beside Playwright", "https", "").await;
    stage.end().await;
}

/// A popup whose very first document asks.
async fn opened_at_once(stage: &Stage, title: &str) -> Tally {
    let mut tally = Tally::default();
    stage.open("a.test", "/").await;
    start(stage, None, "window.open('/asks?popup')").await;
    Tally::answers(stage, "popup", "first").await;
    let popup = the_popup(stage).await;
    tally.document(stage, Some(&stage.main_frame(&popup).await), "popup").await;
    tally.says(&format!("{title}, a popup's first document"));
    tally
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_a_popups_first_document_gets_its_answers() {
    let (stage, _proxy) = behind(Site::new().page("/", "").page("/asks", ASKS), bridged()).await;
    assert_eq!(opened_at_once(&stage, "behind a proxy").await.total(), (8, 8));
    stage.end().await;
}

/// Whoever resumes the popup first decides whether its first script finds the bridge; nothing is lost without a record.
#[tokio::test(flavor = "multi_thread")]
async fn beside_playwright_a_popups_first_document_is_a_race_and_all_that_it_asks_is_on_record() {
    let stage = Stage::with(Site::new().page("/", "").page("/asks", ASKS), bridged()).await;
    let _driver = playwright(stage.browser.ws_url()).await;
    let tally = opened_at_once(&stage, "beside Playwright").await;
    assert_eq!(tally.0["popup, later"], (4, 4));
    stage.end().await;
}

/// Policies, whether they let the bridge be, and what a page says whose policy does not.
const POLICIES: [(&str, &str, &str, Option<Unavailable>); 4] = [
    (
        "nonces",
        "Content-Security-Policy",
        "script-src 'nonce-n' 'strict-dynamic'; object-src 'none'; base-uri 'none'",
        None,
    ),
    (
        "connect-src",
        "Content-Security-Policy",
        "connect-src 'self'",
        Some(Unavailable::ContentSecurityPolicy),
    ),
    (
        "default-src",
        "Content-Security-Policy",
        "default-src 'self'; script-src 'nonce-n'",
        Some(Unavailable::ContentSecurityPolicy),
    ),
    ("sync-xhr", "Permissions-Policy", "sync-xhr=()", Some(Unavailable::PermissionsPolicy)),
];

fn strict_site() -> Site {
    let site = Site::new();
    POLICIES.iter().fold(site, |site, (name, header, value, _)| {
        site.page_with(&format!("/{name}"), ASKS, &[(*header, *value)])
    })
}

/// Pages with policies, each counted apart. What they forbid is dismissed by the backend, and on record.
async fn strict_pages(stage: &Stage, title: &str) {
    let mut seen = 0;
    for (name, _, _, why) in POLICIES {
        let mut tally = Tally::default();
        main_frame(stage, &mut tally, &stage.pages.url("a.test", &format!("/{name}?{name}"))).await;
        tally.says(title);
        assert_eq!(tally.total(), (8, if why.is_none() { 8 } else { 0 }));
        seen += 8;
        assert_eq!(stage.task.snapshot().counts.dialogs_seen, seen);
        is_told(stage, why).await;
    }
}

/// What the page's entry says of its bridge.
async fn is_told(stage: &Stage, why: Option<Unavailable>) {
    // Old browsers do not say in the console that a policy was at work.
    let is_silent = why == Some(Unavailable::PermissionsPolicy) && !stage.runs_scripts_immediately();
    let why = if is_silent { Some(Unavailable::Unknown) } else { why };
    let bridge = if why.is_none() { BridgeView::On } else { BridgeView::Unavailable };
    stage.until(|it| it.pages[0].bridge_reason == why && it.pages[0].bridge == bridge).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_pages_with_policies_are_counted_apart() {
    let (stage, _proxy) = behind(strict_site(), bridged()).await;
    strict_pages(&stage, "behind a proxy").await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_playwright_pages_with_policies_are_counted_apart() {
    let stage = Stage::with(strict_site(), bridged()).await;
    let _driver = playwright(stage.browser.ws_url()).await;
    strict_pages(&stage, "beside Playwright").await;
    stage.end().await;
}
