//! Every bound of this crate, with its reason.

use std::time::Duration;

/// One check, unless told otherwise: it takes a second or two, and a far-away or busy browser ten times that.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a dialog is left open before it is answered, and how long a page may be silent before it is taken for blocked,
/// unless told otherwise. Backends that close dialogs themselves take about 10 ms; an agent that thinks takes seconds.
pub const HOLD: Duration = Duration::from_secs(1);

/// The part of a check's time that may be spent waiting for something that may never come, such as a dialog.
pub const SHARE: u32 = 2;

/// Each step of cleaning up: a page that does not react must not keep the others from being closed.
pub const CLEAN_STEP: Duration = Duration::from_secs(2);

/// How long a page that was told to close may take, before it is told again.
pub const CLOSE_AGAIN: Duration = Duration::from_millis(300);

/// How often a browser is asked whether what was closed is gone.
pub const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What may be on its way between a guest and its line: the browser waits when more is.
pub const GUEST_PIPE: usize = 64 * 1024;

/// Commands that wait to be sent; a further one waits with its caller.
pub const ORDERS: usize = 64;

/// Events that a listener may be behind. Only what happens to the probe's own pages is listened to: some ten events a page.
pub const HEARD: usize = 1_024;
