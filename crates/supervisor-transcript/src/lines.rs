//! The lines of a text in memory.

/// Splits at newlines only; unlike `str::lines` it works on bytes that are not UTF-8 and keeps a carriage return, so that
/// the places of errors are those in the file.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Lines<'a> {
    /// The lines of `text`.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { rest: Some(text) }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let Some(end) = memchr::memchr(b'\n', rest) else {
            return self.rest.take();
        };
        self.rest = Some(&rest[end + 1..]);
        Some(&rest[..end])
    }
}
