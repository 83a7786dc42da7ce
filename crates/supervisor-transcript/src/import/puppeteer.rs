//! Puppeteer's `DEBUG=puppeteer:protocol:*`: each message is a quoted text in brackets, on one line or three. Since it logs
//! with Node's own means (`NODE_DEBUG=puppeteer:protocol:*`), a message stands plain after the number of the process.

use super::{Direction, Said, playwright};

pub(crate) fn said(line: &str) -> Option<Said<'_>> {
    let at = line.find("puppeteer:protocol:").or_else(|| line.find("PUPPETEER:PROTOCOL:"))?;
    let said = &line[at + "puppeteer:protocol:".len()..];
    let send = said.strip_prefix("SEND ►").map(|rest| (Direction::Send, rest));
    let (direction, rest) =
        send.or_else(|| said.strip_prefix("RECV ◀").map(|rest| (Direction::Recv, rest)))?;
    Some(Said { direction, before: &line[..at], rest: rest.trim() })
}

/// The message of a line that has one whole.
pub(crate) fn message(rest: &str) -> Option<String> {
    let after_process = rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix(": ");
    let plain = after_process.and_then(playwright::message).map(str::to_owned);
    plain.or_else(|| quoted(rest.strip_prefix("[ ").unwrap_or(rest)))
}

/// Whether the line only begins or ends the brackets around a message.
pub(crate) fn is_bracket(rest: &str) -> bool {
    rest == "[" || rest == "]" || rest.starts_with("] +")
}

/// The text in quotes that a line begins with, as Node's `util.inspect` writes it.
pub(crate) fn quoted(line: &str) -> Option<String> {
    let line = line.trim_start();
    let quote = line.chars().next().filter(|first| matches!(first, '\'' | '"' | '`'))?;
    let mut text = String::with_capacity(line.len());
    let mut rest = line[1..].chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => text.push(unescaped(&mut rest)?),
            _ if character == quote => return Some(text),
            _ => text.push(character),
        }
    }
    None
}

fn unescaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    let code = |rest: &mut std::str::Chars<'_>, digits: usize| {
        let digits: String = rest.by_ref().take(digits).collect();
        u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
    };
    Some(match rest.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'x' => code(rest, 2)?,
        // A lone surrogate, which no text here can hold.
        'u' => code(rest, 4).unwrap_or(char::REPLACEMENT_CHARACTER),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_taken_off() {
        assert_eq!(quoted(r#"  '{"a":1}',"#).as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(quoted(r#"`{"a":"it's"}`"#).as_deref(), Some(r#"{"a":"it's"}"#));
        assert_eq!(quoted(r"'a\\n\x1b\ud800\''").as_deref(), Some("a\\n\u{1b}\u{fffd}'"));
        assert_eq!((quoted("{}"), quoted("'open"), quoted("")), (None, None, None));
    }
}
