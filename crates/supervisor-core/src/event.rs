//! Facts about a task, in the past tense: the only things that change its state, and what the journal holds.
//!
//! Events hold no parameters of host calls and no result bodies. They do hold page texts and typed answers.

use cdp_wire::{BrowserContextId, CommandId, FrameId, LoaderId, TargetId, UniqueContextId};
use serde::{Deserialize, Serialize};

use crate::call::{CallEnd, RunsIn};
use crate::console::Gathered;
use crate::dialog::{Answerer, ClosedBy, DialogOpening, Reason, Unanswerable};
use crate::failure::Failure;
use crate::flights::Purpose;
use crate::ids::{CallId, DialogId, EndpointKind, Epoch, Req, Route};
use crate::options::Options;
use crate::time::At;

/// One fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Event {
    // --- the connection -------------------------------------------------------------------------------------------
    /// The host asked to connect.
    StartRequested {
        /// Whom to tell.
        req: Req,
    },
    /// A socket is being opened.
    Dialing {
        /// Its number.
        epoch: Epoch,
        /// 0 for the first, then counting since the loss.
        attempt: u32,
    },
    /// The socket is open; the handshake begins.
    SocketOpened {
        /// Its number.
        epoch: Epoch,
        /// What its root is.
        endpoint: EndpointKind,
    },
    /// The URL of the socket names the browser.
    BrowserNamed {
        /// What no other browser has in its URL.
        browser: String,
    },
    /// A reconnect found another browser than the one that was lost: what was known of that one is forgotten.
    BrowserReplaced,
    /// The browser said what it is.
    BrowserIdentified {
        /// Such as `Chrome/156.0.8078.73`.
        product: String,
    },
    /// The handshake is done: the initial pages are known.
    Connected {
        /// The connection.
        epoch: Epoch,
    },
    /// The socket is gone, or could not be opened.
    ConnectionLost {
        /// Why.
        reason: String,
        /// When the next attempt is made.
        retry_at: At,
    },
    /// The task is over: the reason says what to do.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// The host asked to stop.
    StopRequested {
        /// Whom to tell.
        req: Req,
    },
    /// The task has stopped.
    Stopped,
    /// A request to start was answered.
    StartAnswered {
        /// Which.
        req: Req,
    },
    /// The options are these now.
    OptionsChanged {
        /// All of them.
        options: Box<Options>,
    },
    /// The browser gave a sign of life, and is asked again later.
    ProbeScheduled {
        /// When.
        next: At,
    },

    /// A deadline passed.
    DeadlinePassed {
        /// Which.
        due: crate::deadlines::Due,
    },

    // --- commands -------------------------------------------------------------------------------------------------
    /// A command was handed to the writer.
    CommandSent {
        /// Its id.
        id: CommandId,
        /// Where to.
        route: Route,
        /// `Domain.command`.
        method: String,
        /// Why.
        purpose: Purpose,
    },
    /// A command was answered.
    CommandAnswered {
        /// Its id.
        id: CommandId,
        /// Whether it succeeded.
        ok: bool,
    },

    // --- targets and sessions -------------------------------------------------------------------------------------
    /// A page's session was born.
    PageAttached {
        /// Its session.
        route: Route,
        /// Where it was announced.
        parent: Route,
        /// The page.
        target: TargetId,
        /// Its URL.
        url: String,
        /// Its title.
        title: String,
        /// The page that opened it.
        opener: Option<TargetId>,
        /// The frame that opened it.
        opener_frame: Option<FrameId>,
        /// Whether it can script its opener.
        can_access_opener: bool,
        /// Its browser context.
        context: Option<BrowserContextId>,
    },
    /// The session of an iframe in another process was born.
    IframeAttached {
        /// Its session.
        route: Route,
        /// The session of its parent's process.
        parent: Route,
        /// The frame (and target).
        frame: FrameId,
        /// Its parent, where the browser says it.
        parent_frame: Option<FrameId>,
        /// Its URL, empty before the commit.
        url: String,
    },
    /// A session that is none of ours was resumed and let go.
    SessionReleased {
        /// The session.
        route: Route,
        /// The kind of target.
        kind: String,
    },
    /// The observed client has a further session on a target that is known, or one on a tab.
    SessionStandsBy {
        /// The session.
        route: Route,
        /// The target; none for a tab.
        target: Option<TargetId>,
    },
    /// A session is over, and with it all that depended on it.
    SessionGone {
        /// The session.
        route: Route,
    },
    /// The set-up of a session was silent for too long.
    SessionSilent {
        /// The session.
        route: Route,
        /// What it looks like.
        looks: Silence,
        /// When to look again.
        look_again: At,
    },
    /// A session that was silent answered.
    SessionAnswered {
        /// The session.
        route: Route,
    },
    /// The renderer of a session died.
    SessionCrashed {
        /// The session.
        route: Route,
    },
    /// The renderer of a session is back.
    SessionRevived {
        /// The session.
        route: Route,
    },
    /// A page's URL or title changed.
    PageChanged {
        /// The page.
        target: TargetId,
        /// Its URL.
        url: String,
        /// Its title.
        title: String,
    },
    /// The URL of an iframe in another process changed, as its parent's process sees it.
    IframeUrlChanged {
        /// The frame.
        frame: FrameId,
        /// Its URL.
        url: String,
    },
    /// A page shows a document that nobody can leave by answering.
    PageBlocked {
        /// The page.
        target: TargetId,
        /// Why.
        why: Unanswerable,
        /// The dialog, where there is a record of it.
        dialog: Option<DialogId>,
    },
    /// A page opens dialogs faster than anybody could answer.
    PageFlooding {
        /// The page.
        target: TargetId,
        /// When to look again.
        until: At,
    },
    /// It does no longer.
    PageCalm {
        /// The page.
        target: TargetId,
    },
    /// The page is free again.
    PageFreed {
        /// The page.
        target: TargetId,
    },

    // --- frames ---------------------------------------------------------------------------------------------------
    /// A frame appeared in a process, or came back to it from another.
    FrameAttached {
        /// The session of that process.
        route: Route,
        /// The frame.
        frame: FrameId,
        /// Its parent.
        parent: FrameId,
    },
    /// A new document was committed.
    FrameNavigated {
        /// The session of its process.
        route: Route,
        /// The frame with its new document.
        frame: FrameInfo,
        /// Whether it came from the back/forward cache.
        restored: bool,
    },
    /// A process listed its frames.
    FramesListed {
        /// The session of that process.
        route: Route,
        /// The command that asked: what is known to be newer wins.
        asked: CommandId,
        /// The frames, parents first.
        frames: Vec<FrameInfo>,
    },
    /// The document stayed and the URL changed.
    FrameUrlChanged {
        /// The frame.
        frame: FrameId,
        /// Its URL.
        url: String,
    },
    /// `document.open()` took the document's place.
    DocumentOpened {
        /// The frame with its document.
        frame: FrameInfo,
    },
    /// The frame goes on in another process.
    FrameSwappedOut {
        /// The session of the process that it left.
        route: Route,
        /// The frame.
        frame: FrameId,
    },
    /// The frame is gone, and all below it.
    FrameGone {
        /// The frame.
        frame: FrameId,
    },
    /// It is not known yet whether an orphan is gone: its parent's renderer is busy.
    OrphanWaits {
        /// The frame.
        frame: FrameId,
        /// When to look again.
        until: At,
    },
    /// This browser tells when a navigation starts.
    NavigationsAreTold,
    /// A frame is on its way to another document.
    NavigationStarted {
        /// The frame.
        frame: FrameId,
        /// The loader that its new document will have, where the browser says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loader: Option<LoaderId>,
    },
    /// A frame stopped loading.
    LoadingStopped {
        /// The frame.
        frame: FrameId,
    },
    /// A document got its execution context.
    ContextCreated {
        /// The session.
        route: Route,
        /// The context's number in its process.
        id: i64,
        /// Its unique id.
        unique: UniqueContextId,
        /// The frame.
        frame: FrameId,
        /// The document's origin; `null` for an opaque one.
        #[serde(default)]
        origin: String,
    },
    /// An execution context is gone.
    ContextDestroyed {
        /// The session.
        route: Route,
        /// Its number.
        id: i64,
    },
    /// All execution contexts of a session are gone.
    ContextsCleared {
        /// The session.
        route: Route,
    },

    // --- dialogs --------------------------------------------------------------------------------------------------
    /// A dialog opened.
    DialogOpened {
        /// Its id.
        id: DialogId,
        /// What it is.
        dialog: Box<DialogOpening>,
        /// When the watchdog dismisses it.
        watchdog: Option<At>,
    },
    /// The watchdog has another deadline, or none.
    DialogWatchdogSet {
        /// The dialog.
        id: DialogId,
        /// When it dismisses.
        watchdog: Option<At>,
    },
    /// Another session reported a dialog that is known.
    DialogSeenAgain {
        /// The dialog.
        id: DialogId,
        /// The session.
        route: Route,
    },
    /// A request to answer came while an answer is on its way: it waits for the outcome.
    DialogAwaited {
        /// The dialog.
        id: DialogId,
        /// The request.
        req: Req,
    },
    /// An answer was sent.
    DialogAnswering {
        /// The dialog.
        id: DialogId,
        /// Who answers.
        by: Answerer,
        /// The request to tell.
        req: Option<Req>,
        /// Accept or dismiss.
        accept: bool,
        /// What was typed.
        user_input: Option<String>,
        /// The command that carries it.
        command: CommandId,
    },
    /// The browser has neither taken nor refused an answer in the time that a request has: whoever asked for it is told so. The
    /// answer is still on its way.
    DialogAnswerOverdue {
        /// The dialog that it was meant for.
        id: DialogId,
    },
    /// The browser closed a dialog while our answer was on its way.
    DialogClosing {
        /// The dialog.
        id: DialogId,
        /// Whether it was accepted.
        accepted: bool,
        /// How long its confirmation is waited for.
        until: At,
    },
    /// The browser took our answer and has not closed the dialog yet.
    DialogTaken {
        /// The dialog.
        id: DialogId,
        /// How long its end is waited for.
        until: At,
    },
    /// Our answer was refused; the dialog is still thought to be open.
    DialogAnswerRefused {
        /// The dialog.
        id: DialogId,
    },
    /// Nobody can answer the dialog any more.
    DialogUnanswerable {
        /// The dialog.
        id: DialogId,
        /// Why.
        why: Unanswerable,
    },
    /// A dialog ended.
    DialogEnded {
        /// The dialog.
        id: DialogId,
        /// Who closed it.
        by: ClosedBy,
        /// What did, when it was nobody here.
        reason: Option<Reason>,
        /// Whether it was accepted; unknown when it just vanished.
        accepted: Option<bool>,
        /// What was typed.
        user_input: Option<String>,
        /// The sessions that will still report its end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        owed: Vec<Route>,
    },
    /// The browser took an answer whose dialog another party had closed: it hit another one, which is not known yet.
    DialogStrayTaken {
        /// The dialog that it was meant for.
        id: DialogId,
    },
    /// It is known where an answer went whose dialog another party had closed.
    DialogAnswerSettled {
        /// The dialog that it was meant for.
        id: DialogId,
    },
    /// The end of a dialog was reported once more, as expected.
    DialogEndRepeated {
        /// The page.
        page: TargetId,
        /// The session.
        route: Route,
        /// The dialog's frame.
        frame: Option<FrameId>,
    },
    /// The cause of a dialog's end became known.
    DialogReasonKnown {
        /// The dialog.
        id: DialogId,
        /// What closed it.
        reason: Reason,
    },

    // --- the guard ------------------------------------------------------------------------------------------------
    /// Something became of the guard connection.
    Guard(crate::guard::GuardEvent),

    // --- the bridge -----------------------------------------------------------------------------------------------
    /// A native dialog was closed at once, by nobody here and for no reason that the browser told.
    DialogSnatched {
        /// The dialog.
        id: DialogId,
    },
    /// From now on dialogs go by the bridge, in loaded documents too.
    BridgeTurnedOn {
        /// Whether that is because the backend was seen to close dialogs itself.
        detected: bool,
    },
    /// It is asked whether an iframe's element lets it raise dialogs.
    BridgeElementAsked {
        /// The frame.
        frame: FrameId,
    },
    /// It is known whether an iframe's element lets it raise dialogs.
    BridgeElementKnown {
        /// The frame.
        frame: FrameId,
        /// Whether it is sandboxed without `allow-modals`.
        is_silent: bool,
    },
    /// A request waits until it is known whether its frame may ask.
    BridgeRequestHeld {
        /// What it asks.
        dialog: Box<DialogOpening>,
        /// How long.
        until: At,
    },
    /// A request waits no longer.
    BridgeRequestLetGo {
        /// Its number, counted from 1.
        number: u64,
    },
    /// From now on dialogs are the browser's own again.
    BridgeTurnedOff,
    /// A session has the bridge's script.
    BridgeScriptAdded {
        /// The session.
        route: Route,
        /// By what it is removed.
        identifier: String,
    },
    /// A page's dialogs do not go by the bridge though it is on.
    BridgeUnavailable {
        /// The page.
        target: TargetId,
        /// Why.
        why: crate::bridge::Unavailable,
    },
    /// The page has another document, for which nothing speaks against the bridge.
    BridgeAvailable {
        /// The page.
        target: TargetId,
    },

    // --- calls ----------------------------------------------------------------------------------------------------
    /// A host's call began.
    CallStarted {
        /// The request.
        req: Req,
        /// What the caller gets to ask for a late result.
        call: CallId,
        /// Where it goes.
        route: Route,
        /// The frame it is for.
        frame: Option<FrameId>,
        /// `Domain.command`.
        method: String,
        /// Whether its result is the value of an expression.
        eval: bool,
        /// When it ends at the latest.
        deadline: At,
    },
    /// A call waits for its frame's document.
    CallWaits {
        /// The call.
        call: CallId,
        /// How long.
        until: At,
    },
    /// A call was handed to the writer.
    CallSent {
        /// The call.
        call: CallId,
        /// Where its script runs.
        #[serde(default, skip_serializing_if = "RunsIn::is_unknown")]
        runs_in: RunsIn,
    },
    /// A call runs in one execution context.
    CallBound {
        /// The call.
        call: CallId,
        /// The session.
        route: Route,
        /// The context.
        context: i64,
    },
    /// A dialog that is open may hold the call: its renderer was asked for a sign of life.
    CallSuspected {
        /// The call.
        call: CallId,
        /// The command that asks.
        pulse: CommandId,
        /// How long it is waited for.
        until: At,
    },
    /// A dialog opened while the call ran: its request ended, the call goes on.
    CallInterrupted {
        /// The call.
        call: CallId,
        /// The dialog.
        dialog: DialogId,
    },
    /// No dialog holds the call any more; its deadline goes on.
    CallReleased {
        /// The call.
        call: CallId,
        /// When it ends at the latest.
        deadline: At,
    },
    /// The call ended.
    CallEnded {
        /// The call.
        call: CallId,
        /// How.
        end: CallEnd,
    },
    /// A late result arrived and is kept.
    LateResultKept {
        /// The call.
        call: CallId,
        /// How.
        end: CallEnd,
        /// How long.
        until: At,
    },
    /// A late result was handed out, or dropped.
    LateResultGone {
        /// The call.
        call: CallId,
    },
    /// A request waits for a late result.
    ResultAwaited {
        /// The request.
        req: Req,
        /// The call.
        call: CallId,
        /// How long.
        until: At,
    },
    /// A request waits for a late result no longer.
    ResultAnswered {
        /// The request.
        req: Req,
    },

    // --- console --------------------------------------------------------------------------------------------------
    /// What the console said, gathered.
    ConsoleGathered {
        /// The entries.
        gathered: Box<Gathered>,
    },
    /// A console message came with objects, which the page keeps for us until we let go of them.
    ConsoleObjectsKept {
        /// The session.
        route: Route,
        /// When that is done.
        until: At,
    },
}

/// An event with its place in the task's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recorded {
    /// Counts from 1, without gaps.
    pub seq: u64,
    /// The stamp of the input that it came from, or of the deadline that passed.
    pub at: At,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// A frame and its document, as a process describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameInfo {
    /// The frame.
    pub id: FrameId,
    /// Its parent, where the process knows it.
    pub parent: Option<FrameId>,
    /// Its document's loader.
    pub loader: LoaderId,
    /// Its name.
    pub name: String,
    /// The document's URL with its fragment.
    pub url: String,
    /// The document's origin; `null` for an opaque one, empty when the process did not say.
    pub origin: String,
}

/// What a silent set-up looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Silence {
    /// A navigation is under way: silence is normal.
    Navigating,
    /// A dialog that we know blocks its renderer.
    Dialog,
    /// Nothing explains it: a dialog opened before we came, or a hung renderer.
    Unresponsive,
}
