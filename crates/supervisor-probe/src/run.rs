//! From an endpoint to a report.

use std::pin::pin;
use std::time::Duration;

use serde_json::json;
use supervisor::{Code, Endpoint, EndpointKind, Failure, RawSocket, StartOptions, Supervisor};
use tokio::time::timeout;

use crate::check;
use crate::close;
use crate::error::{ProbeError, Trouble};
use crate::hand::Hand;
use crate::limits::{CHECK_TIMEOUT, HOLD};
use crate::line::Line;
use crate::notes::Notes;
use crate::report::{Backend, Matrix, Outcome, Report};
use crate::stage::Stage;

/// What is probed, and how patiently.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// Where the backend is.
    pub endpoint: Endpoint,
    /// How it is reached (headers, network, the time for connecting), and what a host would choose for its task. Policy, scope
    /// and bridge are the probe's own choice.
    pub start: StartOptions,
    /// The time for each check.
    pub check_timeout: Duration,
    /// How long a dialog is left open before it is answered, and how long a page may be silent before it is taken for blocked.
    /// Shorter than what the backend takes to close a dialog, it tells the wrong story.
    pub hold: Duration,
}

impl Request {
    /// A probe of this endpoint, with the usual patience.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, start: StartOptions::default(), check_timeout: CHECK_TIMEOUT, hold: HOLD }
    }
}

/// How far a probe is.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'p> {
    /// The backend answers.
    Connected(&'p Backend),
    /// The next check begins.
    Begins(&'static str),
    /// A question has its answer.
    Answered(&'p Outcome),
    /// What was opened is closed.
    Closing,
}

/// How a probe ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ended {
    /// Everything was asked.
    Finished(Box<Report>),
    /// It was stopped before that. What could not be closed, in words.
    Interrupted(Vec<String>),
}

/// Measures a backend, and closes all that it opened: also when `stop` comes first, or this is dropped (then the backend
/// throws the probe's browser context away).
///
/// It never ends the browser: nothing is closed while a dialog is open that would be lost with it.
///
/// # Errors
/// When there is no connection, or it does not become a browser's. A check that fails is no error, but an answer.
pub async fn probe(
    request: &Request,
    stop: impl Future<Output = ()>,
    tell: &mut (dyn FnMut(Progress<'_>) + Send),
) -> Result<Ended, ProbeError> {
    let mut stop = pin!(stop);
    let opened = tokio::select! {
        biased;
        () = &mut stop => return Ok(Ended::Interrupted(Vec::new())),
        opened = RawSocket::open(&request.endpoint, &request.start) => opened,
    };
    let socket = match opened {
        Ok(socket) => socket,
        Err(failure) if failure.code == Code::UnsupportedBackend => return Ok(without_cdp(request, failure)),
        Err(failure) => return Err(ProbeError::Start(failure)),
    };
    if matches!(socket.kind(), EndpointKind::Page(_)) {
        socket.close().await;
        return Err(ProbeError::PageEndpoint);
    }
    let begun = tokio::select! {
        biased;
        () = &mut stop => return Ok(Ended::Interrupted(Vec::new())),
        begun = timeout(request.start.start_timeout, begin(socket)) => begun,
    };
    let (hand, backend) = begun.map_err(|_| silent(request))??;
    let supervisor = Supervisor::start();
    let mut notes = Notes::new(tell);
    let measured = tokio::select! {
        biased;
        () = &mut stop => None,
        measured = measure(&hand, &supervisor, request, &backend, &mut notes) => Some(measured),
    };
    notes.tell(Progress::Closing);
    let connection_lost = hand.line().is_gone();
    let left_behind = close::everything(&hand, &supervisor).await;
    match measured {
        None => Ok(Ended::Interrupted(left_behind)),
        Some(Err(error)) => Err(error),
        Some(Ok(())) => Ok(finished(request, backend, notes, left_behind, connection_lost)),
    }
}

fn without_cdp(request: &Request, failure: Failure) -> Ended {
    let backend = Backend { instead: Some(failure.message), ..Backend::default() };
    Ended::Finished(Box::new(Report {
        endpoint: request.endpoint.clone(),
        backend,
        matrix: Matrix::none("no_cdp"),
        checks: Vec::new(),
        connection_lost: false,
        left_behind: Vec::new(),
    }))
}

/// The first commands: whoever answers them is a browser.
async fn begin(socket: RawSocket) -> Result<(Hand, Backend), Trouble> {
    let hand = Hand::on(Line::over(socket)).await?;
    let version = hand.send("Browser.getVersion", json!({})).await?;
    let text = |field: &str| version[field].as_str().map(str::to_owned);
    let backend =
        Backend { cdp: true, product: text("product"), protocol: text("protocolVersion"), instead: None };
    Ok((hand, backend))
}

fn silent(request: &Request) -> ProbeError {
    let limit = request.start.start_timeout.as_secs_f64();
    ProbeError::Odd { expected: "an answer to the first commands", got: format!("none within {limit} s") }
}

async fn measure(
    hand: &Hand,
    supervisor: &Supervisor,
    request: &Request,
    backend: &Backend,
    notes: &mut Notes<'_>,
) -> Result<(), ProbeError> {
    notes.tell(Progress::Connected(backend));
    let stage = Stage::set(hand, supervisor, request).await?;
    check::all(&stage, notes).await;
    Ok(())
}

fn finished(
    request: &Request,
    backend: Backend,
    notes: Notes<'_>,
    left_behind: Vec<String>,
    connection_lost: bool,
) -> Ended {
    let checks = notes.outcomes();
    let (endpoint, matrix) = (request.endpoint.clone(), Matrix::of(&checks));
    Ended::Finished(Box::new(Report { endpoint, backend, matrix, checks, connection_lost, left_behind }))
}
