//! Texts of pages are untrusted: nothing in them may steer the terminal or make a line look like another.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text for one line of a terminal: what could move the cursor, reorder or hide text is written as `\u{…}`.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |character, out| {
        let _ = match character {
            '\n' => out.write_str("\\n"),
            '\t' => out.write_str("\\t"),
            other => write!(out, "\\u{{{:x}}}", u32::from(other)),
        };
    })
}

/// JSON in one line for a terminal. The same characters stand only inside of strings there, so that their JSON escapes
/// change nothing for a reader of JSON.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    replaced(text, |character, out| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

/// As [`line()`], for a text of several lines of our own.
pub(crate) fn lines(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// As [`json()`], for JSON that was laid out in lines.
pub(crate) fn json_lines(text: &str) -> String {
    text.split('\n').map(json).collect::<Vec<_>>().join("\n")
}

/// A page's text in quotes, cut to what a line can hold.
pub(crate) fn quoted(text: &str) -> String {
    /// Enough to recognise a message; the whole one is in the snapshot.
    const SHOWN: usize = 120;
    let mut characters = text.chars();
    let shown: String = characters.by_ref().take(SHOWN).collect();
    format!("\"{shown}{}\"", if characters.next().is_some() { "…" } else { "" })
}

fn replaced(text: &str, mut write: impl FnMut(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hostile(character) { write(character, &mut out) } else { out.push(character) }
    }
    Cow::Owned(out)
}

/// Controls, line separators, and what is invisible or changes the direction of writing (Unicode's Cc, Zl, Zp and the
/// parts of Cf that spoofs are made of).
fn is_hostile(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_passes() {
        let hostile = "a\u{1b}]0;title\u{7}\r\nb\u{9b}2J\u{202e}c\u{7f}\u{2028}\u{0}";
        let shown = line(hostile);
        assert_eq!(shown, "a\\u{1b}]0;title\\u{7}\\u{d}\\nb\\u{9b}2J\\u{202e}c\\u{7f}\\u{2028}\\u{0}");
        for character in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_control()) {
            assert!(!line(&character.to_string()).contains(char::is_control), "{character:?}");
        }
    }

    #[test]
    fn plain_text_is_not_touched() {
        for text in ["", "Delete all 3 files?", "Größe: 5 m²", "日本語 🎉"] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let value = serde_json::json!({"message": "a\u{9b}2J\u{7f}\u{202e}\u{e0001}\u{1b}\"\\é🎉"});
        let text = value.to_string();
        let shown = json(&text);
        assert!(!shown.contains(is_hostile), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn lines_of_our_own_stay_lines() {
        assert_eq!(lines("what\n  why\u{1b}[31m"), "what\n  why\\u{1b}[31m");
        assert_eq!(json_lines("{\n  \"a\": \"\u{85}\"\n}"), "{\n  \"a\": \"\\u0085\"\n}");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        assert_eq!(quoted("é"), "\"é\"");
        assert_eq!(quoted(&"é".repeat(121)), format!("\"{}…\"", "é".repeat(120)));
    }
}
