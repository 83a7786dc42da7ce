//! Opens a socket to a browser, stage by stage: resolve, TCP, TLS, WebSocket upgrade.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use supervisor_core::{EndpointKind, Stage};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::Error as WsError;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::http::{HeaderMap, Uri, header};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use url::Url;

use crate::endpoint::{self, Endpoint};
use crate::limits::{MAX_MESSAGE, MAX_WRITE_BUFFER, READ_BUFFER, WRITE_BUFFER};
use crate::start::Renew;
use crate::tap::Tap;
use crate::tcp::{self, Way};
use crate::{resolve, secret};

/// A socket to a browser.
pub(crate) type Socket = WebSocketStream<Tap>;

/// An open socket and what it leads to.
pub(crate) struct Dialled {
    pub(crate) socket: Socket,
    pub(crate) kind: EndpointKind,
    /// What the browser is named by, where its URL does.
    pub(crate) name: Option<String>,
    /// The endpoint as it was resolved.
    pub(crate) resolved: Endpoint,
}

/// Why there is no socket. Holds no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DialError {
    pub(crate) stage: Stage,
    pub(crate) reason: String,
    pub(crate) http_status: Option<u16>,
}

impl DialError {
    pub(crate) fn new(stage: Stage, reason: impl Into<String>) -> Self {
        Self { stage, reason: reason.into(), http_status: None }
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { http_status: Some(status), ..self }
    }
}

/// How to dial.
#[derive(Clone)]
pub(crate) struct Dialling {
    pub(crate) headers: HeaderMap,
    pub(crate) limit: Duration,
    pub(crate) renew: Option<Renew>,
    pub(crate) way: Way,
}

/// How far a dial has come, so that a deadline can tell.
pub(crate) struct Progress(Mutex<Stage>);

impl Default for Progress {
    fn default() -> Self {
        Self(Mutex::new(Stage::Resolve))
    }
}

impl Progress {
    pub(crate) fn reached(&self, stage: Stage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    fn stage(&self) -> Stage {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a socket, within the limit for everything together.
pub(crate) async fn dial(endpoint: &Endpoint, dialling: &Dialling) -> Result<Dialled, DialError> {
    let progress = Progress::default();
    match timeout(dialling.limit, dial_stages(endpoint, dialling, &progress)).await {
        Ok(result) => result,
        Err(_) => Err(too_slow(progress.stage(), dialling.limit)),
    }
}

fn too_slow(stage: Stage, limit: Duration) -> DialError {
    let waited = match stage {
        Stage::Resolve => "the endpoint to be resolved",
        Stage::Tcp => "the TCP connection",
        Stage::Tls => "the TLS handshake",
        Stage::Upgrade | Stage::Handshake => "the answer to the WebSocket upgrade",
    };
    let next = "check that a browser listens there, or allow more time";
    DialError::new(stage, format!("waited {:.1} s in all, last for {waited}; {next}", limit.as_secs_f64()))
}

async fn dial_stages(
    endpoint: &Endpoint,
    dialling: &Dialling,
    progress: &Progress,
) -> Result<Dialled, DialError> {
    let url = resolve::socket_url(endpoint, dialling, progress).await?;
    let stream = tcp::connect(&url, &dialling.way.to(endpoint), progress).await?;
    progress.reached(Stage::Upgrade);
    let request = upgrade_request(&url, &dialling.headers)?;
    let upgraded = client_async_with_config(request, Tap::upgrading(stream), Some(socket_config())).await;
    let (socket, _response) = upgraded.map_err(upgrade_error)?;
    Ok(Dialled {
        socket: with_small_buffer(socket).await,
        kind: endpoint::kind(&url),
        name: endpoint::browser_name(&url),
        resolved: Endpoint::socket(url),
    })
}

/// The buffer that the upgrade was read into would stay, and is larger.
async fn with_small_buffer(mut socket: Socket) -> Socket {
    if !socket.get_mut().begin_frames() {
        return socket;
    }
    WebSocketStream::from_raw_socket(socket.into_inner(), Role::Client, Some(socket_config())).await
}

/// Without an `Origin`, which browsers answer with 403; `Host` is the one in the URL.
fn upgrade_request(url: &Url, headers: &HeaderMap) -> Result<Request, DialError> {
    let mut bare = url.clone();
    bare.set_fragment(None);
    // Neither can fail for a URL with a host.
    let _ = (bare.set_username(""), bare.set_password(None));
    let odd = || DialError::new(Stage::Resolve, "the URL cannot be asked for; check its characters");
    let uri: Uri = bare.as_str().parse().map_err(|_| odd())?;
    let mut request = uri.into_client_request().map_err(|_| odd())?;
    request.headers_mut().extend(headers.clone());
    if let Some(value) = secret::basic(url) {
        request.headers_mut().entry(header::AUTHORIZATION).or_insert(value);
    }
    Ok(request)
}

fn socket_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_write_buffer_size(MAX_WRITE_BUFFER)
}

fn upgrade_error(error: WsError) -> DialError {
    match error {
        WsError::Http(response) => {
            let status = response.status().as_u16();
            let body = response.body().as_deref().unwrap_or_default();
            DialError::new(Stage::Upgrade, refusal(status, body)).with_status(status)
        }
        other => DialError::new(
            Stage::Upgrade,
            format!("the server did not answer as a WebSocket does ({other}); check the URL and its port"),
        ),
    }
}

fn mentions(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).any(|window| window == words)
}

fn refusal(status: u16, body: &[u8]) -> String {
    let next = match status {
        _ if mentions(body, b"Host header") => {
            "browsers accept an IP address or localhost only: give the URL with one"
        }
        // A browser's word for a page that is not there.
        500 if mentions(body, b"No such target") => {
            "there is no such page; it may have been closed, so ask for its URL again"
        }
        401 => "credentials are missing or wrong; give them in the URL or as headers",
        403 => "it is forbidden: the signature may have expired, or debugging was not allowed in the browser",
        404 => {
            "there is no such browser or page; it may have been closed or restarted, so ask for its URL again"
        }
        410 => "the session is over; start a new one and give its URL",
        429 => "there are too many connections or requests; wait, or close another session",
        500..=599 => "the server failed; try again, or look at its logs",
        _ => "check the URL",
    };
    format!("the WebSocket upgrade was answered with HTTP {status}; {next}")
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
    use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

    use super::*;

    #[test]
    fn the_request_hides_nothing_in_the_url_and_has_no_origin() {
        let url = Url::parse("wss://user:secret@host.example:8443/session?token=a#part").unwrap();
        let request = upgrade_request(&url, &HeaderMap::new()).unwrap();
        assert_eq!(request.uri(), "wss://host.example:8443/session?token=a");
        assert_eq!(request.headers()["host"], "host.example:8443");
        assert!(request.headers()["authorization"].is_sensitive());
        assert!(!request.headers().contains_key("origin"));
    }

    #[test]
    fn the_hosts_own_authorization_wins() {
        let url = Url::parse("wss://user:secret@host.example/").unwrap();
        let given = secret::headers(&[("Authorization".into(), "Bearer x".into())]).unwrap();
        assert_eq!(upgrade_request(&url, &given).unwrap().headers()["authorization"], "Bearer x");
    }

    /// Answers an upgrade, and says more in the same breath.
    async fn answer(mut peer: DuplexStream, behind: &[u8]) {
        let mut asked = Vec::new();
        while !asked.ends_with(b"\r\n\r\n") {
            assert_ne!(peer.read_buf(&mut asked).await.unwrap(), 0);
        }
        let asked = String::from_utf8(asked).unwrap();
        let key = asked.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
        let accept = derive_accept_key(key.as_bytes());
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        peer.write_all(&[head.as_bytes(), behind].concat()).await.unwrap();
    }

    #[tokio::test]
    async fn what_a_browser_says_in_one_breath_with_its_answer_is_heard() {
        let (ours, theirs) = tokio::io::duplex(4_096);
        let peer = tokio::spawn(answer(theirs, b"\x81\x05early\x81\x04next"));
        let request = "ws://browser.test/".into_client_request().unwrap();
        let socket = client_async_with_config(request, Tap::upgrading(Box::new(ours)), Some(socket_config()));
        let mut socket = with_small_buffer(socket.await.unwrap().0).await;
        for expected in ["early", "next"] {
            assert_eq!(socket.next().await.unwrap().unwrap().to_text().unwrap(), expected);
        }
        peer.await.unwrap();
    }
}
