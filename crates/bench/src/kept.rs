//! `bench-kept`: what keeping costs. Events replayed a second on one core, the reader included, for two floods; and events that the
//! journal takes a second, beside what bare sled takes in the same run.
//!
//!     cargo run --release -p bench --bin bench-kept

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::{Value, json};
use supervisor_core::Recorded;
use supervisor_journal::{Bounds, Journal, Run, SledJournal};

/// A real run, up to where it was stopped: what a flood begins with.
const BEGINNING: &str = include_str!("../../../fixtures/transcripts/oopif-removed.cdp.jsonl");

/// What the journal's thread gathers in a moment of a flood.
const BLOCK: usize = 1_000;

/// Measures replays and the journal.
#[derive(Parser)]
struct Args {
    /// Messages of each flood.
    #[arg(long, default_value_t = 200_000)]
    messages: usize,
    /// How often each is measured; the fastest counts, for others only take time away.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let page = Page::of(BEGINNING)?;
    let mut events = Vec::new();
    for (name, message) in
        [("console calls", Page::console as Message), ("frames that come and go", Page::frame)]
    {
        let recording = page.flood(args.messages, message);
        let (took, replayed) = fastest(args.rounds, || Ok(supervisor_transcript::drive(&recording)?))?;
        ensure!(
            replayed.counts.faults.is_empty() && replayed.damage.is_none(),
            "the flood is not understood"
        );
        println!(
            "replay, {name}: {} lines/s, {} events/s, {} MB/s",
            rate(args.messages, took),
            rate(replayed.events.len(), took),
            rate(recording.len(), took) / 1_000_000
        );
        events = replayed.events;
    }
    let (journal, _) = fastest(args.rounds, || journalled(&events))?;
    let (bare, _) = fastest(args.rounds, || bare(&events))?;
    println!(
        "journal: {} events/s; bare sled, one insert an event: {} events/s",
        rate(events.len(), journal),
        rate(events.len(), bare)
    );
    Ok(())
}

fn rate(count: usize, took: Duration) -> u64 {
    (count as f64 / took.as_secs_f64()) as u64
}

fn fastest<T>(rounds: usize, mut run: impl FnMut() -> Result<T>) -> Result<(Duration, T)> {
    let mut best = None;
    for _ in 0..rounds.max(1) {
        let since = Instant::now();
        let result = run()?;
        let took = since.elapsed();
        if best.as_ref().is_none_or(|(least, _)| took < *least) {
            best = Some((took, result));
        }
    }
    best.context("no round")
}

/// Makes the messages of a flood by their number.
type Message = fn(&Page, usize) -> Value;

/// The page that the flood happens on.
struct Page {
    beginning: String,
    session: String,
    frame: String,
    /// When the beginning ends, in seconds.
    end: f64,
}

impl Page {
    fn of(recording: &str) -> Result<Self> {
        let stop =
            recording.find("\"msg\":{\"command\":\"stop\"}").context("a recording that was stopped")?;
        let end = recording[..stop].rfind('\n').context("lines")?;
        let beginning = &recording[..=end];
        let messages = beginning.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut params = messages
            .filter(|line| line["msg"]["method"] == "Target.attachedToTarget")
            .map(|line| line["msg"]["params"].clone());
        let page = params.find(|params| params["targetInfo"]["type"] == "page").context("a page")?;
        let text = |value: &Value| value.as_str().map(str::to_owned).context("an id");
        let (session, frame) = (text(&page["sessionId"])?, text(&page["targetInfo"]["targetId"])?);
        let last: Value = serde_json::from_str(beginning.lines().next_back().context("a line")?)?;
        let end = last["t"].as_f64().context("a time")?;
        Ok(Self { session, frame, end, beginning: beginning.to_owned() })
    }

    fn flood(&self, messages: usize, message: Message) -> Vec<u8> {
        let mut text = self.beginning.clone();
        for number in 0..messages {
            // So fast that nothing is due meanwhile: a browser that is silent on other things would be given up.
            let at = self.end + number as f64 / 100_000.0;
            let mut message = message(self, number);
            message["sessionId"] = json!(self.session);
            text += &format!("{{\"t\":{at:.6},\"dir\":\"recv\",\"msg\":{message}}}\n");
        }
        text.into_bytes()
    }

    fn console(&self, number: usize) -> Value {
        json!({ "method": "Runtime.consoleAPICalled", "params": { "type": "log", "args": [{ "type": "string", "value": format!("line {number}") }],
            "executionContextId": 1, "timestamp": 1.0 } })
    }

    fn frame(&self, number: usize) -> Value {
        let (id, parent) = (format!("F{}", number / 3), &self.frame);
        match number % 3 {
            0 => {
                json!({ "method": "Page.frameAttached", "params": { "frameId": id, "parentFrameId": parent } })
            }
            1 => {
                json!({ "method": "Page.frameNavigated", "params": { "type": "Navigation", "frame": { "id": id, "parentId": parent,
                "loaderId": format!("L{number}"), "url": "http://a.test/leaf", "securityOrigin": "http://a.test", "mimeType": "text/html" } } })
            }
            _ => json!({ "method": "Page.frameDetached", "params": { "frameId": id, "reason": "remove" } }),
        }
    }
}

fn journalled(events: &[Recorded]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut journal = SledJournal::open(folder.path(), Bounds::default())?;
    let run = journal.begin(&Run {
        task: "bench".into(),
        started_unix_us: 0,
        endpoint: "ws://127.0.0.1:1/".into(),
    })?;
    for block in events.chunks(BLOCK) {
        journal.append(run, block)?;
    }
    Ok(journal.barrier()?)
}

/// The same events, each written by itself with a key of sixteen bytes.
fn bare(events: &[Recorded]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = open(folder.path())?;
    for event in events {
        let key = [1_u64.to_be_bytes(), event.seq.to_be_bytes()].concat();
        store.insert(key, serde_json::to_vec(event)?)?;
    }
    store.flush()?;
    Ok(())
}

fn open(folder: &Path) -> Result<sled::Db> {
    Ok(sled::Config::new().path(folder).flush_every_ms(Some(250)).open()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floods_are_understood_and_frames_make_an_event_a_message() {
        let page = Page::of(BEGINNING).unwrap();
        let before = supervisor_transcript::drive(&page.beginning).unwrap();
        for (message, events) in [(Page::frame as Message, 300), (Page::console, 0)] {
            let replayed = supervisor_transcript::drive(&page.flood(300, message)).unwrap();
            assert_eq!(replayed.counts.inputs, before.counts.inputs + 300);
            assert!(replayed.events.len() >= before.events.len() + events, "{}", replayed.events.len());
            journalled(&replayed.events).unwrap();
            bare(&replayed.events).unwrap();
        }
    }
}
