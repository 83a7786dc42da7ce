//! The files of a recording: FILE is being written, FILE.1 is the part before, FILE.2 the one before that.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Parts that share the bound: with each that is dropped, a quarter of the past goes.
const PARTS: u64 = 4;

/// Parts that may be left of an earlier recording with other bounds.
const MOST_PARTS: usize = 8;

/// The files of a recording, in the order of time: `FILE.2`, `FILE.1`, `FILE`. Only `FILE` where there is none.
#[must_use]
pub fn recording_parts(path: impl AsRef<Path>) -> Vec<PathBuf> {
    let path = path.as_ref();
    let older = (1..=MOST_PARTS).map(|number| numbered(path, number)).take_while(|part| part.exists());
    let mut parts: Vec<PathBuf> = older.collect();
    parts.reverse();
    // Between two parts there is a moment without the youngest.
    if parts.is_empty() || path.exists() {
        parts.push(path.to_owned());
    }
    parts
}

/// Reads all parts of a recording, one after the other: what the functions of `supervisor_transcript` take.
///
/// # Errors
/// When there is none, or one cannot be read.
pub fn read_recording(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    recording_parts(path).iter().try_for_each(|part| fs::read(part).map(|bytes| all.extend(bytes)))?;
    Ok(all)
}

/// The parts of one recording.
#[derive(Debug)]
pub(super) struct Parts {
    path: PathBuf,
    max_bytes: u64,
    file: File,
    /// Bytes of the part that is written.
    size: u64,
    /// Bytes of the parts before, youngest first.
    older: VecDeque<u64>,
}

impl Parts {
    /// Creates the file of the first part, for its owner alone.
    pub(super) fn create(path: PathBuf, max_bytes: u64, overwrite: bool) -> io::Result<Self> {
        if overwrite {
            remove_all(&path)?;
        } else if let Some(there) = all_names(&path).find(|part| part.symlink_metadata().is_ok()) {
            let text = format!("{} exists", there.display());
            return Err(io::Error::new(ErrorKind::AlreadyExists, text));
        }
        let file = create_private(&path)?;
        Ok(Self { path, max_bytes, file, size: 0, older: VecDeque::new() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of all parts.
    pub(super) fn bytes(&self) -> u64 {
        self.size + self.older.iter().sum::<u64>()
    }

    /// Whether the next part should begin.
    pub(super) fn is_full(&self) -> bool {
        self.size >= self.max_bytes / PARTS
    }

    /// Whether so many more bytes fit beside the parts before.
    pub(super) fn fits(&self, more: u64) -> bool {
        self.bytes() + more <= self.max_bytes
    }

    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.write_all(text)?;
        self.size += text.len() as u64;
        Ok(())
    }

    /// Drops parts from before, oldest first, until so many more bytes fit or none is left; gives how many.
    pub(super) fn make_room(&mut self, more: u64) -> io::Result<u64> {
        let mut dropped = 0;
        while !self.fits(more) && self.drop_oldest()? {
            dropped += 1;
        }
        Ok(dropped)
    }

    fn drop_oldest(&mut self) -> io::Result<bool> {
        if self.older.is_empty() {
            return Ok(false);
        }
        fs::remove_file(numbered(&self.path, self.older.len()))?;
        self.older.pop_back();
        Ok(true)
    }

    /// Adds what must be there, whatever has to go for it; gives how many parts were dropped.
    pub(super) fn insert(&mut self, text: &[u8]) -> io::Result<u64> {
        let dropped = self.make_room(text.len() as u64)?;
        if !self.fits(text.len() as u64) {
            return Err(self.too_small(text));
        }
        self.write(text).map(|()| dropped)
    }

    /// Begins the next part with this text; gives how many parts were dropped for it.
    pub(super) fn turn_over(&mut self, beginning: &[u8]) -> io::Result<u64> {
        if beginning.len() as u64 > self.max_bytes {
            return Err(self.too_small(beginning));
        }
        // Under its own name it is there as a whole, or not at all.
        let new = with_suffix(&self.path, "new");
        remove(&new)?;
        let mut file = create_private(&new)?;
        file.write_all(beginning)?;
        let mut dropped = 0;
        while self.older.len() as u64 + 1 >= PARTS && self.drop_oldest()? {
            dropped += 1;
        }
        for number in (0..=self.older.len()).rev() {
            fs::rename(numbered(&self.path, number), numbered(&self.path, number + 1))?;
        }
        fs::rename(&new, &self.path)?;
        self.older.push_front(self.size);
        (self.file, self.size) = (file, beginning.len() as u64);
        Ok(dropped + self.make_room(0)?)
    }

    fn too_small(&self, text: &[u8]) -> io::Error {
        let (max, needed) = (self.max_bytes, text.len());
        let why = format!(
            "what is known now needs {needed} bytes, and the recording may have {max}; allow it more"
        );
        io::Error::new(ErrorKind::StorageFull, why)
    }
}

/// Part 0 is the one that is written.
fn numbered(path: &Path, number: usize) -> PathBuf {
    match number {
        0 => path.to_owned(),
        _ => with_suffix(path, &number.to_string()),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn all_names(path: &Path) -> impl Iterator<Item = PathBuf> {
    let path = path.to_owned();
    (0..=MOST_PARTS).map(move |number| numbered(&path, number))
}

/// The bytes of all parts that are there.
pub(super) fn size_of(path: &Path) -> u64 {
    all_names(path).filter_map(|part| part.metadata().ok()).map(|data| data.len()).sum()
}

/// Only files: a device or a pipe of that name is nothing that was recorded.
pub(super) fn remove_all(path: &Path) -> io::Result<()> {
    all_names(path).try_for_each(|part| remove(&part))
}

fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(data) if data.is_file() || data.is_symlink() => fs::remove_file(path),
        Ok(_) => Err(io::Error::new(ErrorKind::AlreadyExists, format!("{} is no file", path.display()))),
    }
}

/// It is locked while it is written: who cleans up the folder sees by it that the recording goes on.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // A file system without locks keeps recordings all the same.
    let _ = file.try_lock();
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u64 = 400;

    fn parts(folder: &Path) -> Parts {
        Parts::create(folder.join("r"), MAX, false).unwrap()
    }

    fn on_disk(folder: &Path) -> Vec<(String, u64)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let mut all: Vec<_> = entries
            .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn a_part_is_full_at_a_quarter_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = parts(folder.path());
        assert_eq!(MAX / PARTS, 100);
        parts.write(&[b'0'; 99]).unwrap();
        assert!(!parts.is_full());
        parts.write(b"0").unwrap();
        assert!(parts.is_full());
        for (begin, dropped) in [(b'1', 0), (b'2', 0), (b'3', 0), (b'4', 1), (b'5', 1)] {
            assert_eq!(parts.turn_over(&[begin; 50]).unwrap(), dropped);
            parts.write(&[begin; 50]).unwrap();
            assert!(parts.bytes() <= MAX);
        }
        let named = |name: &str| (name.to_owned(), 100);
        assert_eq!(on_disk(folder.path()), ["r", "r.1", "r.2", "r.3"].map(named));
        let all = read_recording(folder.path().join("r")).unwrap();
        assert_eq!(all, [[b'2'; 100], [b'3'; 100], [b'4'; 100], [b'5'; 100]].concat());
    }

    #[test]
    fn what_fits_is_what_the_bound_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = parts(folder.path());
        parts.write(&[b'0'; 100]).unwrap();
        assert!(parts.fits(300) && !parts.fits(301));
        assert_eq!(parts.make_room(301).unwrap(), 0, "there is nothing before that could go");
        assert_eq!(parts.turn_over(&[b'1'; 300]).unwrap(), 0);
        assert_eq!(parts.turn_over(&[b'2'; 100]).unwrap(), 1);
        assert_eq!(parts.insert(&[b'2'; 300]).unwrap(), 1);
        assert_eq!(on_disk(folder.path()), [("r".to_owned(), MAX)]);
        assert_eq!(parts.insert(b"3").unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(parts.turn_over(&[b'3'; 401]).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(parts.turn_over(&[b'3'; 400]).unwrap(), 1);
    }

    #[test]
    fn nothing_is_overwritten_unless_asked_and_then_all_parts_go() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["r", "r.1", "r.3", "r.txt"] {
            fs::write(folder.path().join(name), "mine").unwrap();
        }
        let refused = Parts::create(folder.path().join("r"), MAX, false).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        fs::remove_file(folder.path().join("r")).unwrap();
        assert!(
            Parts::create(folder.path().join("r"), MAX, false).is_err(),
            "a part of another one is there"
        );
        drop(Parts::create(folder.path().join("r"), MAX, true).unwrap());
        assert_eq!(on_disk(folder.path()).iter().map(|(name, _)| name).collect::<Vec<_>>(), ["r", "r.txt"]);
        fs::create_dir(folder.path().join("d")).unwrap();
        assert!(Parts::create(folder.path().join("d"), MAX, true).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn every_part_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mut parts = parts(folder.path());
        parts.turn_over(b"x").unwrap();
        for name in ["r", "r.1"] {
            let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn between_two_parts_the_youngest_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("r.1"), "before").unwrap();
        assert_eq!(read_recording(folder.path().join("r")).unwrap(), b"before");
        assert!(read_recording(folder.path().join("other")).is_err());
    }

    #[test]
    fn of_parts_that_somebody_else_left_so_many_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        fs::write(&path, "0").unwrap();
        for number in 1..=MOST_PARTS + 1 {
            fs::write(numbered(&path, number), number.to_string()).unwrap();
        }
        let parts = recording_parts(&path);
        assert_eq!((parts.len(), &parts[0]), (MOST_PARTS + 1, &numbered(&path, MOST_PARTS)));
        fs::remove_file(numbered(&path, MOST_PARTS)).unwrap();
        assert_eq!(recording_parts(&path).len(), MOST_PARTS);
    }
}
