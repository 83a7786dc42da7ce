//! Long arguments: from the command line, from standard input, or from a file.

use std::io::{self, Read};
use std::path::PathBuf;

use crate::error::CliError;

/// The longest text that is read: what a server takes, and one byte more to see that it is too much.
const MOST: u64 = supervisor::supervisor_core::limits::MAX_CALL_PARAMS as u64 + 1;

/// `-` is standard input, `@FILE` a file, anything else the text itself.
pub(super) fn text_or_file(given: &str) -> Result<String, CliError> {
    match given.strip_prefix('@') {
        Some(path) => {
            let path = PathBuf::from(path);
            let read = std::fs::File::open(&path).and_then(all);
            read.map_err(|source| CliError::File { what: "read", path, source })
        }
        None => text(given),
    }
}

/// `-` is standard input, without the line end that closes it; anything else is the text itself.
pub(super) fn text(given: &str) -> Result<String, CliError> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let text = all(io::stdin().lock()).map_err(CliError::Input)?;
    let text = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text)).unwrap_or(&text);
    Ok(text.to_owned())
}

fn all(reader: impl Read) -> io::Result<String> {
    let mut text = String::new();
    reader.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_a_text_is_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.js");
        std::fs::write(&path, "1 + 1\n").unwrap();
        assert_eq!(text_or_file(&format!("@{}", path.display())).unwrap(), "1 + 1\n");
        assert_eq!(text_or_file("document.title").unwrap(), "document.title");
        assert_eq!(text("@me").unwrap(), "@me", "what is typed into a prompt may begin so");
        let missing = text_or_file("@/nonexistent").unwrap_err().to_string();
        assert!(missing.contains("cannot read /nonexistent"), "{missing}");
    }
}
