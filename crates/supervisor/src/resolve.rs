//! From what the host gave to the URL of a socket.

use std::path::{Path, PathBuf};

use http_body_util::{BodyExt, Empty, Limited};
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use supervisor_core::Stage;
use tokio_tungstenite::tungstenite::http::HeaderMap;
use url::Url;

use crate::dial::{DialError, Dialling, Progress};
use crate::endpoint::{Endpoint, Given};
use crate::limits::MAX_VERSION_BODY;
use crate::start::Stream;
use crate::{secret, tcp};

/// The URL of the socket that this endpoint leads to now.
pub(crate) async fn socket_url(
    endpoint: &Endpoint,
    dialling: &Dialling,
    progress: &Progress,
) -> Result<Url, DialError> {
    match endpoint.given() {
        Given::Socket(url) => Ok(url.clone()),
        // Boxed: most endpoints name their socket, and it is large.
        Given::Server(url) => Box::pin(ask_server(url, dialling, progress)).await,
        Given::Profile(path) => read_profile(path.clone()).await,
    }
}

fn failed(why: impl Into<String>) -> DialError {
    DialError::new(Stage::Resolve, why)
}

async fn ask_server(url: &Url, dialling: &Dialling, progress: &Progress) -> Result<Url, DialError> {
    let stream = tcp::connect(url, &dialling.way, progress).await?;
    progress.reached(Stage::Resolve);
    let (status, body) = get(stream, request(url, version_path(url), &dialling.headers)?).await?;
    if status != StatusCode::OK {
        return Err(failed(refusal(status)).with_status(status.as_u16()));
    }
    told_url(url, &body)
}

fn version_path(url: &Url) -> String {
    if url.path().ends_with("/json/version") {
        return url.path().to_owned();
    }
    format!("{}/json/version", url.path().trim_end_matches('/'))
}

/// A request for another path of the same server.
pub(crate) fn request(
    url: &Url,
    path: impl AsRef<str>,
    headers: &HeaderMap,
) -> Result<Request<Empty<bytes::Bytes>>, DialError> {
    let mut asked = url.clone();
    asked.set_path(path.as_ref());
    let target = &asked[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &asked[url::Position::BeforeHost..url::Position::AfterPort];
    let mut request = Request::get(target)
        .header(header::HOST, host)
        .body(Empty::new())
        .map_err(|error| failed(format!("the URL cannot be asked for ({error}); give http://HOST:PORT")))?;
    request.headers_mut().extend(headers.clone());
    if let Some(value) = secret::basic(url) {
        request.headers_mut().entry(header::AUTHORIZATION).or_insert(value);
    }
    Ok(request)
}

pub(crate) type Answer = (StatusCode, bytes::Bytes);

pub(crate) async fn get(
    stream: Box<dyn Stream>,
    request: Request<Empty<bytes::Bytes>>,
) -> Result<Answer, DialError> {
    let broken = |error: &dyn std::fmt::Display| {
        failed(format!(
            "/json/version was not answered with HTTP ({error}); is this a browser's debugging port?"
        ))
    };
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(&error))?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_VERSION_BODY)
            .collect()
            .await
            .map_err(|error| broken(&error))?;
        Ok((status, body.to_bytes()))
    };
    // The connection does the reading and writing; it has no answer of its own to wait for.
    tokio::pin!(exchange, connection);
    tokio::select! {
        biased;
        answer = &mut exchange => answer,
        _ = &mut connection => exchange.await,
    }
}

fn refusal(status: StatusCode) -> String {
    let next = match status.as_u16() {
        404 => {
            "a browser whose debugging was allowed at chrome://inspect has no such page: give the path of its \
             user-data-dir instead (its DevToolsActivePort file names the socket)"
        }
        401 | 403 => "the credentials are missing or refused; give them in the URL or as headers",
        500..=599 => {
            "the server failed; a browser answers 500 when it is asked by a host name, so give its IP address or localhost"
        }
        _ => "is this a browser's debugging port?",
    };
    format!("/json/version was answered with HTTP {status}; {next}", status = status.as_u16())
}

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "webSocketDebuggerUrl")]
    socket: String,
}

/// The socket that the server names, at the host and port that it was asked at: behind a forwarded port a browser only
/// knows its own.
fn told_url(asked: &Url, body: &[u8]) -> Result<Url, DialError> {
    let odd =
        || failed("/json/version names no usable webSocketDebuggerUrl; is this a browser's debugging port?");
    let version: Version = serde_json::from_slice(body).map_err(|_| odd())?;
    let told = Url::parse(&version.socket)
        .ok()
        .filter(|url| matches!(url.scheme(), "ws" | "wss"))
        .ok_or_else(odd)?;
    let mut socket = asked.clone();
    socket.set_scheme(if asked.scheme() == "https" { "wss" } else { "ws" }).map_err(|()| odd())?;
    socket.set_path(told.path());
    socket.set_query(told.query().or(asked.query()));
    socket.set_fragment(None);
    Ok(socket)
}

async fn read_profile(profile: PathBuf) -> Result<Url, DialError> {
    let read = tokio::task::spawn_blocking(move || read_active_port(&profile)).await;
    read.unwrap_or_else(|_| Err(failed("the runtime is shutting down")))
}

fn read_active_port(profile: &Path) -> Result<Url, DialError> {
    let file = profile.join("DevToolsActivePort");
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let next = "the browser writes it once it listens: check that it runs with this profile and with \
                    --remote-debugging-port or debugging allowed at chrome://inspect";
        failed(format!("{} cannot be read ({error}); {next}", file.display()))
    })?;
    active_port_url(&text).ok_or_else(|| {
        failed(format!("{} is not complete; expected a port and a path, one a line", file.display()))
    })
}

fn active_port_url(text: &str) -> Option<Url> {
    let mut lines = text.lines().map(str::trim);
    let port: u16 = lines.next()?.parse().ok().filter(|port| *port != 0)?;
    let path = lines.next().filter(|path| path.starts_with("/devtools/"))?;
    Url::parse(&format!("ws://127.0.0.1:{port}{path}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(asked: &str, socket: &str) -> String {
        let body = serde_json::json!({"Browser": "Chrome/1", "webSocketDebuggerUrl": socket}).to_string();
        told_url(&Url::parse(asked).unwrap(), body.as_bytes()).unwrap().into()
    }

    #[test]
    fn the_socket_is_where_the_host_asked() {
        let socket = "ws://127.0.0.1:9222/devtools/browser/1";
        assert_eq!(told("http://localhost:41000/", socket), "ws://localhost:41000/devtools/browser/1");
        assert_eq!(told("https://u:p@h.example/", socket), "wss://u:p@h.example/devtools/browser/1");
        assert_eq!(told("https://h.example/?token=a", socket), "wss://h.example/devtools/browser/1?token=a");
        let signed = "wss://127.0.0.1/s?token=b";
        assert_eq!(told("https://h.example/?token=a", signed), "wss://h.example/s?token=b");
    }

    #[test]
    fn an_answer_without_a_socket_is_no_browser() {
        let asked = Url::parse("http://h/").unwrap();
        for body in
            ["", "{}", "[]", r#"{"webSocketDebuggerUrl":"x"}"#, r#"{"webSocketDebuggerUrl":"http://h/"}"#]
        {
            let error = told_url(&asked, body.as_bytes()).unwrap_err();
            assert_eq!(error.stage, Stage::Resolve);
        }
    }

    #[test]
    fn a_profile_names_its_socket() {
        let url = active_port_url("41234\n/devtools/browser/6f\n").unwrap();
        assert_eq!(url.as_str(), "ws://127.0.0.1:41234/devtools/browser/6f");
        for text in ["", "41234", "0\n/devtools/browser/6f", "41234\nx", "x\n/devtools/browser/6f"] {
            assert_eq!(active_port_url(text), None, "{text:?}");
        }
    }
}
