//! Every bound of this crate, with its reason. The core's own bounds are in [`supervisor_core::limits`].

use std::time::Duration;

/// The whole of opening a socket, from the name to the upgrade, unless the host says otherwise.
pub const START_TIMEOUT: Duration = Duration::from_secs(10);

/// How much later than a dial's own limit its failure may arrive, on a loaded machine, before the handshake is blamed.
pub const DIAL_REPORT: Duration = Duration::from_millis(500);

/// The longest message of the browser. It sends each as one frame, and a screenshot or a response body can have tens of
/// megabytes; a longer one ends the connection with the reason.
pub const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// The read buffer of an idle socket: most messages of a browser fit. A longer message has a buffer of its own while it
/// lasts.
pub const READ_BUFFER: usize = 2 * 1024;

/// What is read at once where there is much: some two hundred messages of a busy page.
pub const READ_AHEAD: usize = 64 * 1024;

/// Sockets that are read ahead at the same moment, in all of the process: one for each thread that works, and some whose
/// turn ended before all was handled. The others are read with their own small buffers.
pub const READ_AHEADS: usize = 64;

/// What a socket gathers before it writes. Each message is flushed, so a larger buffer gains nothing.
pub const WRITE_BUFFER: usize = 8 * 1024;

/// What may be in a socket's write buffer. The longest script that a host may send is six times as long when each of its
/// characters has to be escaped, and a message has to fit; only one is there at a time.
pub const MAX_WRITE_BUFFER: usize = 8 * supervisor_core::limits::MAX_CALL_PARAMS;

/// Addresses of a name that are tried.
pub const MAX_ADDRESSES: usize = 16;

/// How much later than the one before each address of a name is tried; RFC 8305 recommends it.
pub const ADDRESS_STAGGER: Duration = Duration::from_millis(250);

/// The longest head of a proxy's answer; they have some hundred bytes.
pub const MAX_PROXY_HEAD: usize = 8 * 1024;

/// The longest file of certificates; all that a browser trusts have some 300 kB.
pub const MAX_CA_FILE: u64 = 4 * 1024 * 1024;

/// The longest answer of `/json/version`; Chromium's has 500 bytes.
pub const MAX_VERSION_BODY: usize = 64 * 1024;

/// How long a server that names no socket is asked what else it is, so that the failure can say it. It has answered already,
/// so it is quick.
pub const BACKEND_PROBE: Duration = Duration::from_secs(2);

/// Messages in one batch, after which others have their turn: more of them would stand before the answer of another task, or
/// before a host; fewer would cost a turn each.
pub const BATCH_MESSAGES: usize = 256;

/// Bytes in one batch. One message may be longer; then it is alone.
pub const BATCH_BYTES: usize = 256 * 1024;

/// Messages in a socket's urgent lane. A set-up has some ten, so this is a thousand pages at once; a browser that reads
/// nothing while so much is due is treated as lost.
pub const URGENT_LANE: usize = 16 * 1024;

/// Messages in a socket's lane of host calls: more than the core lets be in flight.
pub const HOST_LANE: usize = 2 * supervisor_core::limits::MAX_CALLS;

/// How often a socket looks at its clock, for pings and for silence.
pub const BEAT: Duration = Duration::from_secs(5);

/// How often a socket is pinged: idle proxies drop a silent socket after 15 to 25 seconds.
pub const PING_EVERY: Duration = Duration::from_secs(10);

/// A socket on which nothing arrived for this long, not even a pong, is lost.
pub const SILENCE: Duration = Duration::from_secs(30);

/// How long a socket may take to write what is urgent and to close.
pub const HANG_UP: Duration = Duration::from_millis(200);

/// Host commands in the task's mailbox; a further one waits with its caller.
pub const HOST_COMMANDS: usize = 256;

/// Callers that wait for one task to stop before it starts elsewhere.
pub const WAITING_STARTS: usize = 1_024;

/// The whole of `stop`, whatever the browser does.
pub const STOP: Duration = Duration::from_secs(1);

/// The part of [`STOP`] that the core may use for answering; the rest is for closing the socket.
pub const STOP_ANSWERS: Duration = Duration::from_millis(750);

/// Events that a slow subscriber may be behind before it is told that it lagged.
pub const EVENTS: usize = 512;

/// Tasks whose counters are remembered one by one after they ended. Those of older ones are folded into one floor for all
/// new tasks, so no id is ever used twice. A host that names each task anew pays some hundred bytes for each.
pub const REMEMBERED_TASKS: usize = 1_000;

/// Faults inside the machine, or failures of an actor, after which a task is given up, within [`FAULT_WINDOW`].
pub const FAULTS: usize = 5;

/// See [`FAULTS`].
pub const FAULT_WINDOW: Duration = Duration::from_secs(60);

/// A late result that is kept for minutes is copied out of its message when it is smaller than this: the read buffer
/// behind it is larger.
pub const COPY_BELOW: usize = 64 * 1024;

/// Lines that wait for the recording's thread; further ones are counted as lost.
pub const RECORDING_LINES: usize = 4 * 1024;

/// Bytes that wait for the recording's thread; see [`RECORDING_LINES`].
pub const RECORDING_BYTES: usize = 64 * 1024 * 1024;

/// How large a recording may become, unless the host says otherwise: hours of several agents' work. Older parts are dropped.
pub const RECORDING_MAX: u64 = 256 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use supervisor_core::limits::STOP_WAIT;

    /// The core gives up its answers, then the socket its closing; what is over is killed at [`STOP`] itself.
    #[test]
    fn the_parts_of_a_stop_are_a_second_at_most() {
        assert_eq!(STOP, Duration::from_secs(1));
        assert!(STOP_WAIT < STOP_ANSWERS, "the core decides first, so that dialogs end by its word");
        assert!(STOP_ANSWERS + HANG_UP <= STOP);
    }

    /// The longest script of a host, each of its characters escaped (`\\u0000` for one byte), and all around it.
    #[test]
    fn the_longest_message_fits_into_the_write_buffer() {
        let around = 64 * 1024;
        let longest = 6 * supervisor_core::limits::MAX_CALL_PARAMS + around + WRITE_BUFFER;
        assert_eq!(MAX_WRITE_BUFFER.max(longest), MAX_WRITE_BUFFER);
    }

    #[test]
    fn a_recording_has_its_bound_unless_told_otherwise() {
        assert_eq!(crate::Recording::to("r").max_bytes, RECORDING_MAX);
    }
}
