//! Whether a browser answers somewhere, without supervising it.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use supervisor_core::{Code, Failure, Stage};
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::Message;

use crate::dial::{Dialling, Socket, dial};
use crate::endpoint::Endpoint;
use crate::network::Network;
use crate::secret::{self, Secret};
use crate::tcp::Way;

/// The only command that is sent: it changes nothing.
const GET_VERSION: &str = r#"{"id":1,"method":"Browser.getVersion"}"#;

/// Asks what is at this endpoint, within `limit`: its product, such as `Chrome/156.0.8078.114`, where it tells. Nothing is
/// attached to, so no page notices. Backends that sell sessions may count this as one.
///
/// # Errors
/// `start_failed` with the stage that failed; `invalid_argument` for headers or a network that cannot be used.
pub async fn knock(
    endpoint: &Endpoint,
    headers: &[(String, Secret)],
    network: &Network,
    limit: Duration,
) -> Result<Option<String>, Failure> {
    let (headers, way) = (secret::headers(headers)?, Way::of(network, None)?);
    let dialling = Dialling { headers, limit, renew: None, way };
    let deadline = Instant::now() + limit;
    let mut socket = match dial(endpoint, &dialling).await {
        Ok(dialled) => dialled.socket,
        Err(error) => {
            let failure = Failure::new(Code::StartFailed, error.reason);
            return Err(failure.with(|detail| {
                detail.stage = Some(error.stage);
                detail.http_status = error.http_status;
            }));
        }
    };
    let answer = timeout_at(deadline, ask(&mut socket)).await;
    let _ = timeout_at(deadline, socket.close(None)).await;
    answer.ok().flatten().ok_or_else(|| {
        let why = "it speaks WebSocket and does not answer Browser.getVersion, as a browser does";
        Failure::new(Code::StartFailed, why).with(|detail| detail.stage = Some(Stage::Handshake))
    })
}

/// `None` when there is no answer, `Some(None)` when it does not say what it is.
async fn ask(socket: &mut Socket) -> Option<Option<String>> {
    socket.send(Message::text(GET_VERSION)).await.ok()?;
    loop {
        let Message::Text(text) = socket.next().await?.ok()? else { continue };
        let Ok(answer) = serde_json::from_str::<Value>(&text) else { continue };
        if answer["id"] == 1 {
            return Some(answer["result"]["product"].as_str().map(str::to_owned));
        }
    }
}
