//! A script of the client that asks the client instead of the browser: by a synchronous request, which the client has
//! stopped and answers.
//!
//! ```text
//!   script added ──▶ documents have it ──▶ its dialogs are requests that stop ─┬─ fulfilled: the script goes on
//!                                                                              └─ failed, or let go: it asks the browser
//! ```

use cdp_wire::page::DialogType;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::command::Command;
use crate::ids::{DialogNo, FrameNo, ProcessNo, SessionNo};
use crate::session::Target;
use crate::shape::kind_name;

/// What the script asks with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asking {
    url: String,
    token: String,
}

impl Asking {
    /// Reads it out of the script's source: the address that it sends to, and the secret that it sends along.
    fn read(source: &str) -> Option<Self> {
        let url = between(source, "'https://", "'")?;
        let token = between(source, "\"token\":\"", "\"")?;
        Some(Self { url: format!("https://{url}"), token: token.to_owned() })
    }
}

fn between<'s>(text: &'s str, before: &str, after: &str) -> Option<&'s str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

/// A request that waits for the client's word, and its renderer with it.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    pub(crate) page: FrameNo,
    pub(crate) frame: FrameNo,
    pub(crate) process: ProcessNo,
    /// The session that was told.
    session: SessionNo,
    kind: DialogType,
}

/// How a request is named on the wire.
const REQUEST: &str = "REQUEST";

impl Browser {
    /// The script asks its client. `None` where it is not there, or nobody stops its request.
    pub(crate) fn ask_client(&mut self, frame: FrameNo, kind: DialogType) -> Option<DialogNo> {
        let (page, process, asking) =
            self.frames.get(frame).and_then(|it| Some((it.page, it.process, it.document.asking.clone()?)))?;
        let root = self.frames.local_root(frame);
        let session = self.sessions.on(root).into_iter().find(|no| self.stops(*no, &asking.url))?;
        let no = self.dialogs.stop(Stopped { page, frame, process, session, kind });
        self.tally.bridged += 1;
        let preset = if kind == DialogType::Prompt { "default" } else { "" };
        let body = json!({ "token": asking.token, "kind": kind_name(kind), "message": format!("from {frame}"),
                           "preset": preset });
        let request = json!({ "url": asking.url, "method": "POST", "headers": {}, "postData": body.to_string(),
                              "initialPriority": "VeryHigh", "referrerPolicy": "strict-origin-when-cross-origin" });
        let params = json!({ "requestId": format!("{REQUEST}{}", no.0), "request": request, "frameId": frame,
                             "resourceType": "XHR" });
        self.speak(Some(session), "Fetch.requestPaused", params);
        Some(no)
    }

    fn stops(&self, session: SessionNo, url: &str) -> bool {
        let begins = |pattern: &String| url.starts_with(pattern.trim_end_matches('*'));
        self.sessions.get(session).is_some_and(|session| session.intercepts.iter().any(begins))
    }

    /// `Fetch` commands.
    pub(crate) fn fetch(&mut self, session: SessionNo, command: &Command) {
        match command.method.as_str() {
            "Fetch.enable" => self.intercept(session, patterns(&command.params)),
            "Fetch.disable" => self.intercept(session, Vec::new()),
            "Fetch.fulfillRequest" | "Fetch.failRequest" | "Fetch.continueRequest" => {
                let Some(no) = self.stopped_by(session, command) else {
                    return self.fail(command, Some(session), -32602, "Invalid InterceptionId.");
                };
                self.answer(command, Some(session), json!({}));
                return self.goes_on(no, command.method == "Fetch.fulfillRequest");
            }
            _ => {}
        }
        self.answer(command, Some(session), json!({}));
        self.release_all();
    }

    fn intercept(&mut self, session: SessionNo, patterns: Vec<String>) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.intercepts = patterns;
        }
    }

    fn stopped_by(&self, session: SessionNo, command: &Command) -> Option<DialogNo> {
        let id = command.params.get("requestId").and_then(Value::as_str)?;
        let no = DialogNo(id.strip_prefix(REQUEST)?.parse().ok()?);
        self.dialogs.stopped.get(&no).filter(|it| it.session == session).map(|_| no)
    }

    /// The script has its answer, or asks the browser.
    fn goes_on(&mut self, no: DialogNo, is_answered: bool) {
        let Some(stopped) = self.dialogs.stopped.remove(&no) else { return };
        if !is_answered {
            self.open_native(no, stopped.frame, stopped.kind);
        }
        self.fence_process(stopped.process);
        self.release_all();
    }

    /// Nobody stops a request any more: it fails, since there is no such host. `false` when there is none.
    pub(crate) fn let_one_request_go(&mut self) -> bool {
        let is_free = |it: &&DialogNo| {
            let stopped = self.dialogs.stopped.get(it);
            stopped.is_some_and(|it| self.sessions.get(it.session).is_none_or(|it| it.intercepts.is_empty()))
        };
        let Some(no) = self.dialogs.stopped.keys().find(is_free).copied() else { return false };
        self.goes_on(no, false);
        true
    }

    /// A renderer gets the script: all of its documents have it now, and those that come will.
    pub(crate) fn add_script(&mut self, session: SessionNo, command: &Command) {
        let asking = command.params.get("source").and_then(Value::as_str).and_then(Asking::read);
        let Some(state) = self.sessions.get_mut(session) else { return };
        state.script.clone_from(&asking);
        let (target, is_early) = (state.target, state.early);
        if let (Target::Frame(root), false, Some(_)) = (target, is_early, &asking) {
            for frame in self.frames.island(root) {
                self.give_script(frame, asking.clone());
            }
        }
        self.reply(session, command, json!({ "identifier": "1" }));
    }

    pub(crate) fn remove_script(&mut self, session: SessionNo, command: &Command) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.script = None;
        }
        self.reply(session, command, json!({}));
    }

    /// A new document begins with the scripts of its sessions.
    pub(crate) fn run_scripts(&mut self, frame: FrameNo) {
        let root = self.frames.local_root(frame);
        let scripts = |no: SessionNo| self.sessions.get(no)?.script.clone();
        let asking = self.sessions.all_on(root).into_iter().filter_map(scripts).next_back();
        self.give_script(frame, asking);
    }

    fn give_script(&mut self, frame: FrameNo, asking: Option<Asking>) {
        if let Some(frame) = self.frames.get_mut(frame) {
            frame.document.asking = asking;
        }
    }
}

fn patterns(params: &Value) -> Vec<String> {
    let patterns = params.get("patterns").and_then(Value::as_array).into_iter().flatten();
    patterns.filter_map(|it| it.get("urlPattern")?.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_asks_with_is_in_its_source() {
        let source = r#"'{"token":"t0","kind":"' + kind; open('POST', 'https://bridge.invalid/p0', false)"#;
        let asking = Asking::read(source).unwrap();
        assert_eq!((asking.url.as_str(), asking.token.as_str()), ("https://bridge.invalid/p0", "t0"));
        assert!(Asking::read("1 + 1").is_none());
    }
}
