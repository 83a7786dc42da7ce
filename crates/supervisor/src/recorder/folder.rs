//! A folder of recordings: each binding has a file of its own there, and the oldest make room.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::parts::{remove_all, size_of};

const SUFFIX: &str = ".cdp.jsonl";

/// The file of the next recording. What earlier ones left is dropped, oldest first, until it fits into `max_bytes`.
pub(super) fn next(folder: &Path, max_bytes: u64) -> PathBuf {
    make_room(folder, max_bytes);
    folder.join(fresh_name())
}

/// When, in seconds since the Unix epoch, by which process, and its how-manieth.
fn fresh_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    format!("{now}-{}-{}{SUFFIX}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn make_room(folder: &Path, max_bytes: u64) {
    let mut left = max_bytes;
    for file in recordings(folder).into_iter().rev().filter(|file| has_ended(file)) {
        let size = size_of(&file);
        if size <= left {
            left -= size;
            continue;
        }
        left = 0;
        match remove_all(&file) {
            Ok(()) => tracing::info!(path = %file.display(), "an old recording made room"),
            Err(error) => {
                tracing::warn!(path = %file.display(), %error, "an old recording could not be removed")
            }
        }
    }
}

/// Those that are named as we name them, oldest first.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u64>, PathBuf)> =
        entries.filter_map(|entry| Some((numbers(entry.file_name().to_str()?)?, entry.path()))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

fn numbers(name: &str) -> Option<Vec<u64>> {
    let numbers: Result<Vec<u64>, _> = name.strip_suffix(SUFFIX)?.split('-').map(str::parse).collect();
    numbers.ok().filter(|numbers| numbers.len() == 3)
}

fn has_ended(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| file.try_lock_shared().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room_and_those_that_go_on_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for (name, bytes) in [
            ("9-1-1.cdp.jsonl", 30),
            ("10-1-1.cdp.jsonl", 60),
            ("10-1-1.cdp.jsonl.1", 10),
            ("11-1-1.cdp.jsonl", 40),
            ("8-1-1.cdp.jsonl", 500),
            ("mine.cdp.jsonl", 500),
        ] {
            fs::write(file(name), "x".repeat(bytes)).unwrap();
        }
        let live = File::open(file("8-1-1.cdp.jsonl")).unwrap();
        live.try_lock().unwrap();
        make_room(folder.path(), 110);
        let left = |names: [&str; 6]| names.map(|name| file(name).exists());
        let names = [
            "8-1-1.cdp.jsonl",
            "9-1-1.cdp.jsonl",
            "10-1-1.cdp.jsonl",
            "10-1-1.cdp.jsonl.1",
            "11-1-1.cdp.jsonl",
            "mine.cdp.jsonl",
        ];
        assert_eq!(left(names), [true, false, true, true, true, true], "110 bytes are not too much");
        make_room(folder.path(), 109);
        assert_eq!(left(names), [true, false, false, false, true, true]);
    }

    #[test]
    fn names_differ() {
        assert_ne!(fresh_name(), fresh_name());
        assert!(numbers(&fresh_name()).is_some());
    }
}
