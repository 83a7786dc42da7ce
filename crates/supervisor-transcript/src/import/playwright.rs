//! Playwright's `DEBUG=pw:protocol`: `… pw:protocol SEND ► {…}` and `… pw:protocol ◀ RECV {…}`.

use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::{Direction, Said};

pub(crate) fn said(line: &str) -> Option<Said<'_>> {
    let (before, said) = line.split_once("pw:protocol ")?;
    let send = said.strip_prefix("SEND ►").map(|rest| (Direction::Send, rest));
    let (direction, rest) =
        send.or_else(|| said.strip_prefix("◀ RECV").map(|rest| (Direction::Recv, rest)))?;
    Some(Said { direction, before, rest: rest.trim() })
}

/// The JSON object that a text begins with; what stands after it is the logger's.
pub(crate) fn message(rest: &str) -> Option<&str> {
    if !rest.starts_with('{') {
        return None;
    }
    Deserializer::from_str(rest).into_iter::<&RawValue>().next()?.ok().map(RawValue::get)
}
