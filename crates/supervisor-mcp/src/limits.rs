//! Every bound of this crate, with its reason.

use std::time::Duration;

/// Tasks of one server that are known, connected or not. Each may be a browser; an agent has a handful.
pub const MAX_TASKS: usize = 256;

/// The longest `task_id`, in characters: it is a name, and is repeated in each result.
pub const MAX_TASK_ID: usize = 128;

/// How long a tool waits for a connection that is being made, such as the configured one at start. Opening a socket and the
/// handshake have 10 s each.
pub const STARTING: Duration = Duration::from_secs(21);

/// How long the list of tools, and whoever starts a server, waits for that. Many clients list the tools once and never again, and answer slowly to nothing
/// else; a browser that is there is connected in a fraction of a second.
pub const LIST_WAITS: Duration = Duration::from_secs(5);

/// How long `browser_connect` waits for the frames of the active page, so that its snapshot has them: a page lists them in
/// milliseconds, and one that a dialog from before holds never does.
pub const FIRST_FRAMES: Duration = Duration::from_secs(1);

/// How often a call says that it is still at work. Clients that count the time anew with each such message allow a minute.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// The longest wait of `browser_snapshot`: clients give a call a minute unless it says that it is at work.
pub const MAX_WAIT: Duration = Duration::from_secs(600);

/// The longest time for a call.
pub const MAX_TIMEOUT: Duration = supervisor_core::limits::MAX_CALL_TIMEOUT;

/// The longest time that a dialog may wait for its answer.
pub const MAX_DIALOG_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Messages about dialogs and connections that a slow client may be behind before some are left out.
pub const NOTICES: usize = 256;

/// How long a message about a dialog waits for the snapshot that shows it, which comes with the same batch.
pub const NOTICE_WAITS: Duration = Duration::from_secs(1);

/// After the end of its input, how long calls that still run may take before all tasks are stopped.
pub const LAST_CALLS: Duration = Duration::from_secs(2);

/// The longest line of a client with its end, one message: an expression or parameters at their own bound, with most of it
/// escaped. A longer one is passed over.
pub const MAX_LINE: usize = 2 * supervisor_core::limits::MAX_CALL_PARAMS;

/// The longest line of a server, one message, that a client of ours reads: a result of the browser at its own bound, twice
/// (as structured content and as text), the second time with most of it escaped.
pub const MAX_RESULT_LINE: usize = 3 * supervisor::limits::MAX_MESSAGE;

/// When a server of many clients ends: how long their last answers may take, once all tasks have stopped.
pub const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Characters of a dialog's message in the text beside a result: enough to recognise it. All of it is in the result.
pub const NOTE_TEXT: usize = 200;

/// Dialogs that are named in the text beside a result; all are in the result.
pub const NOTE_DIALOGS: usize = 5;
