//! `serve`: the tools for many clients, on a socket.

mod clients;
pub(crate) mod detach;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use supervisor::Supervisor;
use supervisor_mcp::McpServer;

use crate::browser::{self, Browser};
use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::settings::{Flags, Layer, Loaded, Prepared, SocketKey, TaskKeys};
use crate::signals::Signals;
use crate::socket::{self, Listener};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor serve --launch                 with a browser of its own
  cdp-supervisor serve http://127.0.0.1:9222 --detach
  cdp-supervisor snapshot                       asks it; so do dialog, eval, …
  cdp-supervisor status                         its process and its tasks

All clients share its tasks: what one connects, all see. It speaks MCP, a line a message, so that any MCP client \
that can open a Unix socket can use it too. The socket is $XDG_RUNTIME_DIR/cdp-supervisor.sock (without that \
variable, in a folder of yours for temporary files), for its owner alone. A signal ends it: dialogs that are still \
open are dismissed first, and a browser of its own is closed.

It works on one thread, which is enough for one busy browser; TOKIO_WORKER_THREADS=N gives it N.";

/// The command line of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    browser: Browser,
    /// Go on in the background: print process and socket once it can be used, and return.
    #[arg(long)]
    pub(crate) detach: bool,
    /// Where it logs in the background; without it serve.log in $XDG_STATE_HOME/cdp-supervisor.
    #[arg(long, value_name = "FILE", requires = "detach")]
    pub(crate) log_file: Option<PathBuf>,
    /// It is in the background now.
    #[arg(long, hide = true, conflicts_with = "detach")]
    detached: bool,
    /// Print process and socket as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    socket: Flags<SocketKey>,
    #[command(flatten)]
    task: Flags<TaskKeys>,
}

impl Args {
    pub(crate) fn is_detached(&self) -> bool {
        self.detached
    }

    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        [self.task.layer(), self.socket.layer()].into_iter().chain(self.browser.settings()).collect()
    }
}

/// Serves until a signal comes.
pub(crate) async fn run(args: Args, loaded: Loaded) -> Result<Exit, CliError> {
    if args.detached {
        detach::leave_the_terminal();
    }
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    // First, so that no browser is started for nothing.
    let listener = Listener::bind(&socket::path(&loaded))?;
    let launched = tokio::select! {
        _ = signals.next() => return Ok(Exit::Done),
        launched = args.browser.launched() => launched?,
    };
    let prepared = Prepared::new(&loaded, launched.as_ref());
    let served = serve(&args, listener, &prepared, &mut signals).await;
    prepared.end().await;
    let stopped = browser::stop(launched).await;
    served.and(stopped).map(|()| Exit::Done)
}

async fn serve(
    args: &Args,
    listener: Listener,
    prepared: &Prepared,
    signals: &mut Signals,
) -> Result<(), CliError> {
    let server = McpServer::new(Supervisor::start(), prepared.defaults());
    let telling = async {
        server.settled().await;
        match tell(args, listener.path()) {
            Ok(()) => std::future::pending().await,
            Err(error) => error,
        }
    };
    let served = tokio::select! {
        signal = signals.next() => {
            tracing::info!(%signal, "ending");
            Ok(())
        }
        error = telling => Err(error),
        never = clients::serve(&listener, &server) => never,
    };
    // Whoever comes now is told that there is no server.
    drop(listener);
    server.end().await;
    served
}

/// Once clients can come.
fn tell(args: &Args, socket: &Path) -> Result<(), CliError> {
    let pid = std::process::id();
    match args.json || args.detached {
        true => Screen::new().json(&json!({"pid": pid, "socket": socket}))?,
        false => {
            let text = format!("serving at {}, process {pid}", socket.display());
            Screen::new().plain(&Line::new(Kind::Good, text))?;
        }
    }
    std::io::stdout().flush()?;
    Ok(())
}
