//! Writing a recording, into memory: what to do with the bytes is the caller's business.

use serde::Serialize;
use serde_json::value::RawValue;
use supervisor_core::{At, Checkpoint, Epoch, GuardInput, Input, Net, Req};

use crate::header::Header;
use crate::line::{Entry, GuardEntry, Line};
use crate::stamp;

/// Writes the lines of one recording in the order in which the machine saw them.
///
/// To be replayable, every input goes through [`input`](Self::input) before the machine gets it, and what the machine
/// sends goes through [`sent`](Self::sent) before its next input. Each call appends whole lines.
#[derive(Debug, Clone)]
pub struct Writer {
    epoch: Epoch,
}

impl Writer {
    /// Appends the header.
    #[must_use]
    pub fn begin(header: &Header, out: &mut Vec<u8>) -> Self {
        header.write(out);
        Self { epoch: header.beginning.epoch }
    }

    /// For a transcript that has no header, of a client that was observed.
    pub(crate) fn without_header() -> Self {
        Self { epoch: Epoch::default() }
    }

    /// Appends an input.
    pub fn input(&mut self, at: At, input: &Input<'_>, out: &mut Vec<u8>) {
        start(at, out);
        match input {
            Input::Received { epoch, text } => self.received(*epoch, text, out),
            Input::Observed { text } => {
                out.extend_from_slice(b"send\"");
                message(text, out);
            }
            Input::Net(change) => self.net(change, out),
            Input::Guard(GuardInput::Received { epoch, text }) => {
                out.extend_from_slice(b"recv\"");
                out.extend_from_slice(GUARD);
                out.extend_from_slice(b",\"epoch\":");
                json(epoch, out);
                message(text, out);
            }
            Input::Guard(GuardInput::Net(change)) => net(change, GUARD, out),
            Input::Host { req, command } => host(*req, command, out),
            Input::Tick => out.extend_from_slice(b"tick\""),
        }
        out.extend_from_slice(b"}\n");
    }

    /// Appends a message that the machine sent.
    pub fn sent(&mut self, at: At, text: &str, out: &mut Vec<u8>) {
        start(at, out);
        out.extend_from_slice(b"send\"");
        message(text, out);
        out.extend_from_slice(b"}\n");
    }

    /// Appends a message that the machine sent on the guard connection.
    pub fn sent_by_guard(&mut self, at: At, text: &str, out: &mut Vec<u8>) {
        start(at, out);
        out.extend_from_slice(b"send\"");
        out.extend_from_slice(GUARD);
        message(text, out);
        out.extend_from_slice(b"}\n");
    }

    /// Appends that lines are missing here, because the recorder could not keep up.
    pub fn lost(&mut self, at: At, lines: u64, out: &mut Vec<u8>) {
        start(at, out);
        out.extend_from_slice(b"lost\",\"lines\":");
        json(&lines, out);
        out.extend_from_slice(b"}\n");
    }

    /// Appends all that the machine knows.
    pub fn checkpoint(&mut self, at: At, checkpoint: &Checkpoint, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        json(checkpoint, &mut text);
        self.known(at, self.epoch, &text, out);
    }

    /// The same, of a checkpoint that is JSON already.
    pub fn checkpoint_json(&mut self, at: At, checkpoint: &str, out: &mut Vec<u8>) {
        self.known(at, self.epoch, checkpoint.as_bytes(), out);
    }

    fn known(&mut self, at: At, epoch: Epoch, text: &[u8], out: &mut Vec<u8>) {
        self.epoch = epoch;
        start(at, out);
        out.extend_from_slice(b"checkpoint\",\"epoch\":");
        json(&epoch, out);
        out.extend_from_slice(b",\"msg\":");
        out.extend_from_slice(text);
        out.extend_from_slice(b"}\n");
    }

    /// Appends the header of the next part. A checkpoint comes after it.
    pub fn part(&mut self, header: &Header, out: &mut Vec<u8>) {
        header.write(out);
    }

    /// Appends a line as it was read.
    pub fn line(&mut self, line: &Line<'_>, out: &mut Vec<u8>) {
        match (&line.entry, line.input()) {
            (Entry::Send { text }, _) => self.sent(line.at, text, out),
            (Entry::Guard(GuardEntry::Send { text }), _) => self.sent_by_guard(line.at, text, out),
            (Entry::Lost { lines }, _) => self.lost(line.at, *lines, out),
            (Entry::Checkpoint { epoch, json }, _) => {
                self.known(line.at, *epoch, json.as_bytes(), out);
            }
            (Entry::Part(header), _) => self.part(header, out),
            (_, Some(input)) => self.input(line.at, &input, out),
            (_, None) => {}
        }
    }

    /// A message of the present connection, as nearly all are, does not name it.
    fn received(&self, epoch: Epoch, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"recv\"");
        if epoch != self.epoch {
            out.extend_from_slice(b",\"epoch\":");
            json(&epoch, out);
        }
        message(text, out);
    }

    fn net(&mut self, change: &Net, out: &mut Vec<u8>) {
        if let Net::Connected { epoch, .. } = change {
            self.epoch = *epoch;
        }
        net(change, b"", out);
    }
}

/// What names the guard connection in a line.
const GUARD: &[u8] = b",\"conn\":\"guard\"";

fn net(net: &Net, conn: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"net\"");
    out.extend_from_slice(conn);
    out.extend_from_slice(b",\"msg\":");
    json(net, out);
}

fn start(at: At, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"t\":");
    stamp::write(at, out);
    out.extend_from_slice(b",\"dir\":\"");
}

fn host(req: Req, command: &impl Serialize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"host\",\"req\":");
    json(&req, out);
    out.extend_from_slice(b",\"msg\":");
    json(command, out);
}

/// A message goes in verbatim when it can stand in a line of JSON, else as the text that it is.
fn message(text: &str, out: &mut Vec<u8>) {
    if is_object_in_one_line(text) {
        out.extend_from_slice(b",\"msg\":");
        out.extend_from_slice(text.as_bytes());
    } else {
        out.extend_from_slice(b",\"raw\":");
        json(text, out);
    }
}

fn is_object_in_one_line(text: &str) -> bool {
    text.starts_with('{')
        && text.ends_with('}')
        && memchr::memchr(b'\n', text.as_bytes()).is_none()
        && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Appends the JSON of a value. Writing to memory does not fail; should it all the same, `null` keeps the line readable.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

#[cfg(test)]
mod tests {
    use supervisor_core::{Beginning, Command, EndpointKind};

    use super::*;

    fn written(write: impl FnOnce(&mut Writer, &mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        let mut writer = Writer::begin(&Header::new(Beginning::default(), ""), &mut out);
        out.clear();
        write(&mut writer, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn received(text: &str) -> String {
        written(|writer, out| {
            writer.input(At(1_500_000), &Input::Received { epoch: Epoch(0), text }, out);
        })
    }

    #[test]
    fn a_message_is_verbatim() {
        let text = r#"{"method":"Page.frameAttached", "params":{"x":"\ud800"}}"#;
        assert_eq!(received(text), format!("{{\"t\":1.500000,\"dir\":\"recv\",\"msg\":{text}}}\n"));
    }

    #[test]
    fn what_is_no_object_in_one_line_is_kept_as_text() {
        for (text, quoted) in [
            ("", r#""""#),
            ("3", r#""3""#),
            ("{\n}", r#""{\n}""#),
            (" {}", r#"" {}""#),
            ("{\"a\":1}}", r#""{\"a\":1}}""#),
            ("{}{}", r#""{}{}""#),
        ] {
            assert_eq!(received(text), format!("{{\"t\":1.500000,\"dir\":\"recv\",\"raw\":{quoted}}}\n"));
        }
    }

    #[test]
    fn a_message_of_another_connection_says_so() {
        let text = written(|writer, out| {
            let connected = Net::Connected { epoch: Epoch(2), endpoint: EndpointKind::Browser };
            writer.input(At(0), &Input::Net(connected), out);
            writer.input(At(1), &Input::Received { epoch: Epoch(1), text: "{}" }, out);
            writer.input(At(2), &Input::Received { epoch: Epoch(2), text: "{}" }, out);
        });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            r#"{"t":0.000000,"dir":"net","msg":{"net":"connected","epoch":2,"endpoint":"browser"}}"#
        );
        assert_eq!(lines[1], r#"{"t":0.000001,"dir":"recv","epoch":1,"msg":{}}"#);
        assert_eq!(lines[2], r#"{"t":0.000002,"dir":"recv","msg":{}}"#);
    }

    #[test]
    fn the_guard_connection_is_named_and_numbered_apart() {
        let text = written(|writer, out| {
            let guard = |input| Input::Guard(input);
            let net = Net::Connected { epoch: Epoch(1), endpoint: EndpointKind::Browser };
            writer.input(At(0), &guard(GuardInput::Net(net)), out);
            writer.input(At(1), &guard(GuardInput::Received { epoch: Epoch(1), text: "{}" }), out);
            writer.input(At(2), &Input::Received { epoch: Epoch(0), text: "{}" }, out);
            writer.sent_by_guard(At(3), "{}", out);
        });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            r#"{"t":0.000000,"dir":"net","conn":"guard","msg":{"net":"connected","epoch":1,"endpoint":"browser"}}"#
        );
        assert_eq!(lines[1], r#"{"t":0.000001,"dir":"recv","conn":"guard","epoch":1,"msg":{}}"#);
        assert_eq!(lines[2], r#"{"t":0.000002,"dir":"recv","msg":{}}"#);
        assert_eq!(lines[3], r#"{"t":0.000003,"dir":"send","conn":"guard","msg":{}}"#);
    }

    #[test]
    fn hosts_ticks_and_losses() {
        let text = written(|writer, out| {
            writer.input(At(0), &Input::Host { req: Req(7), command: Command::Start }, out);
            writer.input(At(1), &Input::Tick, out);
            writer.lost(At(2), 5, out);
        });
        let expected = "{\"t\":0.000000,\"dir\":\"host\",\"req\":7,\"msg\":{\"command\":\"start\"}}\n\
                        {\"t\":0.000001,\"dir\":\"tick\"}\n\
                        {\"t\":0.000002,\"dir\":\"lost\",\"lines\":5}\n";
        assert_eq!(text, expected);
    }
}
