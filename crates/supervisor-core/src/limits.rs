//! Every bound of the core, with its reason. What happens at each is tested where it is used.

use std::time::Duration;

/// A dialog's message, a console entry, a URL and a title are shown up to this many bytes: enough to decide on, small
/// enough for an agent's context. The rest is cut at a character boundary and said to be cut.
pub const MAX_SHOWN_TEXT: usize = 4 * 1024;

/// The default text of a prompt is kept whole up to this many bytes, because accepting sends it back. The browser passes
/// default texts of a megabyte.
pub const MAX_DEFAULT_PROMPT: usize = 1024 * 1024;

/// Closed dialogs that a snapshot shows: what happened while an agent was not looking.
pub const MAX_RECENT_DIALOGS: usize = 20;

/// Console errors, and as many warnings, that are kept. Two rings, so that a flood of one does not push out the other.
pub const MAX_CONSOLE_ENTRIES: usize = 50;

/// Console entries of one kind are kept up to this many bytes in all, newest first.
pub const MAX_CONSOLE_BYTES: usize = 64 * 1024;

/// What the console says is gathered for this long after the first entry: a flood costs ten events a second.
pub const CONSOLE_GATHER: Duration = Duration::from_millis(100);

/// Objects that come with console messages are kept in their page for this long, so that a flood of them is let go once a
/// second.
pub const OBJECTS_KEPT: Duration = Duration::from_secs(1);

/// Children of the frame tree in a snapshot; the rest is had by asking for the whole tree.
pub const MAX_TREE_CHILDREN: usize = 30;

/// Frames deeper than this many out-of-process iframes are left out of a snapshot's tree.
pub const MAX_TREE_OOPIF_DEPTH: usize = 2;

/// Frames that building a snapshot's tree looks at, shown or not: its cost follows what it shows.
pub const MAX_TREE_VISITS: usize = 300;

/// Sessions that are attached at once. Chromium itself struggles long before; beyond it a new target is resumed, let go
/// and counted.
pub const MAX_SESSIONS: usize = 10_000;

/// Frames that are held at once; beyond it new ones are not taken in, and counted.
pub const MAX_FRAMES: usize = 200_000;

/// Execution contexts remembered per session: one a frame, and room for isolated worlds of other clients.
pub const MAX_CONTEXTS: usize = 20_000;

/// Frames known to be gone, so that a late call is told so and not that there never was such a frame.
pub const MAX_GONE_FRAMES: usize = 1_024;

/// Sessions that were let go (workers, foreign targets), so that their last messages are not taken for violations.
pub const MAX_RELEASED_SESSIONS: usize = 256;

/// Host calls in flight or waiting at once. A host that has more unanswered gets `refused`.
pub const MAX_CALLS: usize = 1_024;

/// Requests to connect that wait for the one connection. A host that asks more often meanwhile gets `refused`.
pub const MAX_STARTERS: usize = 1_024;

/// Recoveries beyond these: calls that hang on a page must not keep a host from freeing it.
pub const MAX_RECOVERIES: usize = 16;

/// Late results that are kept for the host, a task; the oldest makes room.
pub const MAX_LATE_RESULTS: usize = 64;

/// How long a late result is kept after it arrived.
pub const LATE_RESULT_KEPT: Duration = Duration::from_secs(600);

/// Requests waiting for one late result.
pub const MAX_RESULT_WAITERS: usize = 16;

/// Commands of an observed client that wait for an answer; those beyond it are not understood, and counted.
pub const MAX_OBSERVED_FLIGHTS: usize = 100_000;

/// Bytes that are kept of the name of an observed client's method: the longest of the protocol has about 60.
pub const MAX_METHOD: usize = 128;

/// The longest name and version of a browser that are kept; Chromium's have 36 and some 25 bytes.
pub const MAX_BROWSER_NAME: usize = 256;

/// How long a socket may take from open to a CDP handshake that was answered.
pub const HANDSHAKE: Duration = Duration::from_secs(10);

/// A page that answered nothing for this long during its set-up is looked at: navigating, blocked or unresponsive.
pub const SETUP_SILENCE: Duration = Duration::from_secs(2);

/// How long an orphaned frame waits for the round trip that tells whether it is gone.
pub const ORPHAN_WAIT: Duration = Duration::from_secs(5);

/// How long an `eval` waits for the document of a frame that is between two.
pub const CONTEXT_WAIT: Duration = Duration::from_secs(5);

/// A renderer that a dialog of another page may hold has this long to show that it is not: unless it is busy, it answers within
/// milliseconds.
pub const SUSPECT_WAIT: Duration = Duration::from_secs(1);

/// How long the cause of a dialog's end may still arrive after the end itself.
pub const REASON_WAIT: Duration = Duration::from_secs(1);

/// Dialogs of a page that somebody closed and whose cause may still arrive. For the oldest of more nothing will: a page that
/// asks in a loop while its backend dismisses must be found out before its dialogs have left [`MAX_RECENT_DIALOGS`].
pub const MAX_UNEXPLAINED: usize = 8;

/// Requests to answer a dialog that wait while another answer is on its way. A further one is told at once who answers.
pub const MAX_ANSWER_WAITERS: usize = 16;

/// How long the browser may take to confirm an answer after it reported the dialog closed, or the other way round.
pub const ANSWER_CONFIRM: Duration = Duration::from_secs(1);

/// A native dialog that nobody here closed and that was open for no longer than this was closed by the backend itself: no
/// person is that fast, and drivers that dismiss dialogs take about 10 ms.
pub const SNATCHED_AT_ONCE: Duration = Duration::from_millis(100);

/// So many of them tell that the backend does it always.
pub const SNATCHES_THAT_TELL: u32 = 2;

/// Dialogs that wait on the bridge at once, over all pages; each frame has one at most. A request beyond it is refused.
pub const MAX_BRIDGE_DIALOGS: usize = 256;

/// Default texts of prompts that wait on the bridge, in bytes over all pages, as far as they are longer than what is shown. A
/// request beyond it is refused; its page then asks natively, where a page has one dialog at most.
pub const MAX_BRIDGE_PRESETS: usize = 16 * 1024 * 1024;

/// A page that opens more dialogs than this within [`FLOOD_WINDOW`] floods: nobody reads five a second for ten seconds.
/// Requests that only look like the bridge's count too.
pub const FLOOD_DIALOGS: u32 = 50;

/// See [`FLOOD_DIALOGS`]. After a window with fewer the page is calm again.
pub const FLOOD_WINDOW: Duration = Duration::from_secs(10);

/// How long a request of the bridge waits until it is known whether its frame may ask: its parent's process answers within
/// milliseconds unless it is busy or blocked itself.
pub const BRIDGE_HOLD: Duration = Duration::from_secs(1);

/// The longest list of patterns that a host may have stopped on one session, in bytes of parameters: it is kept to be sent
/// together with the bridge's own.
pub const MAX_HOST_PATTERNS: usize = 64 * 1024;

/// How long the guard connection may take to tell what it has heard when the main connection is lost, and whether it is
/// still there: the browser process answers in milliseconds, a loaded machine in a second.
pub const GUARD_WAIT: Duration = Duration::from_secs(5);

/// A main connection that is lost this soon after the guard came may have been dropped for it: backends that allow one
/// connection do so at once.
pub const GUARD_PROBATION: Duration = Duration::from_secs(5);

/// Dialogs of one page that the guard holds for open: one, and those whose place it took and whose end is still to come.
pub const MAX_SEEN_AT_ONCE: usize = 4;

/// Ends of dialogs of one page that the guard heard of before the main connection did: the two are milliseconds apart.
pub const MAX_SEEN_ENDS: usize = 16;

/// So often in a row it is no accident.
pub const GUARD_QUARRELS: u32 = 2;

/// Ends of dialogs that a page's sessions may still report, each once more: one a session and dialog, so more than this means
/// a peer that never does. The oldest is not expected any more.
pub const MAX_OWED: usize = 16;

/// How long `stop` waits for its answers to be taken; the whole of `stop` is bounded to a second.
pub const STOP_WAIT: Duration = Duration::from_millis(700);

/// The first wait before a reconnect; each one after doubles it.
pub const RECONNECT_FIRST: Duration = Duration::from_millis(500);

/// The longest wait before a reconnect.
pub const RECONNECT_LONGEST: Duration = Duration::from_secs(10);

/// How often the browser itself (not only its socket) is asked for a sign of life.
pub const PROBE_EVERY: Duration = Duration::from_secs(15);

/// How long it may take to give one: a machine under load answers `Browser.getVersion` within milliseconds.
pub const PROBE_WAIT: Duration = Duration::from_secs(15);

/// The longest deadline that a call may have: a day. A longer one is almost surely milliseconds taken for seconds.
pub const MAX_CALL_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest script or parameters of a host's call, in bytes.
pub const MAX_CALL_PARAMS: usize = 32 * 1024 * 1024;
