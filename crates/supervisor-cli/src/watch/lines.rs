//! `watch` where nobody sits at a terminal: one line an event, for people or as JSON.

use std::time::Duration;

use serde_json::json;
use supervisor::{Observed, Recorded, Snapshot, Task};

use crate::error::CliError;
use crate::screen::{Kind, Line, Screen};
use crate::teller::Teller;

/// Prints events until the task ends.
pub(super) async fn run(task: &Task, json: bool) -> Result<(), CliError> {
    let mut events = task.events();
    let mut view = View::new(json);
    view.beginning(task)?;
    while let Some(observed) = events.recv().await {
        match observed {
            Observed::Event(event) => view.event(&event)?,
            Observed::Lagged(missed) => view.lagged(missed, task)?,
        }
    }
    Ok(())
}

/// What is printed.
struct View {
    screen: Screen,
    json: bool,
    teller: Teller,
    /// The time of the last event: lines that are about no event come at the same time.
    at: Duration,
    /// The last event that the snapshot has which was printed last.
    version: u64,
}

impl View {
    fn new(json: bool) -> Self {
        Self { screen: Screen::new(), json, teller: Teller::default(), at: Duration::ZERO, version: 0 }
    }

    fn beginning(&mut self, task: &Task) -> std::io::Result<()> {
        let snapshot = task.snapshot();
        if !self.json {
            let browser = snapshot.status.browser.as_deref().unwrap_or("a browser");
            self.say(&Line::new(Kind::Good, format!("watching {browser} at {}", task.endpoint())))?;
        }
        self.present(&snapshot)
    }

    fn present(&mut self, snapshot: &Snapshot) -> std::io::Result<()> {
        self.version = snapshot.version;
        if self.json {
            return self.screen.json(&json!({ "snapshot": snapshot }));
        }
        let lines = self.teller.present(snapshot);
        lines.iter().try_for_each(|line| self.say(line))
    }

    fn event(&mut self, recorded: &Recorded) -> std::io::Result<()> {
        if recorded.seq <= self.version {
            return Ok(());
        }
        if self.json {
            return self.screen.json(recorded);
        }
        self.at = Duration::from_micros(recorded.at.0);
        let lines = self.teller.tell(&recorded.event);
        lines.iter().try_for_each(|line| self.say(line))
    }

    fn lagged(&mut self, missed: u64, task: &Task) -> std::io::Result<()> {
        match self.json {
            true => self.screen.json(&json!({ "lagged": missed }))?,
            false => self.say(&Line::new(
                Kind::Warn,
                format!("{missed} events were missed; this is what is there now"),
            ))?,
        }
        self.present(&task.snapshot())
    }

    fn say(&self, line: &Line) -> std::io::Result<()> {
        self.screen.line(self.at, line)
    }
}
