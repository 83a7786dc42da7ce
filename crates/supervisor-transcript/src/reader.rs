//! Reading a recording line by line, as far as it is whole.

use serde::Serialize;
use supervisor_core::{At, Epoch, Net};

use crate::error::{Damage, TranscriptError};
use crate::header::Header;
use crate::line::{Entry, Line};
use crate::lines::Lines;
use crate::parse::{Parsed, parse};

/// Unknown lines that are described; the others are only counted. Whoever debugs a recording looks at the first.
const MAX_UNKNOWN_SHOWN: usize = 10;

/// Some editors put it before the first line.
const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// Reads the lines of a recording. Ends after the last line, or after a damaged one.
///
/// Blank lines and carriage returns at the ends of lines are passed over. Lines that are JSON but not of this format are
/// counted in [`unknown`](Self::unknown).
#[derive(Debug)]
pub struct Reader<I> {
    lines: Option<I>,
    place: Place,
    header: Header,
    epoch: Epoch,
    /// The stamp of the last line.
    at: At,
    unknown: Unknown,
}

/// A line and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered<'a> {
    /// Its number, from 1 (the header is the first).
    pub number: usize,
    /// What it means.
    pub line: Line<'a>,
    /// As it stands in the recording.
    pub text: &'a str,
}

/// Lines that were not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Vec<UnknownLine>,
}

/// A line that was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownLine {
    /// Its number, from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

impl<'a> Reader<Lines<'a>> {
    /// Reads the header of a recording in memory.
    ///
    /// # Errors
    /// `Empty`, `NoHeader`, `Foreign`, `Format` or `Header` when the first line is not a header of ours, `Damaged` when it
    /// is no text.
    pub fn new(recording: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Self, TranscriptError> {
        Self::from_lines(Lines::new(recording.as_ref()))
    }
}

impl<'a> Reader<Lines<'a>> {
    /// Reads a transcript that has no header from its first line on, as if it began with this one.
    pub(crate) fn without_header(recording: &'a (impl AsRef<[u8]> + ?Sized), header: Header) -> Self {
        let lines = Some(Lines::new(recording.as_ref()));
        let epoch = header.beginning.epoch;
        Self { lines, place: Place::default(), header, epoch, at: At(0), unknown: Unknown::default() }
    }
}

impl<'a, I, T> Reader<I>
where
    I: Iterator<Item = &'a T>,
    T: AsRef<[u8]> + ?Sized + 'a,
{
    /// Reads the header of a recording that comes as lines without their newlines.
    ///
    /// # Errors
    /// As [`Reader::new`].
    pub fn from_lines(mut lines: I) -> Result<Self, TranscriptError> {
        let mut place = Place::default();
        let first = place.next_text(&mut lines).ok_or(TranscriptError::Empty)??;
        let header = Header::read(first.trim_start_matches(BYTE_ORDER_MARK))?;
        let epoch = header.beginning.epoch;
        Ok(Self { lines: Some(lines), place, header, epoch, at: At(0), unknown: Unknown::default() })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The lines so far that were not understood.
    #[must_use]
    pub fn unknown(&self) -> &Unknown {
        &self.unknown
    }

    fn understand(&mut self, text: &'a str) -> Option<Result<Numbered<'a>, Damage>> {
        let number = self.place.number;
        // One that cannot be read is judged as any other line.
        if let Some(header) = Header::is_one(text).then(|| Header::read(text).ok()).flatten() {
            return self.part(number, text, header).map(Ok);
        }
        match parse(text, self.epoch) {
            Parsed::Line(line) => {
                if let Entry::Net(Net::Connected { epoch, .. }) | Entry::Checkpoint { epoch, .. } =
                    &line.entry
                {
                    self.epoch = *epoch;
                }
                self.at = line.at;
                Some(Ok(Numbered { number, line, text }))
            }
            Parsed::Unknown(why) => {
                self.unknown.add(number, why);
                None
            }
            Parsed::Damaged { offset, reason, cut } => Some(Err(self.place.damage(offset, reason, cut))),
        }
    }
}

impl<'a, I> Reader<I> {
    /// The parts of one recording may stand one after the other.
    fn part(&mut self, number: usize, text: &'a str, header: Header) -> Option<Numbered<'a>> {
        if !header.is_of_same(&self.header) {
            self.unknown.add(number, "the header of another recording".to_owned());
            return None;
        }
        let line = Line { at: self.at, entry: Entry::Part(Box::new(header)) };
        Some(Numbered { number, line, text })
    }
}

impl<'a, I, T> Iterator for Reader<I>
where
    I: Iterator<Item = &'a T>,
    T: AsRef<[u8]> + ?Sized + 'a,
{
    type Item = Result<Numbered<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = self.place.next_text(self.lines.as_mut()?);
            let read = match next {
                Some(Ok(text)) => self.understand(text.trim_start_matches(BYTE_ORDER_MARK)),
                Some(Err(damage)) => Some(Err(damage)),
                None => return None,
            };
            if matches!(read, Some(Err(_))) {
                // What follows a damaged line would be replayed onto a state that lacks it.
                self.lines = None;
            }
            if read.is_some() {
                return read;
            }
        }
    }
}

impl Unknown {
    pub(crate) fn add(&mut self, line: usize, why: String) {
        self.count += 1;
        if self.first.len() < MAX_UNKNOWN_SHOWN {
            self.first.push(UnknownLine { line, why });
        }
    }
}

/// Where the reader stands.
#[derive(Debug, Default)]
struct Place {
    /// The number of the line that was read last.
    number: usize,
    /// Where it starts.
    start: u64,
    /// Where the next one starts.
    end: u64,
}

impl Place {
    /// The next line that is not blank, without the carriage return.
    fn next_text<'a, T>(&mut self, lines: &mut impl Iterator<Item = &'a T>) -> Option<Result<&'a str, Damage>>
    where
        T: AsRef<[u8]> + ?Sized + 'a,
    {
        loop {
            let bytes = lines.next()?.as_ref();
            self.number += 1;
            self.start = self.end;
            self.end += bytes.len() as u64 + 1;
            match std::str::from_utf8(bytes.strip_suffix(b"\r").unwrap_or(bytes)) {
                Ok(text) if text.trim_ascii().is_empty() => {}
                Ok(text) => return Some(Ok(text)),
                Err(error) => return Some(Err(self.damage(error.valid_up_to(), error.to_string(), false))),
            }
        }
    }

    fn damage(&self, offset: usize, reason: String, cut: bool) -> Damage {
        Damage { line: self.number, offset: self.start + offset as u64, reason, cut }
    }
}

#[cfg(test)]
mod tests {
    use supervisor_core::Beginning;

    use super::*;
    use crate::Writer;

    const TICK: &str = r#"{"t":1.000000,"dir":"tick"}"#;

    fn header() -> String {
        let mut out = Vec::new();
        let _ = Writer::begin(&Header::new(Beginning::default(), ""), &mut out);
        String::from_utf8(out).unwrap()
    }

    fn read(lines: &[u8]) -> (usize, Option<Damage>, Unknown) {
        let recording = [header().as_bytes(), lines].concat();
        let mut reader = Reader::new(&recording).unwrap();
        let read: Vec<_> = reader.by_ref().collect();
        let damage = read.iter().find_map(|line| line.clone().err());
        (read.iter().filter(|line| line.is_ok()).count(), damage, reader.unknown().clone())
    }

    #[test]
    fn an_empty_recording_says_so() {
        for empty in ["", "\n", "\r\n\n"] {
            assert_eq!(Reader::new(empty).err(), Some(TranscriptError::Empty));
        }
    }

    #[test]
    fn blank_lines_carriage_returns_and_a_mark_are_passed_over() {
        let recording = format!("\u{FEFF}{}\r\n\r\n{TICK}\r\n{TICK}", header().trim_end());
        let numbers: Vec<usize> = Reader::new(&recording).unwrap().map(|line| line.unwrap().number).collect();
        assert_eq!(numbers, [3, 4]);
        let lines = Reader::from_lines(recording.lines()).unwrap();
        assert_eq!(lines.map(|line| line.unwrap().number).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn a_cut_recording_is_read_up_to_the_cut() {
        let (read, damage, _) = read(format!("{TICK}\n{}", &TICK[..20]).as_bytes());
        let damage = damage.unwrap();
        assert_eq!(read, 1);
        assert_eq!((damage.line, damage.cut), (3, true));
        assert_eq!(damage.offset as usize, header().len() + TICK.len() + 1 + 20);
        assert!(damage.to_string().contains("the line is cut off"), "{damage}");
    }

    #[test]
    fn nothing_is_read_after_damage() {
        let (read, damage, _) = read([TICK.as_bytes(), b"\n\xFF\xFE\n", TICK.as_bytes()].concat().as_slice());
        assert_eq!((read, damage.unwrap().line), (1, 3));
    }

    #[test]
    fn unknown_lines_are_counted_and_the_first_are_described() {
        let (read, damage, unknown) = read(format!("{TICK}\n{}{TICK}\n", "[]\n".repeat(30)).as_bytes());
        assert_eq!((read, damage), (2, None));
        assert_eq!((unknown.count, unknown.first.len(), unknown.first[0].line), (30, MAX_UNKNOWN_SHOWN, 3));
    }
}
