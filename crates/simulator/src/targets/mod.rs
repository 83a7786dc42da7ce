//! What is fuzzed: functions of any bytes that must not fail. The fuzzer calls them from `fuzz/`; tests call them with what
//! is in the recordings, whole and spoilt.

mod corpus;
mod machine;

pub use corpus::{Seed, seeds};
pub use machine::machine_inputs;

use cdp_wire::{Known, Message, Text, decode, peek};
use supervisor_transcript::{Reader, Writer, drive, observe, redact, replay};

use crate::rules::check;

/// A function that takes any bytes.
pub type Target = fn(&[u8]);

/// All of them, by the names of their fuzz targets.
pub const TARGETS: [(&str, Target); 4] = [
    ("envelope", envelope),
    ("event_params", event_params),
    ("transcript", transcript),
    ("machine_inputs", machine_inputs),
];

/// Bytes that may be a message of a browser. The first look at it must not see what a parser does not.
///
/// # Panics
/// When something is wrong with the code.
pub fn envelope(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (looked, decoded) = (peek::method(text), decode(text));
    let _ = peek::console_type(text);
    if let Ok(Message::Event(event)) = &decoded {
        let agrees = looked.is_none_or(|method| method == event.method.as_str());
        check("a first look sees what is there", agrees, || format!("{looked:?} in {text}"));
        let _ = event.known();
    }
}

/// A method, a line break, and bytes that may be the parameters of that event.
///
/// # Panics
/// When something is wrong with the code.
pub fn event_params(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some((method, params)) = text.split_once('\n') else { return };
    let decoded = Known::decode(&Text::from(method), params);
    let is_passed_over = matches!(decoded, Ok(None));
    check("what is modelled is decoded", is_passed_over != Known::is_modelled(method), || method.to_owned());
    // With a space before it only the parser reads it.
    let spaced = format!(" {params}");
    let parsed = Known::decode(&Text::from(method), &spaced);
    check("a quick reading sees what the parser sees", parsed.ok() == decoded.ok(), || text.to_owned());
}

/// Bytes that may be a recording, or another client's transcript.
///
/// # Panics
/// When something is wrong with the code.
pub fn transcript(bytes: &[u8]) {
    for replayed in [replay(bytes), observe(bytes)].into_iter().flatten() {
        check("no input is fatal", replayed.counts.faults.is_empty(), || {
            format!("{:?}", replayed.counts.faults)
        });
    }
    written_as_read(bytes);
    if let Ok(redacted) = redact(bytes) {
        let is_read = !bytes.is_empty() || redacted.is_empty();
        check("what is redacted is still a recording", is_read && replay(&redacted).is_ok(), String::new);
    }
}

/// What was read and written again is read as the same.
fn written_as_read(bytes: &[u8]) {
    let Ok(reader) = Reader::new(bytes) else { return };
    let mut once = Vec::new();
    let mut writer = Writer::begin(reader.header(), &mut once);
    reader.map_while(Result::ok).for_each(|numbered| writer.line(&numbered.line, &mut once));
    let (first, second) = (drive(bytes), drive(&once));
    if let (Ok(first), Ok(second)) = (first, second) {
        check("what is written is what was read", first.events == second.events, || {
            format!("{:?} and {:?}", first.events, second.events)
        });
    }
}
