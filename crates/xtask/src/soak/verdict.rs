//! Whether what is held is flat.

use std::collections::BTreeMap;
use std::fmt;

use super::Record;
use super::protocol::Sample;

/// Memory's growth that counts as none, in percent an hour.
const MAX_SLOPE: f64 = 1.0;

/// A slope of a shorter run says nothing about an hour.
const JUDGED_FROM_MINUTES: f64 = 30.0;

/// Memory goes up and down with what is under way: a long message for a moment, a file of the journal or of a recording
/// for the minutes until it is full. The middle of each minute leaves the moments out, and the many minutes of a run the rest.
const MINUTE: f64 = 60.0;

/// What may differ from rest to rest, because it is bounded and not empty at rest: what a host reads, and what is looked
/// through when the next one comes.
const BOUNDED: [&str; 3] = ["console_entries", "recent_dialogs", "bridge_elements"];

/// What was judged, and how.
#[derive(Debug, Default, serde::Serialize)]
pub(super) struct Verdict(Vec<Line>);

#[derive(Debug, serde::Serialize)]
struct Line {
    what: String,
    found: String,
    judged: Judged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Judged {
    Flat,
    NotFlat,
    TooShort,
}

impl Verdict {
    pub(super) fn of(record: &Record) -> Self {
        let mut verdict = Self::default();
        verdict.memory(record);
        let restless = record.restless.len();
        verdict.add("rests that did not come", restless.to_string(), flat_if(restless == 0));
        verdict.rests(second_half(&record.rests));
        verdict.after_stop(record);
        verdict
    }

    pub(super) fn is_flat(&self) -> bool {
        self.0.iter().all(|line| line.judged != Judged::NotFlat)
    }

    /// Each as a part of itself.
    fn memory(&mut self, record: &Record) {
        let samples = second_half(&record.samples);
        let (own, resident) = (minutes(samples, |it| it.own_kib), minutes(samples, |it| it.rss_kib));
        self.grows(record, "memory of its own, second half", &own);
        self.grows(record, "memory that is resident, second half", &resident);
        self.grows(record, "heap in use, second half", &minutes(samples, |it| it.heap_kib));
    }

    fn grows(&mut self, record: &Record, what: &str, points: &[(f64, f64)]) {
        let percent = slope(points) * 3_600.0 / level(points).max(1.0) * 100.0;
        let judged = if record.minutes < JUDGED_FROM_MINUTES {
            Judged::TooShort
        } else {
            flat_if(percent < MAX_SLOPE)
        };
        let found = format!("{:.2} MiB, {percent:+.2} % an hour", level(points) / 1024.0);
        self.add(what, found, judged);
    }

    /// At rest there is always the same.
    fn rests(&mut self, rests: &[Sample]) {
        if rests.len() < 2 {
            return self.add("rests", format!("{}: too few to compare", rests.len()), Judged::NotFlat);
        }
        let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for rest in rests {
            for (kind, count) in held(rest) {
                kinds.entry(kind).or_default().push(count);
            }
        }
        for (kind, counts) in kinds {
            let (least, most) = (counts.iter().min().copied(), counts.iter().max().copied());
            let found = format!("{}..{}", least.unwrap_or(0), most.unwrap_or(0));
            let same = least == most && counts.len() == rests.len();
            let judged = flat_if(same || BOUNDED.contains(&kind.as_str()));
            self.add(format!("{kind} at rest, second half"), found, judged);
        }
    }

    fn after_stop(&mut self, record: &Record) {
        let (first, last) = (&record.first, &record.last);
        let pairs = [
            ("handles", first.handles, last.handles),
            ("threads", first.threads, last.threads),
            ("tokio tasks", first.tokio_tasks, last.tokio_tasks),
        ];
        for (what, before, after) in pairs {
            let found = format!("{before} before the first task, {after} after the last");
            self.add(format!("{what} after stop"), found, flat_if(before == after));
        }
    }

    fn add(&mut self, what: impl Into<String>, found: String, judged: Judged) {
        self.0.push(Line { what: what.into(), found, judged });
    }
}

fn flat_if(flat: bool) -> Judged {
    if flat { Judged::Flat } else { Judged::NotFlat }
}

fn held(sample: &Sample) -> impl Iterator<Item = (String, u64)> {
    let own = [("handles", sample.handles), ("threads", sample.threads), ("tokio tasks", sample.tokio_tasks)];
    let own = own.into_iter().map(|(kind, count)| (kind.to_owned(), count));
    own.chain(sample.records.iter().map(|(kind, count)| (kind.clone(), *count)))
}

/// The first half is for warming up.
fn second_half(samples: &[Sample]) -> &[Sample] {
    let whole = samples.last().map_or(0.0, |last| last.at);
    let from = samples.iter().position(|sample| sample.at >= whole / 2.0);
    from.map_or(&[], |from| &samples[from..])
}

/// The middle of each whole [`MINUTE`].
fn minutes(samples: &[Sample], value: impl Fn(&Sample) -> u64) -> Vec<(f64, f64)> {
    let (begin, end) = (samples.first().map_or(0.0, |it| it.at), samples.last().map_or(0.0, |it| it.at));
    let mut minutes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        minutes.entry(((sample.at - begin) / MINUTE) as u64).or_default().push(value(sample) as f64);
    }
    let whole = ((end - begin) / MINUTE) as u64;
    minutes.retain(|minute, _| *minute < whole);
    minutes.into_iter().map(|(minute, values)| (minute as f64 * MINUTE, median(values))).collect()
}

fn level(points: &[(f64, f64)]) -> f64 {
    median(points.iter().map(|(_, value)| *value).collect())
}

/// Theil and Sen's: the median of the slopes between all pairs, which no outlier moves.
fn slope(points: &[(f64, f64)]) -> f64 {
    let pairs =
        points.iter().enumerate().flat_map(|(n, from)| points[n + 1..].iter().map(move |to| (from, to)));
    median(pairs.map(|(from, to)| (to.1 - from.1) / (to.0 - from.0)).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Line { what, found, judged } in &self.0 {
            let judged = match judged {
                Judged::Flat => "flat",
                Judged::NotFlat => "NOT FLAT",
                Judged::TooShort => "not judged: the run is shorter than half an hour",
            };
            writeln!(f, "{what:<40} {found:<45} {judged}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: f64, own_kib: u64, handles: u64) -> Sample {
        Sample { at, own_kib, rss_kib: own_kib, handles, ..Sample::default() }
    }

    /// An hour that grows by this much an hour behind its warm-up, which does as it likes.
    fn hour(growth_kib: f64) -> Record {
        let own =
            |at: f64| 20_000.0 + if at < 900.0 { at * 5.0 } else { (at - 900.0) / 3_600.0 * growth_kib };
        let outlier = |at: u64| if at.is_multiple_of(97) { 9_000 } else { 0 };
        let samples =
            (0..3_600).map(|at| sample(at as f64, own(at as f64) as u64 + outlier(at), 9)).collect();
        let rests = (0..60).map(|rest| sample(f64::from(rest) * 60.0, 20_000, 9)).collect();
        Record { minutes: 60.0, samples, rests, ..Record::default() }
    }

    #[test]
    fn memory_may_grow_by_less_than_a_percent_an_hour() {
        assert!(Verdict::of(&hour(150.0)).is_flat());
        assert!(!Verdict::of(&hour(250.0)).is_flat());
    }

    #[test]
    fn what_stays_is_told_from_what_comes_and_goes() {
        let heap = |growth_kib: f64| {
            let mut record = hour(0.0);
            for sample in &mut record.samples {
                let comes_and_goes = if sample.at as u64 % 7 < 5 { 1_500 } else { 0 };
                sample.heap_kib = 20_000 + comes_and_goes + (sample.at / 3_600.0 * growth_kib) as u64;
            }
            Verdict::of(&record).is_flat()
        };
        assert!(heap(150.0));
        assert!(!heap(250.0));
    }

    #[test]
    fn what_is_left_over_at_the_end_is_no_minute() {
        let mut record = hour(0.0);
        // A few seconds more, in which something long is under way all the time.
        record.samples.extend((3_600..3_620).map(|at| sample(f64::from(at), 90_000, 9)));
        assert!(Verdict::of(&record).is_flat());
    }

    #[test]
    fn a_short_run_does_not_judge_memory() {
        let record = Record { minutes: 29.0, ..hour(5_000.0) };
        assert!(Verdict::of(&record).is_flat());
        assert!(Verdict::of(&record).to_string().contains("not judged"));
    }

    #[test]
    fn one_handle_more_at_rest_or_after_the_end_is_too_many() {
        let mut record = hour(0.0);
        record.rests[59].handles += 1;
        assert!(!Verdict::of(&record).is_flat());
        let mut record = hour(0.0);
        record.last.handles = record.first.handles + 1;
        assert!(!Verdict::of(&record).is_flat());
        assert!(!Verdict::of(&Record { rests: Vec::new(), ..hour(0.0) }).is_flat());
    }
}
