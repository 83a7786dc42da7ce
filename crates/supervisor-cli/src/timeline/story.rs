//! What the page shows: every event, and snapshots at moments.

use std::sync::Arc;

use serde::Serialize;
use supervisor::{Recorded, Snapshot};
use supervisor_transcript::{Damage, Driver, Header, Lines, Reader, TranscriptError};

/// Snapshots that the page holds: enough for a slider as wide as a screen, and few enough that a page with
/// 100,000 events opens at once.
const MAX_SNAPSHOTS: usize = 400;

/// A recording's course.
#[derive(Serialize)]
pub(crate) struct Story {
    header: Header,
    events: Vec<Recorded>,
    snapshots: Vec<Moment>,
    #[serde(skip)]
    pub(crate) damage: Option<Damage>,
    /// Where it is damaged, in words.
    #[serde(rename = "damage", skip_serializing_if = "Option::is_none")]
    damaged: Option<String>,
}

/// A snapshot and when it was taken: after the events up to this time.
#[derive(Clone, Serialize)]
struct Moment {
    at: u64,
    snapshot: Arc<Snapshot>,
}

impl Story {
    /// How many events there are.
    pub(crate) fn events(&self) -> usize {
        self.events.len()
    }
}

/// Replays a recording; what is no recording of ours is replayed as an observer.
pub(crate) fn of(bytes: &[u8]) -> Result<Story, TranscriptError> {
    let reader = match Reader::new(bytes) {
        Err(refused @ (TranscriptError::Foreign | TranscriptError::NoHeader { .. })) => {
            Reader::foreign(bytes).map_err(|_| refused)?
        }
        read => read?,
    };
    Ok(told(reader))
}

fn told(mut reader: Reader<Lines<'_>>) -> Story {
    let mut driver = Driver::new(reader.header());
    let (mut events, mut moments, mut damage) = (Vec::new(), Moments::default(), None);
    for read in reader.by_ref() {
        match read {
            // A line on which the machine fails is lost here as it was live.
            Ok(numbered) => {
                let Some(Ok(step)) = driver.feed(&numbered.line) else { continue };
                if !step.events.is_empty() {
                    events.extend(step.events);
                    moments.add(numbered.line.at.0, || driver.snapshot());
                }
            }
            Err(found) => damage = Some(found),
        }
    }
    if let Some(last) = events.last() {
        moments.end(last.at.0, driver.snapshot());
    }
    let damaged = damage.as_ref().map(ToString::to_string);
    Story { header: reader.header().clone(), events, snapshots: moments.taken, damage, damaged }
}

/// Snapshots, thinned out evenly as they come: each second one goes when there are too many.
#[derive(Default)]
struct Moments {
    taken: Vec<Moment>,
    /// Every so many are taken; 0 is each.
    stride: usize,
    skipped: usize,
}

impl Moments {
    fn add(&mut self, at: u64, snapshot: impl FnOnce() -> Arc<Snapshot>) {
        self.skipped += 1;
        if self.skipped <= self.stride {
            return;
        }
        self.skipped = 0;
        self.taken.push(Moment { at, snapshot: snapshot() });
        if self.taken.len() > MAX_SNAPSHOTS {
            let mut is_kept = false;
            self.taken.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.stride = self.stride * 2 + 1;
        }
    }

    fn end(&mut self, at: u64, snapshot: Arc<Snapshot>) {
        self.taken.push(Moment { at, snapshot });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NESTED: &[u8] =
        include_bytes!("../../../../fixtures/transcripts/confirm-in-nested-oopif.cdp.jsonl");

    #[test]
    fn a_recording_is_told_as_it_is_replayed() {
        let story = of(NESTED).unwrap();
        let replayed = supervisor_transcript::replay(NESTED).unwrap();
        assert_eq!(story.events, replayed.events);
        assert_eq!(story.snapshots.last().unwrap().snapshot, replayed.snapshot);
        assert!(story.damage.is_none());
    }

    #[test]
    fn snapshots_are_bounded_and_even() {
        let mut driver = Driver::new(&of(NESTED).unwrap().header);
        let mut moments = Moments::default();
        (0..100_000).for_each(|at| moments.add(at, || driver.snapshot()));
        assert!(moments.taken.len() <= MAX_SNAPSHOTS && moments.taken.len() > MAX_SNAPSHOTS / 4);
        let gaps: Vec<_> = moments.taken.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
        assert!(gaps.iter().max().unwrap() <= &(2 * gaps.iter().min().unwrap()), "{gaps:?}");
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        assert!(of(b"hello\n").is_err());
    }
}
