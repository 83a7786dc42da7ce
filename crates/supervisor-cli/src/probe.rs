//! `probe`: what a browser backend can do, measured with real pages.

use std::time::{Duration, Instant};

use chromium_launcher::Running;
use supervisor_probe::{Ended, Outcome, Progress, Report, Request, Value};
use tokio::sync::oneshot;

use crate::browser::{self, Browser};
use crate::error::CliError;
use crate::escape;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::settings::{self, Flags, Layer, Loaded, ReachKeys};
use crate::signals::{Signal, Signals};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor probe http://127.0.0.1:9222           by its debugging port
  cdp-supervisor probe 'wss://connect.example/?key=…'  by its signed URL
  cdp-supervisor probe ~/.config/chromium              by its user-data-dir
  cdp-supervisor probe wss://b.example --ca-file ca.pem --header 'X-Key: …'
  cdp-supervisor probe --launch --browser /opt/chrome/chrome
  cdp-supervisor probe --launch --json | jq .matrix

It opens pages of its own, in a browser context of its own where it may, and closes them afterwards, also after Ctrl-C. \
Standard error shows how far it is; standard output has the table, or the JSON, and nothing else.

Exit codes: 0 when the backend was measured, whatever came out (a backend without CDP too); 1 when there is no connection, \
or it broke; 3 without a browser to launch; 130, 143, 129 after SIGINT, SIGTERM, SIGHUP.";

/// The command line of `probe`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    browser: Browser,
    /// Print the report as one JSON object.
    #[arg(long)]
    json: bool,
    /// After how many seconds a check that has come to no result is given up.
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(3..=3_600))]
    check_timeout: u64,
    /// For how many seconds a dialog is left open before it is answered; more than a slow backend takes to close it.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=60))]
    hold: u64,
    #[command(flatten)]
    reach: Flags<ReachKeys>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        [self.reach.layer()].into_iter().chain(self.browser.settings()).collect()
    }
}

/// Measures, and prints the report.
pub(crate) async fn run(args: Args, loaded: Loaded) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    // Every site gets a process of its own, as on the desktops of users: otherwise a headless shell has no OOPIFs to measure.
    let launched = tokio::select! {
        signal = signals.next() => return Ok(Exit::Signal(signal)),
        launched = args.browser.launched_with(|launch| launch.site_per_process(true)) => launched?,
    };
    let probed = match request(&args, &loaded, launched.as_ref()) {
        Ok(request) => probed(&request, args.json, &mut signals).await,
        Err(error) => Err(error),
    };
    let stopped = browser::stop(launched).await;
    probed.and_then(|exit| stopped.map(|()| exit))
}

fn request(args: &Args, loaded: &Loaded, launched: Option<&Running>) -> Result<Request, CliError> {
    let endpoint = settings::endpoint(&loaded.settings, launched).ok_or(CliError::NoUrl)?;
    let mut request = Request::new(endpoint);
    request.start = settings::start_options(&loaded.settings, launched);
    request.check_timeout = Duration::from_secs(args.check_timeout);
    request.hold = Duration::from_secs(args.hold);
    Ok(request)
}

async fn probed(request: &Request, json: bool, signals: &mut Signals) -> Result<Exit, CliError> {
    let teller = Teller { begun: Instant::now() };
    let (caught, mut interrupted) = oneshot::channel();
    let stop = async {
        let _ = caught.send(signals.next().await);
    };
    let ended = supervisor_probe::probe(request, stop, &mut |progress| teller.tell(&progress)).await;
    match ended.map_err(|error| CliError::Probe { endpoint: request.endpoint.to_string(), error })? {
        Ended::Finished(report) => finished(json, &report, &teller),
        Ended::Interrupted(left) => interrupted_by(&mut interrupted, &left, &teller),
        _ => Ok(Exit::Failed),
    }
}

fn finished(json: bool, report: &Report, teller: &Teller) -> Result<Exit, CliError> {
    teller.left_behind(&report.left_behind);
    match json {
        true => Screen::new().json(report)?,
        false => Screen::new().text(&table(report).join("\n"))?,
    }
    match report.connection_lost {
        true => Err(CliError::Lost { endpoint: report.endpoint.to_string() }),
        false => Ok(Exit::Done),
    }
}

fn interrupted_by(
    signal: &mut oneshot::Receiver<Signal>,
    left: &[String],
    teller: &Teller,
) -> Result<Exit, CliError> {
    teller.left_behind(left);
    teller.say("ended by a signal, nothing was measured to the end");
    Ok(signal.try_recv().map_or(Exit::Failed, Exit::Signal))
}

/// The report for people: the four answers, and below them what they follow from.
fn table(report: &Report) -> Vec<String> {
    let what = match (&report.backend.product, &report.backend.instead) {
        (Some(product), _) => product.clone(),
        (None, Some(instead)) => instead.clone(),
        (None, None) => "a browser that does not say what it is".to_owned(),
    };
    let matrix = report.matrix.rows().map(|(title, verdict)| row(title, verdict));
    let checks = report.checks.iter().map(|outcome| row(outcome.row.title(), &outcome.verdict));
    let mut lines = vec![format!("{}: {what}", report.endpoint), String::new()];
    lines.extend(matrix);
    if !report.checks.is_empty() {
        lines.push(String::new());
    }
    lines.extend(checks);
    lines
}

fn row(title: &str, verdict: &dyn std::fmt::Display) -> String {
    format!("{title:<40}{verdict}")
}

/// Says on standard error how far the probe is.
struct Teller {
    begun: Instant,
}

impl Teller {
    fn tell(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Connected(backend) => {
                let product = backend.product.as_deref().unwrap_or("a browser");
                self.say(&format!("connected to {product}"));
            }
            Progress::Begins(what) => self.say(&format!("→ {what}")),
            Progress::Answered(outcome) => self.say(&answered(outcome)),
            Progress::Closing => self.say("→ closing what was opened"),
            _ => {}
        }
    }

    fn left_behind(&self, left: &[String]) {
        left.iter().for_each(|what| self.say(&format!("! could not be closed: {what}")));
    }

    fn say(&self, text: &str) {
        eprintln!("{:8.3} {}", self.begun.elapsed().as_secs_f64(), escape::line(text));
    }
}

fn answered(outcome: &Outcome) -> String {
    let Outcome { row, verdict, .. } = outcome;
    let symbol = match verdict.value {
        Value::Yes => '✓',
        Value::No => '✗',
        Value::Unknown => '?',
    };
    let detail = verdict.detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
    format!("  {symbol} {}: {verdict}{detail}", row.title())
}
