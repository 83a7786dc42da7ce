//! What is replayed: a recording of ours with all its parts, another client's transcript, or a log of Playwright or Puppeteer.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use supervisor::recording_parts;
use supervisor_transcript::{Damage, Imported, Reader, TranscriptError, import};

use crate::error::CliError;

/// The program whose log a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    /// What `DEBUG=pw:protocol` prints.
    Playwright,
    /// What `DEBUG=puppeteer:protocol:*` prints, or `NODE_DEBUG=puppeteer:protocol:*`.
    Puppeteer,
}

/// A file, read.
pub(crate) struct Source {
    path: PathBuf,
    /// What can be replayed.
    pub(crate) bytes: Vec<u8>,
    /// What was made of a log.
    pub(crate) imported: Option<Imported>,
    parts: Vec<(PathBuf, Range<usize>)>,
}

impl Source {
    /// Reads a file and its older parts. A log of a driver is told by what is in it, unless it is named.
    pub(crate) fn read(path: &Path, program: Option<Program>) -> Result<Self, CliError> {
        let mut source = Self { path: path.to_owned(), bytes: Vec::new(), imported: None, parts: Vec::new() };
        for part in recording_parts(path) {
            let start = source.bytes.len();
            let read = std::fs::read(&part);
            let read = read.map_err(|source| CliError::File { what: "read", path: part.clone(), source })?;
            source.bytes.extend(read);
            source.parts.push((part, start..source.bytes.len()));
        }
        if program.is_some() || !is_transcript(&source.bytes) {
            source.import(program)?;
        }
        Ok(source)
    }

    fn import(&mut self, program: Option<Program>) -> Result<(), CliError> {
        match (import(&self.bytes), program) {
            (Ok(imported), _) => {
                self.bytes.clone_from(&imported.transcript);
                self.imported = Some(imported);
                Ok(())
            }
            (Err(error), Some(_)) => Err(self.refused(error)),
            // The replay says what it is not.
            (Err(_), None) => Ok(()),
        }
    }

    /// Says which file could not be replayed; of a damaged one, where in which part.
    pub(crate) fn refused(&self, error: TranscriptError) -> CliError {
        match error {
            TranscriptError::Damaged(damage) => {
                let (path, damage) = self.place(damage);
                CliError::Replay { path, error: damage.into() }
            }
            error => CliError::Replay { path: self.path.clone(), error },
        }
    }

    /// The part that a damage is in, with its line and its byte there.
    fn place(&self, damage: Damage) -> (PathBuf, Damage) {
        let at = usize::try_from(damage.offset).unwrap_or(usize::MAX);
        let part = self.parts.iter().rev().find(|(_, range)| range.start <= at);
        let Some((path, range)) = part.filter(|_| self.imported.is_none()) else {
            return (self.path.clone(), damage);
        };
        let lines_before = self.bytes[..range.start].iter().filter(|byte| **byte == b'\n').count();
        let (line, offset) = (damage.line - lines_before, damage.offset - range.start as u64);
        (path.clone(), Damage { line, offset, ..damage })
    }
}

fn is_transcript(bytes: &[u8]) -> bool {
    Reader::new(bytes).is_ok() || Reader::foreign(bytes).is_ok()
}
