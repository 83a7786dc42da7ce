//! The host's requests: each ends once, and in time; and late results: each is kept once, and handed out once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use supervisor_core::limits::HANDSHAKE;
use supervisor_core::{At, Body, CallId, Command, FrameId, Options, Outcome, Req};

use crate::plan::LONGEST_DIAL;
use crate::rules::check;

/// `stop` is bounded to this, whatever the browser does.
const STOP: Duration = Duration::from_secs(1);

/// What the host asked for and was not told yet.
#[derive(Debug, Default)]
pub struct Requests {
    open: BTreeMap<Req, Asked>,
    due: BTreeSet<(At, Req)>,
    kept: BTreeSet<CallId>,
    last: u64,
    answered: u64,
}

/// A request that is open.
#[derive(Debug)]
pub(crate) struct Asked {
    what: String,
    due: Option<At>,
    /// The frame that an expression is for.
    frame: Option<FrameId>,
    is_cancelled: bool,
}

impl Requests {
    pub(crate) fn ask(&mut self, at: At, command: &Command, options: &Options) -> Req {
        self.last += 1;
        let req = Req(self.last);
        if let Command::Cancel { req: left } = command {
            self.cancel(*left);
            return req;
        }
        let due = bound(command, options).map(|bound| at.after(bound));
        let frame = match command {
            Command::Eval { frame_id, .. } => frame_id.clone(),
            _ => None,
        };
        self.due.extend(due.map(|due| (due, req)));
        let what = format!("{command:?}").chars().take(120).collect();
        self.open.insert(req, Asked { what, due, frame, is_cancelled: false });
        req
    }

    /// The caller left: it may be told or not, but not twice.
    fn cancel(&mut self, req: Req) {
        if let Some(asked) = self.open.get_mut(&req) {
            asked.is_cancelled = true;
            if let Some(due) = asked.due.take() {
                self.due.remove(&(due, req));
            }
        }
    }

    /// `is_forged`: values may be those of other messages.
    pub(crate) fn answered(&mut self, req: Req, outcome: &Outcome, text: &str, is_forged: bool) {
        let asked = self.served(req);
        if let (Outcome::Value { body, .. }, Some(frame), false) = (outcome, asked.frame, is_forged) {
            ran_in(&frame, body, text);
        }
    }

    pub(crate) fn served(&mut self, req: Req) -> Asked {
        let Some(asked) = self.open.remove(&req) else {
            panic!("a request ends once: {req:?} was answered and was not open")
        };
        if let Some(due) = asked.due {
            self.due.remove(&(due, req));
        }
        self.answered += 1;
        asked
    }

    pub(crate) fn keep(&mut self, call: CallId) {
        check("a late result is kept once", self.kept.insert(call), || call.to_string());
    }

    pub(crate) fn let_go(&mut self, call: CallId) {
        check("only what is kept is handed out", self.kept.remove(&call), || call.to_string());
    }

    /// How many were answered.
    #[must_use]
    pub fn answered_so_far(&self) -> u64 {
        self.answered
    }

    /// The open ones whose callers are still there.
    pub fn open(&self) -> impl Iterator<Item = Req> {
        self.open.iter().filter(|(_, asked)| !asked.is_cancelled).map(|(req, _)| *req)
    }

    /// No request is open that should have ended by now.
    pub(crate) fn in_time(&self, now: At) {
        let late = self.due.first().filter(|(due, _)| *due <= now);
        check("a request ends at its deadline at the latest", late.is_none(), || {
            let asked = late.and_then(|(_, req)| self.open.get(req));
            format!(
                "{late:?} is open at {now:?}: {}",
                asked.map(|asked| asked.what.clone()).unwrap_or_default()
            )
        });
    }

    /// Every request was answered; those whose callers left need not be.
    pub fn all_answered(&self) {
        let left: Vec<_> = self.open.iter().filter(|(_, asked)| !asked.is_cancelled).collect();
        check("a request ends", left.is_empty(), || format!("{left:?}"));
    }

    /// The task that they were for is over.
    pub(crate) fn begin_anew(&mut self) {
        self.all_answered();
        self.open.clear();
        self.due.clear();
        self.kept.clear();
    }
}

/// How long a request may take.
fn bound(command: &Command, options: &Options) -> Option<Duration> {
    match command {
        Command::Start => Some(HANDSHAKE + LONGEST_DIAL),
        Command::Stop => Some(STOP),
        Command::Configure { .. } => Some(Duration::ZERO),
        Command::Call { timeout_ms, .. }
        | Command::Eval { timeout_ms, .. }
        | Command::Result { timeout_ms, .. } => {
            Some(timeout_ms.map_or(options.call_timeout, Duration::from_millis))
        }
        Command::Respond { .. } | Command::Recover { .. } => Some(options.call_timeout),
        _ => None,
    }
}

/// The value of every expression is the frame in which it ran.
fn ran_in(frame: &FrameId, body: &Body, text: &str) {
    let value = match body {
        Body::Slice(range) => text.get(range.clone()).unwrap_or_default(),
        Body::Text(text) => text,
    };
    let ran: Value = serde_json::from_str(value).unwrap_or_default();
    check("an expression runs in its own frame or fails", ran.as_str() == Some(frame.as_str()), || {
        format!("for {frame}, ran in {ran}")
    });
}
