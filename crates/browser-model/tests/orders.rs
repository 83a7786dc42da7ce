//! The orders in which a real browser was seen to speak, and the ones that it never leaves.
#![cfg(test)]

use std::collections::BTreeSet;

use browser_model::{Acted, Action, Browser, Client, Config, Entry, Place, SourceId, menu};
use cdp_wire::page::DialogType;
use cdp_wire::{Message, decode};
use serde_json::{Value, json};

/// A browser and its client. What is said is written down in short.
struct Pair {
    browser: Browser,
    client: Client,
    heard: Vec<String>,
}

impl Pair {
    fn new(config: Config) -> Self {
        let mut pair = Self { browser: Browser::new(config), client: Client::default(), heard: Vec::new() };
        for command in pair.client.greet() {
            pair.browser.receive(&command);
        }
        pair.drain();
        pair.act(Action::NavigatePage { page: 0, to: Place::Site(0), cache: false });
        pair.drain();
        pair.heard.clear();
        pair
    }

    fn act(&mut self, action: Action) {
        assert_eq!(self.browser.act(action), Acted::Done, "{action:?}");
    }

    fn send(&mut self, session: &str, method: &str, params: Value) {
        let command = self.client.command(Some(session), method, params);
        self.browser.receive(&command);
    }

    /// Lets one source say one thing; the client answers at once.
    fn step(&mut self, source: SourceId) {
        let text = self.browser.emit(source).expect("the source is ready");
        self.heard.push(short(&text));
        for command in self.client.hear(&text) {
            self.browser.receive(&command);
        }
    }

    /// Everything is said; sources take turns in their order.
    fn drain(&mut self) {
        while let Some(source) = self.browser.ready().first().copied() {
            self.step(source);
        }
    }

    /// What was said since the last time, replies to the set-up left out.
    fn said(&mut self) -> Vec<String> {
        self.drain();
        std::mem::take(&mut self.heard).into_iter().filter(|line| !line.contains(" = {}")).collect()
    }

    fn index(&mut self, said: &[String], start: &str) -> usize {
        said.iter()
            .position(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("no {start} in {said:#?}"))
    }
}

/// `SESSION1.1 Page.frameNavigated FRAME2`, `root Target.detachedFromTarget SESSION1.1`, `SESSION1.1 = {"…":…}`.
fn short(text: &str) -> String {
    let message: Value = serde_json::from_str(text).expect("JSON");
    let session = message["sessionId"].as_str().unwrap_or("root");
    let Some(method) = message["method"].as_str() else {
        return format!("{session} = {}", message.get("result").unwrap_or(&message["error"]));
    };
    let params = &message["params"];
    let names = ["sessionId", "frameId", "reason", "result", "type"];
    let mut about: Vec<String> = names.iter().filter_map(|name| params.get(*name)).map(plain).collect();
    about.extend(params["frame"].get("id").map(plain));
    format!("{session} {method} {}", about.join(" ")).trim_end().to_owned()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn a_frame_goes_to_another_process() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    let said = pair.said();
    let attached = pair.index(&said, "SESSION1.1 Target.attachedToTarget SESSION2.1");
    let navigated = pair.index(&said, "SESSION2.1 Page.frameNavigated Navigation FRAME2");
    let swapped = pair.index(&said, "SESSION1.1 Page.frameDetached FRAME2 swap");
    assert!(attached < navigated && attached < swapped, "{said:#?}");
    let frame = &pair.browser.truth().frames["FRAME2"];
    assert!(frame.is_oopif && frame.url.starts_with("http://b.test/"));
}

#[test]
fn a_frame_comes_home() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.said();
    pair.act(Action::Navigate { frame: 1, to: Place::Site(0), slow: false });
    let said = pair.said();
    pair.index(&said, "SESSION1.1 Target.detachedFromTarget SESSION2.1");
    let attached = pair.index(&said, "SESSION1.1 Page.frameAttached FRAME2");
    let navigated = pair.index(&said, "SESSION1.1 Page.frameNavigated Navigation FRAME2");
    assert!(attached < navigated, "{said:#?}");
    assert!(!said.iter().any(|line| line.contains("frameDetached")), "{said:#?}");
}

#[test]
fn the_session_stays_from_one_foreign_process_to_the_next() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.said();
    pair.act(Action::Navigate { frame: 1, to: Place::Site(2), slow: false });
    let said = pair.said();
    assert!(
        !said.iter().any(|line| line.contains("attachedToTarget") || line.contains("detachedFrom")),
        "{said:#?}"
    );
    let cleared = said.iter().filter(|line| *line == "SESSION2.1 Runtime.executionContextsCleared").count();
    assert_eq!(cleared, 2);
}

#[test]
fn a_top_navigation_detaches_children_and_not_grandchildren() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.said();
    pair.act(Action::AddFrame { parent: 1, to: Place::Site(2) });
    assert!(pair.said().iter().any(|line| line == "SESSION2.1 Target.attachedToTarget SESSION3.1"));
    pair.act(Action::NavigatePage { page: 0, to: Place::Site(3), cache: false });
    let said = pair.said();
    pair.index(&said, "SESSION1.1 Target.detachedFromTarget SESSION2.1");
    assert!(
        !said.iter().any(|line| line.contains("SESSION3.1") || line.contains("frameDetached")),
        "{said:#?}"
    );
    assert_eq!(pair.browser.truth().sessions.len(), 1);
}

#[test]
fn a_removed_subtree_is_detached_from_below() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.said();
    pair.act(Action::AddFrame { parent: 1, to: Place::Site(2) });
    pair.said();
    pair.act(Action::RemoveFrame { frame: 0 });
    let said = pair.said();
    let child = pair.index(&said, "SESSION2.1 Target.detachedFromTarget SESSION3.1");
    let parent = pair.index(&said, "SESSION1.1 Target.detachedFromTarget SESSION2.1");
    pair.index(&said, "SESSION1.1 Page.frameDetached FRAME2 remove");
    assert!(child < parent, "{said:#?}");
}

#[test]
fn a_document_comes_back_without_its_local_children_being_attached() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.act(Action::AddFrame { parent: 0, to: Place::Srcdoc });
    pair.said();
    pair.act(Action::NavigatePage { page: 0, to: Place::Site(0), cache: true });
    pair.said();
    pair.act(Action::Back { page: 0 });
    let said = pair.said();
    let attached = pair.index(&said, "SESSION1.1 Target.attachedToTarget SESSION2.2");
    let restored = pair.index(&said, "SESSION1.1 Page.frameNavigated BackForwardCacheRestore FRAME1");
    assert!(attached < restored && !said.iter().any(|line| line.contains("frameAttached")), "{said:#?}");
    assert_eq!(pair.browser.truth().frames.len(), 3);
}

#[test]
fn a_popup_may_open_a_dialog_first_and_its_opener_waits() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::Popup { opener: 0, to: Place::Site(0), dialog: Some(DialogType::Prompt) });
    let said = pair.said();
    let attached = pair.index(&said, "root Target.attachedToTarget SESSION2.1");
    let opening = pair.index(&said, "SESSION2.1 Page.javascriptDialogOpening FRAME2 prompt");
    assert!(attached < opening);
    pair.send("SESSION1.1", "Runtime.evaluate", json!({ "expression": "1" }));
    assert_eq!(pair.said(), [] as [String; 0], "one renderer: the opener is blocked too");
    pair.send("SESSION1.1", "Page.handleJavaScriptDialog", json!({ "accept": true }));
    assert!(pair.said()[0].contains("No dialog is showing"));
    pair.send("SESSION2.1", "Page.handleJavaScriptDialog", json!({ "accept": true, "promptText": "x" }));
    let said = pair.said();
    assert_eq!(said[0], "SESSION2.1 Page.javascriptDialogClosed FRAME2 true");
    pair.index(&said, "SESSION1.1 = {\"result\"");
}

#[test]
fn an_answer_closes_then_is_confirmed_then_the_script_goes_on() {
    let mut pair = Pair::new(Config::default());
    pair.send("SESSION1.1", "Runtime.evaluate", json!({ "expression": "confirm('?')" }));
    assert_eq!(pair.said(), ["SESSION1.1 Page.javascriptDialogOpening FRAME1 confirm"]);
    pair.send("SESSION1.1", "Page.handleJavaScriptDialog", json!({ "accept": true }));
    let sources = pair.browser.ready();
    assert_eq!(sources, [SourceId::Browser], "the evaluation waits for the confirmation");
    pair.drain();
    let said = std::mem::take(&mut pair.heard);
    assert_eq!(said[0], "SESSION1.1 Page.javascriptDialogClosed FRAME1 true");
    assert_eq!(said[1], "SESSION1.1 = {}");
    assert!(said[2].contains("FRAME1") && said.len() == 3, "{said:#?}");
}

#[test]
fn of_two_dialogs_in_two_processes_the_first_is_closed_and_the_second_lost() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.said();
    pair.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
    pair.act(Action::OpenDialog { frame: 1, kind: DialogType::Confirm });
    let opening = "SESSION1.1 Page.javascriptDialogOpening";
    let expected = [
        format!("{opening} FRAME1 confirm"),
        format!("{opening} FRAME2 confirm"),
        "SESSION1.1 Page.javascriptDialogClosed FRAME1 false".to_owned(),
    ];
    assert_eq!(pair.said(), expected);
    pair.send("SESSION1.1", "Page.handleJavaScriptDialog", json!({ "accept": true }));
    assert!(pair.said()[0].contains("-32602"));
    pair.send("SESSION2.1", "Runtime.evaluate", json!({ "expression": "1" }));
    assert_eq!(pair.said(), [] as [String; 0]);
    let mut doomed = pair.browser.clone();
    doomed.receive(r#"{"id":900,"method":"Target.closeTarget","params":{"targetId":"FRAME1"}}"#);
    assert!(doomed.is_dead());
    pair.send("SESSION1.1", "Page.navigate", json!({ "url": "http://c.test/1" }));
    assert!(pair.said().contains(&"SESSION1.1 Page.javascriptDialogClosed FRAME2 false".to_owned()));
}

#[test]
fn without_a_dialog_of_its_own_the_browser_forgets_the_first_of_two() {
    let mut pair = Pair::new(Config { has_browser_handler: false, ..Config::default() });
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.said();
    pair.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
    pair.act(Action::OpenDialog { frame: 1, kind: DialogType::Confirm });
    assert_eq!(pair.said().len(), 2);
    pair.send("SESSION1.1", "Page.handleJavaScriptDialog", json!({ "accept": true }));
    assert!(pair.said().contains(&"SESSION1.1 Page.javascriptDialogClosed FRAME2 true".to_owned()));
    let open = pair.browser.truth().dialogs;
    assert!(open.len() == 1 && !open[0].answerable);
}

#[test]
fn a_renderer_dies_with_its_dialog_and_answers_nothing_until_it_is_back() {
    let mut pair = Pair::new(Config { crash_fails_commands: true, ..Config::default() });
    pair.act(Action::OpenDialog { frame: 0, kind: DialogType::Alert });
    pair.act(Action::Crash { frame: 0 });
    let said = pair.said();
    let closed = pair.index(&said, "SESSION1.1 Page.javascriptDialogClosed FRAME1 false");
    let crashed = pair.index(&said, "SESSION1.1 Inspector.targetCrashed");
    let told = pair.index(&said, "root Target.targetCrashed");
    assert!(closed < crashed && crashed < told, "{said:#?}");
    pair.send("SESSION1.1", "Runtime.evaluate", json!({ "expression": "1" }));
    assert_eq!(pair.said(), [] as [String; 0]);
    pair.act(Action::Reload { page: 0 });
    let said = pair.said();
    let back = pair.index(&said, "SESSION1.1 Inspector.targetReloadedAfterCrash");
    let navigated = pair.index(&said, "SESSION1.1 Page.frameNavigated");
    assert!(back < navigated && said.iter().any(|line| line.contains("Target crashed")), "{said:#?}");
}

#[test]
fn an_iframe_removed_with_its_dialog_leaves_a_browser_that_an_answer_kills() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    pair.said();
    pair.act(Action::OpenDialog { frame: 1, kind: DialogType::Confirm });
    pair.act(Action::RemoveFrame { frame: 0 });
    assert!(!pair.said().iter().any(|line| line.contains("DialogClosed")));
    assert!(pair.browser.truth().pages["FRAME1"].poisoned);
    pair.send("SESSION1.1", "Page.handleJavaScriptDialog", json!({ "accept": true }));
    assert!(pair.browser.is_dead());
}

#[test]
fn a_dialog_from_before_the_client_cannot_be_answered() {
    let mut browser = Browser::new(Config::default());
    let mut client = Client::default();
    browser.act(Action::OpenDialog { frame: 0, kind: DialogType::Alert });
    for command in client.greet() {
        browser.receive(&command);
    }
    let mut pair = Pair { browser, client, heard: Vec::new() };
    pair.drain();
    assert!(
        !pair.heard.iter().any(|line| line.contains("Opening") || line.starts_with("SESSION")),
        "nothing else"
    );
    pair.heard.clear();
    pair.send("SESSION1.1", "Page.handleJavaScriptDialog", json!({ "accept": true }));
    assert!(pair.said()[0].contains("No dialog is showing"));
    pair.act(Action::Reload { page: 0 });
    assert!(pair.said().contains(&"SESSION1.1 Page.javascriptDialogClosed FRAME1 false".to_owned()));
}

#[test]
fn a_dead_session_is_answered_without_its_id() {
    let mut pair = Pair::new(Config::default());
    pair.send("SESSION9.1", "Runtime.evaluate", json!({}));
    assert_eq!(pair.said(), [r#"root = {"code":-32001,"message":"Session with given id not found."}"#]);
    pair.send("SESSION1.1", "Nonsense.method", json!({}));
    assert!(pair.said()[0].contains("-32601"));
}

#[test]
fn an_evaluation_tells_its_frame() {
    let mut pair = Pair::new(Config::default());
    pair.act(Action::AddFrame { parent: 0, to: Place::Srcdoc });
    pair.drain();
    let context = |pair: &mut Pair| {
        pair.send("SESSION1.1", "Runtime.enable", json!({}));
        let mut last = Value::Null;
        while let Some(source) = pair.browser.ready().first().copied() {
            let message: Value = serde_json::from_str(&pair.browser.emit(source).unwrap()).unwrap();
            if message["params"]["context"]["auxData"]["frameId"] == "FRAME2" {
                last = message["params"]["context"]["uniqueId"].clone();
            }
        }
        last
    };
    let unique = context(&mut pair);
    pair.heard.clear();
    pair.send("SESSION1.1", "Runtime.evaluate", json!({ "expression": "1", "uniqueContextId": unique }));
    assert_eq!(pair.said(), [r#"SESSION1.1 = {"result":{"type":"string","value":"FRAME2"}}"#]);
}

/// Draws actions and sources from a plain generator of numbers.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap() % bound
    }

    fn action(&mut self, menu: &[Entry]) -> Action {
        let total: u32 = menu.iter().map(|entry| entry.weight).sum();
        let mut drawn = u32::try_from(self.below(total as usize)).unwrap();
        let entry = menu.iter().find(|entry| {
            let hit = drawn < entry.weight;
            drawn = drawn.saturating_sub(entry.weight);
            hit
        });
        let bytes = self.next().to_le_bytes();
        (entry.expect("the weights add up").make)([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

/// Whatever happens: each message is one that CDP has, none comes on a session before it is announced or after its end
/// was, and when all was said nobody waits to be resumed.
#[test]
fn no_order_breaks_what_every_browser_keeps() {
    let menu = menu();
    for seed in 0..400 {
        let mut draw = Draw(seed);
        let config = Config::from_bits(u16::try_from(draw.below(1 << 11)).unwrap());
        let mut browser = Browser::new(config);
        let mut client = Client::default();
        client.greet().iter().for_each(|command| browser.receive(command));
        let mut live = BTreeSet::new();
        for _ in 0..60 {
            let action = draw.action(&menu);
            browser.act(action);
            if action == Action::DropSocket {
                live.clear();
                client.greet().iter().for_each(|command| browser.receive(command));
            }
            let steps = draw.below(8);
            hear_some(&mut browser, &mut client, &mut draw, &mut live, steps);
        }
        browser.finish_all();
        hear_some(&mut browser, &mut client, &mut draw, &mut live, usize::MAX);
        let paused = browser.truth().paused;
        let blocked = !browser.truth().dialogs.is_empty();
        assert!(paused.is_empty() || blocked, "seed {seed}: {paused:?}");
    }
}

fn hear_some(
    browser: &mut Browser,
    client: &mut Client,
    draw: &mut Draw,
    live: &mut BTreeSet<String>,
    steps: usize,
) {
    for _ in 0..steps {
        let ready = browser.ready();
        if ready.is_empty() {
            return;
        }
        let text = browser.emit(ready[draw.below(ready.len())]).expect("it is ready");
        check_message(&text, live);
        client.hear(&text).iter().for_each(|command| browser.receive(command));
    }
}

fn check_message(text: &str, live: &mut BTreeSet<String>) {
    let session = match decode(text).expect("a CDP message") {
        Message::Event(event) => {
            event.known().expect("the protocol's shape");
            event.session
        }
        Message::Reply(reply) => reply.session,
    };
    if let Some(session) = session {
        assert!(live.contains(session.as_str()), "{text} on a session that is not there");
    }
    let message: Value = serde_json::from_str(text).unwrap();
    let named = || message["params"]["sessionId"].as_str().map(str::to_owned);
    match message["method"].as_str() {
        Some("Target.attachedToTarget") => assert!(live.insert(named().unwrap()), "{text}"),
        Some("Target.detachedFromTarget") => assert!(live.remove(&named().unwrap()), "{text}"),
        _ => {}
    }
}
