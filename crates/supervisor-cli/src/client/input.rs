//! Long arguments: from the command line, from standard input, or from a file.

use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use crate::error::CliError;

/// The longest text that is read: a server takes no longer one.
const MOST: usize = supervisor::supervisor_core::limits::MAX_CALL_PARAMS;

/// `-` is standard input, `@FILE` a file, anything else the text itself.
pub(super) fn text_or_file(given: &str) -> Result<String, CliError> {
    match given.strip_prefix('@') {
        Some(path) => {
            let path = PathBuf::from(path);
            let read = std::fs::File::open(&path).and_then(|file| all(file, MOST));
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
    let text = all(io::stdin().lock(), MOST).map_err(CliError::Input)?;
    let text = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text)).unwrap_or(&text);
    Ok(text.to_owned())
}

fn all(reader: impl Read, most: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    // One byte more shows that it is too much.
    reader.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_not_cut_but_refused() {
        assert_eq!(all("ééé".as_bytes(), 6).unwrap(), "ééé");
        let error = all("éééa".as_bytes(), 6).unwrap_err().to_string();
        assert_eq!(error, "it has more than 6 bytes");
        assert!(all(&b"\xff"[..], 6).unwrap_err().to_string().contains("UTF-8"));
    }

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

    /// The file has no bytes of its own on the disk.
    #[test]
    fn a_text_may_be_as_long_as_a_server_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.js");
        let of_length = |bytes: usize| {
            std::fs::File::create(&path).unwrap().set_len(bytes as u64).unwrap();
            text_or_file(&format!("@{}", path.display())).map(|text| text.len())
        };
        assert_eq!(of_length(MOST).unwrap(), MOST);
        assert!(of_length(MOST + 1).unwrap_err().to_string().contains("it has more than"));
    }
}
