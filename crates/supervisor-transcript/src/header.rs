//! The first line of a recording.

use serde::{Deserialize, Serialize};
use supervisor_core::{Beginning, EndpointKind};

use crate::error::{TranscriptError, beginning_of};

/// The format that this crate writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// The version of the core that replays here. The crates of this workspace carry one version.
pub const CORE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a recording starts from. With it and the lines after it, a replay needs nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The format of the lines.
    pub format: u32,
    /// The version of the core that ran. Its limits are constants of that version.
    pub core: String,
    /// Why the recording was made: what it must keep showing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The browser, where it was known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// The endpoint without its secrets.
    pub endpoint: String,
    /// The program that recorded, and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_with: Option<String>,
    /// A long recording is written in parts: the number of this one, from 1. What comes after the header of a later part
    /// is a checkpoint.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub part: u32,
    /// What the machine began with: start time, seed, options, first ids.
    pub beginning: Beginning,
}

/// `{"header": …}`, so that no other line can be taken for it.
#[derive(Serialize, Deserialize)]
struct Wrapped<H> {
    header: H,
}

/// What is looked at before the rest of a header is believed.
#[derive(Deserialize)]
struct FormatOnly {
    format: u64,
}

impl Header {
    /// The header of a recording that starts now, of this core.
    ///
    /// `endpoint` is written as it is: it must not contain a token or a query.
    #[must_use]
    pub fn new(beginning: Beginning, endpoint: impl Into<String>) -> Self {
        Self {
            format: FORMAT,
            core: CORE_VERSION.to_owned(),
            why: None,
            browser: None,
            endpoint: endpoint.into(),
            recorded_with: None,
            part: first(),
            beginning,
        }
    }

    /// What stands in for the header of a transcript that has none: a client was observed, connected to this.
    pub(crate) fn of_observer(endpoint: EndpointKind) -> Self {
        Self::new(Beginning { observes: Some(endpoint), ..Beginning::default() }, "")
    }

    /// Whether a line is a header, of whichever recording.
    pub(crate) fn is_one(line: &str) -> bool {
        line.starts_with("{\"header\":")
    }

    /// Whether this is the header of another part of the same recording.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        self.beginning == other.beginning && self.endpoint == other.endpoint
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        crate::writer::json(&Wrapped { header: self }, out);
        out.push(b'\n');
    }

    pub(crate) fn read(line: &str) -> Result<Self, TranscriptError> {
        match serde_json::from_str::<Wrapped<FormatOnly>>(line) {
            Ok(Wrapped { header }) if header.format == u64::from(FORMAT) => {}
            Ok(Wrapped { header }) => return Err(TranscriptError::Format { got: header.format }),
            Err(_) => return Err(no_header(line)),
        }
        let wrapped: Result<Wrapped<Self>, _> = serde_json::from_str(line);
        wrapped
            .map(|wrapped| wrapped.header)
            .map_err(|error| TranscriptError::Header { reason: error.to_string() })
    }

    /// What a reader should know before trusting a replay.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let differs = (self.core != CORE_VERSION).then(|| {
            format!(
                "recorded with core {}, replayed with core {CORE_VERSION}: the same events are only promised for \
                 the same version",
                self.core
            )
        });
        let is_later = (self.part > 1).then(|| {
            format!(
                "it begins with part {}: what came before was dropped, to keep the recording small",
                self.part
            )
        });
        differs.into_iter().chain(is_later).collect()
    }
}

const fn first() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
const fn is_first(part: &u32) -> bool {
    *part == first()
}

fn no_header(line: &str) -> TranscriptError {
    #[derive(Deserialize)]
    struct ForeignLine<'a> {
        #[serde(borrow)]
        dir: cdp_wire::Text<'a>,
    }
    match serde_json::from_str::<ForeignLine<'_>>(line) {
        Ok(foreign) if matches!(foreign.dir.as_str(), "recv" | "send") => TranscriptError::Foreign,
        _ => TranscriptError::NoHeader { got: beginning_of(line) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(header: &Header) -> String {
        let mut out = Vec::new();
        header.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_core_has_the_version_that_a_header_names() {
        let manifest = include_str!("../../supervisor-core/Cargo.toml");
        assert!(manifest.contains(&format!("version = \"{CORE_VERSION}\"")));
    }

    #[test]
    fn a_header_comes_back() {
        let mut header = Header::new(Beginning::default(), "ws://127.0.0.1/devtools/browser/…");
        header.why = Some("an alert".to_owned());
        header.beginning.seed = u64::MAX;
        let text = written(&header);
        assert!(text.starts_with(r#"{"header":{"format":1,"core":""#), "{text}");
        assert_eq!(Header::read(text.trim_end()), Ok(header));
    }

    #[test]
    fn a_newer_format_is_refused_before_its_fields_are_missed() {
        assert_eq!(Header::read(r#"{"header":{"format":2}}"#), Err(TranscriptError::Format { got: 2 }));
        let missing = Header::read(r#"{"header":{"format":1}}"#).unwrap_err();
        assert!(missing.to_string().contains("missing field"), "{missing}");
    }

    #[test]
    fn other_first_lines_are_told_apart() {
        let foreign = r#"{"t":0.397661,"dir":"send","msg":{"id":1,"method":"Target.setDiscoverTargets"}}"#;
        assert_eq!(Header::read(foreign), Err(TranscriptError::Foreign));
        assert!(matches!(Header::read("PK\u{3}\u{4}"), Err(TranscriptError::NoHeader { .. })));
        assert!(matches!(
            Header::read(r#"{"log":{"version":"1.2"}}"#),
            Err(TranscriptError::NoHeader { .. })
        ));
    }

    #[test]
    fn another_core_version_is_a_warning() {
        let mut header = Header::new(Beginning::default(), "");
        assert_eq!(header.warnings(), [""; 0]);
        header.core = "0.0.9".to_owned();
        assert!(header.warnings()[0].starts_with("recorded with core 0.0.9, replayed with core "));
    }
}
