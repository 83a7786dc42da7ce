//! Lines while it runs, and a page with charts afterwards.

use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::Record;
use super::child::Samples;
use super::counts::Counts;
use super::verdict::Verdict;

const PAGE: &str = include_str!("report.html");

/// What of the counts is in a line.
const SHOWN: [(&str, &str); 6] = [
    ("dialogs", "dialog ended"),
    ("crashes", "crash"),
    ("reconnects", "reconnected"),
    ("iframes", "iframe attached"),
    ("popups", "popup attached"),
    ("calls", "call ended"),
];

/// Prints a line now and then, until it is aborted.
pub(super) async fn progress(
    samples: Samples,
    driven: Counts,
    begun: Instant,
    length: Duration,
    every: Duration,
) {
    loop {
        sleep(every.min(length / 5)).await;
        let last = samples.lock().unwrap_or_else(PoisonError::into_inner).last().cloned().unwrap_or_default();
        let seen =
            SHOWN.map(|(label, name)| format!("{} {label}", last.counts.get(name).copied().unwrap_or(0)));
        let swaps = driven.all().get("swap").copied().unwrap_or(0);
        println!(
            "{} of {}: {:.1} MiB, {} threads, {} handles, {} tokio tasks; {}, {swaps} swaps",
            clock(begun.elapsed()),
            clock(length),
            last.own_kib as f64 / 1024.0,
            last.threads,
            last.handles,
            last.tokio_tasks,
            seen.join(", ")
        );
    }
}

fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Writes `soak.json` and `soak.html`.
///
/// # Errors
/// When the folder cannot be written to.
pub(super) fn write(folder: &Path, record: &Record, verdict: &Verdict) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let all = serde_json::json!({ "record": record, "verdict": verdict, "flat": verdict.is_flat() });
    let text = serde_json::to_string(&all)?;
    std::fs::write(folder.join("soak.json"), &text)?;
    std::fs::write(folder.join("soak.html"), page(&text)).context("writing the page")
}

/// Inside a script element no text may end it.
fn page(json: &str) -> String {
    PAGE.replace("\"{DATA}\"", &json.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_contains_the_data_and_nothing_from_elsewhere() {
        let page = page(r#"{"a":"</script><b>"}"#);
        assert!(page.contains(r#"{"a":"\u003c/script>\u003cb>"}"#));
        assert!(["{DATA}", "src=", "href=", "import"].iter().all(|part| !page.contains(part)));
    }
}
