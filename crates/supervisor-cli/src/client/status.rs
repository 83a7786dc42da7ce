//! `status`: what the server is doing.

use serde_json::json;
use supervisor::Status;
use supervisor_mcp::{ServerStatus, TaskStatus};

use super::gone;
use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::settings::{Flags, Layer, Loaded, SocketKey};
use crate::socket;
use crate::teller::word;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor status
  cdp-supervisor status --json | jq '.tasks[].status'
  kill $(cdp-supervisor status --json | jq .pid)    ends the server

Exit code 3 says that there is no server.";

/// The command line of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    socket: Flags<SocketKey>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        vec![self.socket.layer()]
    }
}

/// Asks and prints.
pub(crate) async fn run(args: Args, loaded: Loaded) -> Result<Exit, CliError> {
    let path = socket::path(&loaded);
    let client = super::connect(&path).await?;
    let status = client.status().await.map_err(|error| gone(&path, error))?;
    let screen = Screen::new();
    if args.json {
        let mut content = json!(status);
        content["socket"] = json!(path);
        screen.pretty(&content)?;
        return Ok(Exit::Done);
    }
    let ServerStatus { version, pid, uptime_s, .. } = &status;
    let up = length(*uptime_s);
    let text = format!("cdp-supervisor {version}, process {pid}, up {up}, at {}", path.display());
    screen.plain(&Line::new(Kind::Good, text))?;
    status.tasks.iter().try_for_each(|task| screen.plain(&line(task)))?;
    Ok(Exit::Done)
}

fn line(task: &TaskStatus) -> Line {
    let kind = match task.status {
        _ if task.pending_dialogs > 0 => Kind::Ask,
        Status::Connected => Kind::Good,
        _ => Kind::Bad,
    };
    let mut text =
        format!("task {} {} {}", task.task_id, word(&task.status).replace('_', " "), task.endpoint);
    text += &task.browser.as_ref().map(|browser| format!(", {browser}")).unwrap_or_default();
    text +=
        &format!(", {}, {}", counted(task.pages, "page"), counted(task.pending_dialogs, "waiting dialog"));
    text += &task.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    Line::new(kind, text)
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A time as people say it.
fn length(seconds: f64) -> String {
    let seconds = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs();
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, ..) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_two_parts() {
        let said = [0.4, 59.9, 60.0, 3_700.0, 90_000.0, -1.0].map(length);
        assert_eq!(said, ["0 s", "59 s", "1 min 0 s", "1 h 1 min", "1 d 1 h", "0 s"]);
    }
}
