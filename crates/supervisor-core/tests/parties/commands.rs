//! The commands that the browser of two clients understands; everything else succeeds.

use serde_json::{Value, json};

use crate::browser::{Browser, Cause, End, PAGES, Place};

impl Browser {
    pub(crate) fn receive(&mut self, wire: usize, text: &str) {
        if !self.wires[wire].is_open {
            return;
        }
        let command: Value = serde_json::from_str(text).expect("the machine writes JSON");
        let method = command["method"].as_str().expect("a method").to_owned();
        match command["sessionId"].as_str().map(str::to_owned) {
            None => self.at_root(wire, &method, &command),
            Some(session) => match self.wires[wire].sessions.get(&session).copied() {
                Some((place, _)) => self.at_session(wire, &method, &command, &session, place),
                None => self.fail(wire, &command, -32001, "Session with given id not found."),
            },
        }
    }

    fn at_root(&mut self, wire: usize, method: &str, command: &Value) {
        match method {
            "Browser.getVersion" => self.answer(wire, command, json!({"product": "Chrome/156"})),
            "Target.setAutoAttach" => {
                (0..PAGES).for_each(|page| drop(self.attach(wire, None, Place { page, is_iframe: false })));
                self.answer(wire, command, json!({}));
            }
            "Target.attachToTarget" => {
                let target = command["params"]["targetId"].as_str().expect("a target");
                let page = target.trim_start_matches('P').parse().expect("a page");
                let session = self.attach(wire, None, Place { page, is_iframe: false });
                self.answer(wire, command, json!({ "sessionId": session }));
            }
            _ => self.answer(wire, command, json!({})),
        }
    }

    fn attach(&mut self, wire: usize, parent: Option<&str>, place: Place) -> String {
        self.sessions += 1;
        let session = format!("S{}", self.sessions);
        self.wires[wire].sessions.insert(session.clone(), (place, false));
        let kind = if place.is_iframe { "iframe" } else { "page" };
        let mut info = json!({"targetId": place.frame(), "type": kind, "title": "", "url": "http://a.test/",
            "attached": true, "browserContextId": "C"});
        if place.is_iframe {
            info["parentFrameId"] = json!(Place { is_iframe: false, ..place }.frame());
        }
        let params = json!({"sessionId": session, "targetInfo": info, "waitingForDebugger": false});
        let mut message = json!({"method": "Target.attachedToTarget", "params": params});
        if let Some(parent) = parent {
            message["sessionId"] = json!(parent);
        }
        self.wires[wire].down.push_back(message.to_string());
        session
    }

    fn at_session(&mut self, wire: usize, method: &str, command: &Value, session: &str, place: Place) {
        let result = match method {
            "Page.handleJavaScriptDialog" => return self.take_answer(wire, command, place),
            "Page.enable" => {
                if let Some((_, enabled)) = self.wires[wire].sessions.get_mut(session) {
                    *enabled = true;
                }
                json!({})
            }
            "Target.setAutoAttach" if !place.is_iframe => {
                self.attach(wire, Some(session), Place { is_iframe: true, ..place });
                json!({})
            }
            "Page.getFrameTree" => tree(place),
            _ => json!({}),
        };
        let reply = reply(command, &json!({ "result": result }));
        match self.is_blocked(place) {
            true => self.wires[wire].held.push((place, reply)),
            false => self.wires[wire].down.push_back(reply.to_string()),
        }
    }

    fn take_answer(&mut self, wire: usize, command: &Value, place: Place) {
        assert!(!place.is_iframe, "an answer on an iframe's session");
        match self.answerable(wire, place.page) {
            Some(number) => {
                let accepted = command["params"]["accept"] == true;
                self.close(number, End { cause: Cause::Answer(wire), accepted });
                self.answer(wire, command, json!({}));
            }
            None => self.fail(wire, command, -32602, "No dialog is showing"),
        }
    }

    fn answer(&mut self, wire: usize, command: &Value, result: Value) {
        let reply = reply(command, &json!({ "result": result }));
        self.wires[wire].down.push_back(reply.to_string());
    }

    fn fail(&mut self, wire: usize, command: &Value, code: i64, message: &str) {
        let reply = reply(command, &json!({"error": {"code": code, "message": message}}));
        self.wires[wire].down.push_back(reply.to_string());
    }
}

fn reply(command: &Value, outcome: &Value) -> Value {
    let mut reply = outcome.clone();
    reply["id"] = command["id"].clone();
    if let Some(session) = command.get("sessionId") {
        reply["sessionId"] = session.clone();
    }
    reply
}

fn tree(place: Place) -> Value {
    let mut frame = json!({"id": place.frame(), "loaderId": format!("L{}", place.frame()), "url": "http://a.test/",
        "securityOrigin": "http://a.test", "mimeType": "text/html"});
    if place.is_iframe {
        frame["parentId"] = json!(Place { is_iframe: false, ..place }.frame());
    }
    json!({"frameTree": { "frame": frame }})
}
