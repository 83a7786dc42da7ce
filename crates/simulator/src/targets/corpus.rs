//! What a fuzzer begins with: what is in the recordings.

use std::collections::BTreeSet;

use cdp_wire::{Known, Message, decode};
use supervisor_core::{At, Command, Input, Net};
use supervisor_transcript::{Numbered, Reader};

use crate::targets::machine::{HEAD, HOST, NET, RECEIVED, TICK};

/// A recording that is longer teaches a fuzzer nothing that a shorter one does not, and slows it.
const LONGEST: usize = 96 * 1024;

/// What one target begins with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seed {
    /// The target's name.
    pub target: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What a recording gives: each kind of message once, the recording, and its inputs.
#[must_use]
pub fn seeds(recording: &[u8]) -> BTreeSet<Seed> {
    let mut found = BTreeSet::new();
    if recording.len() <= LONGEST {
        found.insert(Seed { target: "transcript", bytes: recording.to_vec() });
    }
    let Ok(reader) = Reader::new(recording) else { return found };
    let lines: Vec<Numbered<'_>> = reader.map_while(Result::ok).collect();
    let mut methods = BTreeSet::new();
    for input in lines.iter().filter_map(|numbered| numbered.line.input()) {
        if let Input::Received { text, .. } = input {
            found.extend(of_message(text, &mut methods));
        }
    }
    let inputs = inputs(&lines);
    if inputs.len() <= LONGEST {
        found.insert(Seed { target: "machine_inputs", bytes: inputs });
    }
    found
}

/// The first message of its kind.
fn of_message(text: &str, methods: &mut BTreeSet<String>) -> Vec<Seed> {
    let (method, params) = match decode(text) {
        Ok(Message::Event(event)) => (event.method.as_str().to_owned(), event.params.to_owned()),
        Ok(Message::Reply(reply)) => (format!("a reply, {}", reply.outcome.is_ok()), String::new()),
        Err(_) => return Vec::new(),
    };
    let mut seeds = Vec::new();
    if methods.insert(method.clone()) {
        seeds.push(Seed { target: "envelope", bytes: text.as_bytes().to_vec() });
        if Known::is_modelled(&method) {
            seeds.push(Seed { target: "event_params", bytes: format!("{method}\n{params}").into_bytes() });
        }
    }
    seeds
}

/// The inputs as `machine_inputs` reads them: as nearly the same as its kinds allow.
fn inputs(lines: &[Numbered<'_>]) -> Vec<u8> {
    let mut bytes = vec![0];
    let mut last = At(0);
    for line in lines.iter().map(|numbered| &numbered.line) {
        let Some(input) = line.input() else { continue };
        let millis = u16::try_from(line.at.since(last).as_millis()).unwrap_or(u16::MAX);
        last = line.at;
        let [high, low] = millis.to_be_bytes();
        let head = |kind, arg| -> [u8; HEAD] { [kind, arg, high, low] };
        match input {
            Input::Received { text, .. } => {
                let text = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
                bytes.extend(head(RECEIVED, 0));
                bytes.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
                bytes.extend(text);
            }
            Input::Net(net) => bytes.extend(head(NET, net_argument(&net))),
            Input::Host { command, .. } => bytes.extend(head(HOST, host_argument(&command))),
            _ => bytes.extend(head(TICK, 0)),
        }
    }
    bytes
}

fn net_argument(net: &Net) -> u8 {
    match net {
        Net::Connected { .. } => 0,
        Net::Lost { .. } => 5,
        Net::DialFailed { .. } => 6,
        _ => 7,
    }
}

fn host_argument(command: &Command) -> u8 {
    match command {
        Command::Eval { .. } => 0,
        Command::Call { .. } => 4,
        Command::Respond { action, .. } if action.accepts() => 6,
        Command::Respond { .. } => 8,
        Command::Result { .. } => 10,
        Command::Recover { .. } => 11,
        Command::Cancel { .. } => 12,
        Command::Start => 13,
        Command::Stop => 14,
        _ => 15,
    }
}
