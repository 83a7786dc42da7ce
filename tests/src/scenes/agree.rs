//! Live is replay: a recording gives what was seen when it was made.

use std::sync::Arc;

use supervisor::{Recorded, Snapshot};
use supervisor_transcript::{Driver, Reader, Replayed, check};

use super::{Played, Scene, missing};

/// The recording passes its check, gives the same events byte for byte as were told and as the journal kept, and has each
/// snapshot that was seen, in the same order, that of the end last.
///
/// # Errors
/// What differs.
pub fn agree(scene: &Scene, played: &Played) -> Result<Replayed, String> {
    let replayed = check(&played.recording).map_err(|error| error.to_string())?;
    let events = lines(&replayed.events);
    same("the journal", &lines(&played.kept), &events)?;
    // A subscriber comes after the first events.
    let first = played.told.first().ok_or("nothing was told")?.seq;
    let from = replayed.events.iter().position(|event| event.seq == first).unwrap_or_default();
    same("a subscriber", &lines(&played.told), &events[from..])?;
    same_snapshots(&played.seen, &snapshots(&played.recording)?)?;
    let last = json(&**played.seen.last().ok_or("no snapshot was seen")?);
    same("whoever looks", &[last], &[json(&*replayed.snapshot)])?;
    match missing(scene.shows, &played.recording) {
        Some(line) => Err(format!("it does not show `{line}`")),
        None => Ok(replayed),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn lines(events: &[Recorded]) -> Vec<String> {
    events.iter().map(json).collect()
}

fn same(what: &str, live: &[String], replayed: &[String]) -> Result<(), String> {
    let both = live.iter().zip(replayed);
    if let Some((live, replayed)) = both.clone().find(|(live, replayed)| live != replayed) {
        return Err(format!("{what} has\n  {live}\nand the replay\n  {replayed}"));
    }
    match live.len() == replayed.len() {
        true => Ok(()),
        false => Err(format!("{what} has {} events, the replay {}", live.len(), replayed.len())),
    }
}

/// Those that the replay goes through, one after each input.
fn snapshots(recording: &[u8]) -> Result<Vec<Arc<Snapshot>>, String> {
    let reader = Reader::new(recording).map_err(|error| error.to_string())?;
    let mut driver = Driver::new(reader.header());
    let mut all = vec![driver.snapshot()];
    for line in reader {
        let line = line.map_err(|damage| damage.to_string())?.line;
        if driver.feed(&line).transpose()?.is_some() {
            all.push(driver.snapshot());
        }
    }
    Ok(all)
}

/// Whoever looks live may miss some, where one comes soon after another.
fn same_snapshots(seen: &[Arc<Snapshot>], replayed: &[Arc<Snapshot>]) -> Result<(), String> {
    let mut rest = replayed.iter();
    for live in seen {
        if !rest.by_ref().any(|replayed| replayed == live) {
            let like = replayed.iter().find(|replayed| replayed.version == live.version);
            let like = like.map(|like| json(&**like)).unwrap_or_default();
            return Err(format!(
                "a snapshot that was seen is none of the replay's:\n  {}\n  {like}",
                json(&**live)
            ));
        }
    }
    Ok(())
}
