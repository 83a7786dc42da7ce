//! One line of text into a [`Line`].

use std::borrow::Cow;

use cdp_wire::Text;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use supervisor_core::{At, Epoch, Req};

use crate::line::{Entry, GuardEntry, Line};
use crate::stamp;

/// What a line turned out to be.
#[derive(Debug, PartialEq)]
pub(crate) enum Parsed<'a> {
    /// One that is understood.
    Line(Line<'a>),
    /// JSON, but not a line of this format: it is counted, with the reason.
    Unknown(String),
    /// No JSON.
    Damaged {
        /// The byte in the line.
        offset: usize,
        reason: String,
        cut: bool,
    },
}

/// Reads a line; a message that does not name its connection came on `epoch`.
pub(crate) fn parse(line: &str, epoch: Epoch) -> Parsed<'_> {
    if let Some(line) = message_as_we_write_it(line, epoch) {
        return Parsed::Line(line);
    }
    match serde_json::from_str::<Fields<'_>>(line) {
        Ok(fields) => fields.line(epoch).map_or_else(Parsed::Unknown, Parsed::Line),
        Err(error) => unreadable(line, &error),
    }
}

/// `{"t":1.000000,"dir":"recv","msg":{…}}` with nothing around it, as nearly every line is. Half the cost of the parser
/// that takes fields in any order. The message is still looked through, or a damaged line could pass for a whole one.
fn message_as_we_write_it(line: &str, epoch: Epoch) -> Option<Line<'_>> {
    let (stamp, rest) = line.strip_prefix("{\"t\":")?.split_once(",\"dir\":\"")?;
    let (received, rest) = match rest.strip_prefix("recv\",\"msg\":") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("send\",\"msg\":")?),
    };
    let text = rest.strip_suffix('}')?;
    if !text.starts_with('{') || !text.ends_with('}') || serde_json::from_str::<&RawValue>(text).is_err() {
        return None;
    }
    let (at, text) = (decimal(stamp)?, Cow::Borrowed(text));
    Some(Line { at, entry: if received { Entry::Recv { epoch, text } } else { Entry::Send { text } } })
}

/// A plain number; anything else is for the parser to judge.
fn decimal(text: &str) -> Option<At> {
    let plain = text.len() <= LONGEST_STAMP && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let starts_well = !text.starts_with('.') && (!text.starts_with('0') || text.starts_with("0."));
    if plain && starts_well && !text.ends_with('.') { stamp::read(text) } else { None }
}

/// The stamp of the last microsecond of a `u64`.
const LONGEST_STAMP: usize = "18446744073709.551615".len();

/// The fields in any order; fields that nobody knows are passed over.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    t: Option<&'a RawValue>,
    #[serde(borrow)]
    dir: Option<Text<'a>>,
    #[serde(borrow)]
    conn: Option<Text<'a>>,
    epoch: Option<Epoch>,
    req: Option<Req>,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    raw: Option<Text<'a>>,
    lines: Option<u64>,
}

impl<'a> Fields<'a> {
    fn line(self, epoch: Epoch) -> Result<Line<'a>, String> {
        let at =
            self.t.and_then(|t| stamp::read(t.get())).ok_or("expected `t`, the seconds since the start")?;
        let entry = match self.conn.as_deref() {
            None => self.entry(epoch)?,
            Some("guard") => Entry::Guard(self.guard_entry()?),
            Some(other) => return Err(format!("expected `conn` guard or none, got `{other}`")),
        };
        Ok(Line { at, entry })
    }

    /// A message of the guard connection always names its socket.
    fn guard_entry(self) -> Result<GuardEntry<'a>, String> {
        let named = self.epoch.is_some();
        Ok(match self.entry(Epoch::default())? {
            Entry::Recv { .. } if !named => return Err("expected `epoch` on the guard connection".to_owned()),
            Entry::Recv { epoch, text } => GuardEntry::Recv { epoch, text },
            Entry::Send { text } => GuardEntry::Send { text },
            Entry::Net(net) => GuardEntry::Net(net),
            _ => return Err("expected `dir` recv, send or net on the guard connection".to_owned()),
        })
    }

    fn entry(self, epoch: Epoch) -> Result<Entry<'a>, String> {
        let dir = self.dir.clone().ok_or("expected `dir`")?;
        Ok(match dir.as_str() {
            "recv" => Entry::Recv { epoch: self.epoch.unwrap_or(epoch), text: self.text()? },
            "send" => Entry::Send { text: self.text()? },
            "host" => Entry::Host { req: self.req.ok_or("expected `req`")?, command: self.typed()? },
            "net" => Entry::Net(self.typed()?),
            "tick" => Entry::Tick,
            "lost" => Entry::Lost { lines: self.lines.ok_or("expected `lines`")? },
            "checkpoint" => {
                Entry::Checkpoint { epoch: self.epoch.ok_or("expected `epoch`")?, json: self.text()? }
            }
            other => {
                return Err(format!(
                    "expected `dir` recv, send, host, net, tick, lost or checkpoint, got `{other}`"
                ));
            }
        })
    }

    fn text(self) -> Result<Cow<'a, str>, String> {
        let raw = self.raw.map(Text::into_cow);
        self.msg
            .map(|msg| Cow::Borrowed(msg.get()))
            .or(raw)
            .ok_or_else(|| "expected `msg` or `raw`".to_owned())
    }

    fn typed<T: Deserialize<'a>>(&self) -> Result<T, String> {
        let msg = self.msg.ok_or("expected `msg`")?;
        serde_json::from_str(msg.get()).map_err(|error| error.to_string())
    }
}

/// A line that is JSON is only not understood; one that is not ends the reading.
fn unreadable<'a>(line: &str, error: &serde_json::Error) -> Parsed<'a> {
    match serde_json::from_str::<IgnoredAny>(line) {
        Ok(_) => Parsed::Unknown(error.to_string()),
        Err(error) => Parsed::Damaged {
            offset: if error.is_eof() { line.len() } else { error.column().saturating_sub(1) },
            reason: error.to_string(),
            cut: error.is_eof(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Epoch = Epoch(3);

    fn recv(text: &str) -> Parsed<'_> {
        Parsed::Line(Line { at: At(1_000_002), entry: Entry::Recv { epoch: NOW, text: text.into() } })
    }

    fn why_unknown(line: &str) -> String {
        match parse(line, NOW) {
            Parsed::Unknown(why) => why,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn fields_may_come_in_any_order_and_with_others() {
        for line in [
            r#"{"t":1.000002,"dir":"recv","msg":{"id":1}}"#,
            r#"{"dir":"recv","msg":{"id":1},"t":1.000002}"#,
            r#"  { "t": 1.0000020, "by": {"x": []}, "dir": "\u0072ecv", "msg": {"id":1} } "#,
            r#"{"t":1.000002,"dir":"recv","msg":{"id":1},"by":{"x":1}}"#,
            r#"{"t":1.000002,"dir":"recv","raw":"{\"id\":1}"}"#,
        ] {
            assert_eq!(parse(line, NOW), recv(r#"{"id":1}"#), "{line}");
        }
    }

    #[test]
    fn lines_of_the_guard_connection_are_its_own() {
        let guard = |line| match parse(line, NOW) {
            Parsed::Line(Line { entry: Entry::Guard(entry), .. }) => entry,
            other => panic!("{line}: {other:?}"),
        };
        let recv = GuardEntry::Recv { epoch: Epoch(1), text: "{}".into() };
        assert_eq!(guard(r#"{"t":1,"dir":"recv","conn":"guard","epoch":1,"msg":{}}"#), recv);
        assert!(why_unknown(r#"{"t":1,"dir":"recv","conn":"guard","msg":{}}"#).contains("`epoch`"));
        assert_eq!(
            guard(r#"{"t":1,"dir":"send","conn":"guard","msg":{}}"#),
            GuardEntry::Send { text: "{}".into() }
        );
        assert!(why_unknown(r#"{"t":1,"dir":"recv","conn":"third","msg":{}}"#).contains("got `third`"));
        assert!(why_unknown(r#"{"t":1,"dir":"tick","conn":"guard"}"#).contains("guard connection"));
    }

    #[test]
    fn json_that_is_no_line_is_unknown_and_says_why() {
        assert!(why_unknown(r#"{"t":1,"dir":"note","msg":{}}"#).contains("got `note`"));
        assert!(why_unknown(r#"{"t":1,"dir":"recv"}"#).contains("`msg` or `raw`"));
        assert!(why_unknown(r#"{"t":1,"dir":"host","msg":{"command":"start"}}"#).contains("`req`"));
        assert!(why_unknown(r#"{"t":1,"dir":"host","req":1,"msg":{"command":"fly"}}"#).contains("fly"));
        assert!(why_unknown(r#"{"t":-1,"dir":"tick"}"#).contains("`t`"));
        assert!(why_unknown(r#"{"t":1,"dir":7}"#).contains("string"));
        assert!(why_unknown("[]").contains("struct") || why_unknown("[]").contains('`'));
    }

    #[test]
    fn what_is_no_json_is_damage_at_a_byte() {
        let damage = |line| match parse(line, NOW) {
            Parsed::Damaged { offset, cut, .. } => (offset, cut),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(damage(r#"{"t":1,"dir":"recv","msg":{"id"#), (30, true));
        assert_eq!(damage(r#"{"t":1,"dir":"recv","msg":{"id":1}}}"#), (35, false));
        assert_eq!(damage(r#"{"t":1.000000,"dir":"recv","msg":{"id":1]}"#), (40, false));
        assert_eq!(damage("\0\0\0"), (0, false));
    }

    #[test]
    fn the_short_way_takes_what_the_parser_would() {
        for stamp in ["01.5", ".5", "1.", "1.2.3", "1.5", "1", "0.000001"] {
            let line = format!(r#"{{"t":{stamp},"dir":"send","msg":{{}}}}"#);
            let slow =
                serde_json::from_str::<Fields<'_>>(&line).ok().and_then(|fields| fields.line(NOW).ok());
            let fast = message_as_we_write_it(&line, NOW);
            assert!(fast.is_none() || fast == slow, "{line}");
        }
    }

    #[test]
    fn a_stamp_is_at_most_as_long_as_the_last_moment() {
        let last = "18446744073709.551615";
        assert_eq!((last.len(), decimal(last)), (LONGEST_STAMP, Some(At(u64::MAX))));
        assert_eq!(decimal(&format!("{last}0")), None, "it is left to the parser");
    }
}
