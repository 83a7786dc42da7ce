//! The clients of a server.

use std::sync::Arc;
use std::time::Duration;

use supervisor_mcp::McpServer;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::socket::Listener;

/// Clients at once. Each is a script or an agent of one user; beyond it something forgets to hang up.
const MAX_CLIENTS: usize = 256;

/// How long to wait when the system has no room for one more client: it may have some again.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes clients and serves them, for ever.
pub(crate) async fn serve<T>(listener: &Listener, server: &McpServer) -> T {
    let room = Arc::new(Semaphore::new(MAX_CLIENTS));
    loop {
        match listener.accept().await {
            Ok(stream) => match Arc::clone(&room).try_acquire_owned() {
                Ok(place) => {
                    let server = server.clone();
                    tokio::spawn(async move {
                        one(server, stream).await;
                        drop(place);
                    });
                }
                Err(_) => drop(tokio::spawn(turn_away(stream))),
            },
            Err(error) => {
                tracing::warn!(%error, "a client was not let in");
                sleep(PAUSE).await;
            }
        }
    }
}

async fn one(server: McpServer, stream: UnixStream) {
    let (reader, writer) = stream.into_split();
    if let Err(error) = server.serve(reader, writer).await {
        tracing::warn!(%error, "a client was hung up on");
    }
}

/// Says why, as the protocol does.
async fn turn_away(mut stream: UnixStream) {
    let why = format!("there are {MAX_CLIENTS} clients already; end some of them");
    let message =
        serde_json::json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": why}});
    let _ = stream.write_all(format!("{message}\n").as_bytes()).await;
}
