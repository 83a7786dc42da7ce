//! Bytes into events. Whatever the bytes are, it comes to an end, and believes nothing that is not there.

use serde_json::{Map, Number, Value};
use supervisor_core::Recorded;

use super::token::{
    BELOW_ZERO, DOUBLE, END, FALSE, KNOWN_TEXT, LIST, LONG_TEXT, MAP, NEAR, NULL, SHORT, SHORT_TEXT, TRUE,
    WHOLE,
};
use super::{HEAD, sum};
use crate::record::Read;

/// How deep values may be in one another: no event is half as deep.
const DEEPEST: usize = 64;

/// The events of a block. Where it is damaged, none is believed.
pub(crate) fn read(block: &[u8]) -> Read {
    let Some(&[_, a, b, c, d, e, f, g, h]) = block.first_chunk::<HEAD>() else {
        return Read { events: Vec::new(), unreadable: 1 };
    };
    let count = u64::from(u32::from_be_bytes([a, b, c, d]));
    if sum(block) != u32::from_be_bytes([e, f, g, h]) {
        return Read { events: Vec::new(), unreadable: count.max(1) };
    }
    let mut reader = Reader { block, at: HEAD };
    let mut values = std::iter::from_fn(|| reader.value(0));
    let events: Vec<Recorded> =
        (0..count).map_while(|_| values.next()).filter_map(|it| serde_json::from_value(it).ok()).collect();
    let unreadable = count - events.len() as u64;
    Read { events, unreadable }
}

struct Reader<'a> {
    block: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        let token = *self.block.get(self.at)?;
        if token >= SHORT_TEXT || token == LONG_TEXT {
            return Some(Value::from(self.text()?));
        }
        self.at += 1;
        Some(match token {
            NULL => Value::Null,
            FALSE => Value::from(false),
            TRUE => Value::from(true),
            WHOLE => Value::from(self.number()?),
            BELOW_ZERO => Value::from(!i64::try_from(self.number()?).ok()?),
            DOUBLE => self.double()?,
            LIST if depth < DEEPEST => self.list(depth + 1)?,
            MAP if depth < DEEPEST => self.map(depth + 1)?,
            _ => return None,
        })
    }

    /// What JSON cannot say is nothing there either.
    fn double(&mut self) -> Option<Value> {
        let bytes = self.take(8)?.try_into().ok()?;
        Some(Number::from_f64(f64::from_be_bytes(bytes)).map_or(Value::Null, Value::Number))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut list = Vec::new();
        while !self.ends()? {
            list.push(self.value(depth)?);
        }
        Some(Value::Array(list))
    }

    fn map(&mut self, depth: usize) -> Option<Value> {
        let mut map = Map::new();
        while !self.ends()? {
            let key = match self.value(depth)? {
                Value::String(key) => key,
                // JSON has only texts for keys.
                key @ (Value::Number(_) | Value::Bool(_)) => key.to_string(),
                _ => return None,
            };
            map.insert(key, self.value(depth)?);
        }
        Some(Value::Object(map))
    }

    /// Passes the end of a list or a map, if it is here.
    fn ends(&mut self) -> Option<bool> {
        let ends = *self.block.get(self.at)? == END;
        self.at += usize::from(ends);
        Some(ends)
    }

    fn text(&mut self) -> Option<&'a str> {
        let token = *self.block.get(self.at)?;
        if token < KNOWN_TEXT {
            return self.text_here();
        }
        let place = usize::from(u16::from_be_bytes([token, *self.block.get(self.at + 1)?])) - NEAR;
        let mut there = Reader { block: &self.block[..self.at], at: place };
        self.at += 2;
        there.text_here()
    }

    fn text_here(&mut self) -> Option<&'a str> {
        let token = *self.take(1)?.first()?;
        let length = match token {
            LONG_TEXT => usize::try_from(self.number()?).ok()?,
            SHORT_TEXT.. if token < KNOWN_TEXT => usize::from(token) - SHORT,
            _ => return None,
        };
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = *self.take(1)?.first()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.block.get(self.at..)?.get(..length)?;
        self.at += length;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_so_deep_and_no_deeper() {
        let nested = |depth| [vec![LIST; depth], vec![END; depth]].concat();
        assert!(Reader { block: &nested(DEEPEST), at: 0 }.value(0).is_some());
        assert!(Reader { block: &nested(DEEPEST + 1), at: 0 }.value(0).is_none());
    }
}
