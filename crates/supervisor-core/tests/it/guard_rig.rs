//! The second wire of the hand-made browser: what the guard sends, and what it hears.

use serde_json::{Value, json};
use supervisor_core::guard::{Stands, Why};
use supervisor_core::{Effect, EndpointKind, Epoch, GuardEffect, GuardInput, Input, Net, Options};

use crate::rig::Rig;

/// A task that asks for a guard.
pub(crate) fn guarded() -> Options {
    let mut options = Options::default();
    options.guard = true;
    options
}

impl Rig {
    /// A page `P` (session `SP`) on which the guard listens too (session `GP`).
    pub(crate) fn guarded_page() -> Self {
        let mut rig = Self::with_page_and(guarded());
        rig.answer_all("Page.enable", json!({}));
        rig.guard_connects();
        rig.guard_listens("P", "GP");
        assert_eq!(rig.stands(), Stands::On);
        rig
    }

    pub(crate) fn stands(&self) -> Stands {
        self.machine.state().guard.stands
    }

    pub(crate) fn guard_epoch(&self) -> Epoch {
        self.machine.state().guard.epoch
    }

    pub(crate) fn guard_net(&mut self, net: Net) {
        self.input(Input::Guard(GuardInput::Net(net)));
    }

    /// The dial that was asked for succeeds.
    pub(crate) fn guard_connects(&mut self) {
        let epoch = self.guard_epoch();
        assert!(self.effects.contains(&Effect::Guard(GuardEffect::Dial { epoch })), "no dial");
        self.guard_net(Net::Connected { epoch, endpoint: EndpointKind::Browser });
    }

    pub(crate) fn guard_lost(&mut self) {
        let epoch = self.guard_epoch();
        self.guard_net(Net::Lost { epoch, reason: "reset by peer".into() });
    }

    pub(crate) fn main_lost(&mut self) {
        let epoch = self.epoch();
        self.input(Input::Net(Net::Lost { epoch, reason: "reset by peer".into() }));
    }

    /// The main connection is made again, and the page is there.
    pub(crate) fn main_back(&mut self, session: &str) {
        self.main_back_to(session, "Chrome/156");
    }

    /// The same on a browser of this version.
    pub(crate) fn main_back_to(&mut self, session: &str, product: &str) {
        while self.machine.state().connection.endpoint.is_none() {
            let due = self.machine.next_deadline().unwrap();
            self.now = due;
            self.input(Input::Tick);
            let epoch = self.epoch();
            self.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
        }
        self.attach_page("P", session, json!({}));
        for method in ["Browser.getVersion", "Target.setDiscoverTargets", "Target.setAutoAttach"] {
            self.answer_all_root(method, json!({ "product": product }));
        }
    }

    /// Answers what was sent to the root with this method, and not what a blocked page was asked.
    pub(crate) fn answer_all_root(&mut self, method: &str, result: Value) {
        let is_root = |it: &&Value| it["method"] == method && it["sessionId"].is_null();
        let ids: Vec<u64> = self.sent.iter().filter(is_root).map(|it| it["id"].as_u64().unwrap()).collect();
        self.sent.retain(|it| !is_root(&it));
        ids.into_iter().for_each(|id| self.reply(id, result.clone()));
    }

    pub(crate) fn guard_recv(&mut self, message: &Value) {
        let (epoch, text) = (self.guard_epoch(), message.to_string());
        self.input(Input::Guard(GuardInput::Received { epoch, text: &text }));
    }

    pub(crate) fn guard_event(&mut self, session: &str, method: &str, params: Value) {
        self.guard_recv(&json!({"method": method, "params": params, "sessionId": session}));
    }

    /// What was sent on the guard connection, oldest first.
    pub(crate) fn guard_sent(&self) -> Vec<Value> {
        let texts = self.effects.iter().filter_map(|effect| match effect {
            Effect::Guard(GuardEffect::Send { text }) => Some(serde_json::from_str(text).unwrap()),
            _ => None,
        });
        texts.collect()
    }

    /// The last command that was sent on the guard connection with this method.
    pub(crate) fn guard_command(&self, method: &str) -> Value {
        let sent = self.guard_sent();
        sent.iter().rfind(|it| it["method"] == method).unwrap_or_else(|| panic!("no {method}")).clone()
    }

    pub(crate) fn guard_reply(&mut self, method: &str, result: Value) {
        let command = self.guard_command(method);
        self.guard_recv(&json!({"id": command["id"], "result": result}));
    }

    pub(crate) fn guard_refuses(&mut self, method: &str, code: i64, message: &str) {
        let command = self.guard_command(method);
        self.guard_recv(&json!({"id": command["id"], "error": {"code": code, "message": message}}));
    }

    /// It was asked to listen on a page, and does.
    pub(crate) fn guard_listens(&mut self, page: &str, session: &str) {
        assert_eq!(self.guard_command("Target.attachToTarget")["params"]["targetId"], page);
        self.guard_reply("Target.attachToTarget", json!({"sessionId": session}));
        assert_eq!(self.guard_command("Page.enable")["sessionId"], session);
        self.guard_reply("Page.enable", json!({}));
    }

    /// It has heard all that there was.
    pub(crate) fn guard_caught_up(&mut self) {
        self.guard_reply("Browser.getVersion", json!({"product": "Chrome/156"}));
    }

    /// Main gives the sign that it was asked for.
    pub(crate) fn main_signs(&mut self) {
        self.answer_all_root("Browser.getVersion", json!({"product": "Chrome/156"}));
    }

    pub(crate) fn guard_opening(&mut self, frame: &str, kind: &str, message: &str) {
        self.guard_event(
            "GP",
            "Page.javascriptDialogOpening",
            json!({"url": "http://a.test/", "frameId": frame, "message": message, "type": kind,
                "hasBrowserHandler": true, "defaultPrompt": "dflt"}),
        );
    }

    pub(crate) fn guard_closed(&mut self, frame: &str, result: bool) {
        self.guard_event(
            "GP",
            "Page.javascriptDialogClosed",
            json!({"frameId": frame, "result": result, "userInput": ""}),
        );
    }

    /// A dialog that both connections hear of.
    pub(crate) fn both_opening(&mut self, frame: &str, kind: &str, message: &str) {
        self.opening("SP", frame, kind, message);
        self.guard_opening(frame, kind, message);
    }

    pub(crate) fn guard_dials(&self) -> usize {
        let is_dial = |effect: &&Effect| matches!(effect, Effect::Guard(GuardEffect::Dial { .. }));
        self.effects.iter().filter(is_dial).count()
    }

    pub(crate) fn guard_hung_up(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Guard(GuardEffect::HangUp { .. })))
    }

    pub(crate) fn unavailable(&self) -> Option<Why> {
        match self.stands() {
            Stands::Unavailable(why) => Some(why),
            _ => None,
        }
    }
}
