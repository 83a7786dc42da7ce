//! A server that names no socket may be a browser's port or something else altogether: then the failure says so.

use serde_json::Value;
use supervisor_core::{Code, Failure, Stage};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::dial::{DialError, Dialling, Progress};
use crate::endpoint::{Endpoint, Given};
use crate::limits::BACKEND_PROBE;
use crate::{resolve, tcp};

/// The failure as it is, or `unsupported_backend` where the server serves other things and no CDP. The start has until
/// `deadline`.
pub(crate) async fn explained(
    endpoint: &Endpoint,
    dialling: &Dialling,
    failure: Failure,
    deadline: Instant,
) -> Failure {
    let Given::Server(url) = endpoint.given() else { return failure };
    if !names_no_socket(&failure) {
        return failure;
    }
    let deadline = deadline.min(Instant::now() + BACKEND_PROBE);
    let is_found = failure.detail.http_status.is_none();
    match timeout_at(deadline, what_it_is(url, dialling, is_found)).await {
        Ok(Some(what)) => unsupported(what, failure),
        _ => failure,
    }
}

/// It answered, and not because credentials are missing or it failed.
fn names_no_socket(failure: &Failure) -> bool {
    failure.detail.stage == Some(Stage::Resolve)
        && matches!(failure.detail.http_status, None | Some(404 | 405))
}

/// What a server is that serves other things. A browser's port has no `/health`; its `/` may be there, empty or not, even
/// where it has no `/json/version`, so that one tells only where something else is found there.
async fn what_it_is(url: &Url, dialling: &Dialling, version_is_found: bool) -> Option<&'static str> {
    let health = ask(url, "/health", dialling).await.ok();
    let engine = health.as_ref().and_then(|(_, body)| serde_json::from_slice::<Value>(body).ok());
    if engine.is_some_and(|health| health["engine"] == "camoufox") {
        return Some("it is Camofox, which is driven by REST only");
    }
    let mut serves = health.is_some_and(|(status, _)| status.is_success());
    if !serves && version_is_found {
        serves =
            ask(url, "/", dialling).await.is_ok_and(|(status, body)| status.is_success() && !body.is_empty());
    }
    serves.then_some("it serves HTTP but names no DevTools socket at /json/version")
}

async fn ask(url: &Url, path: &str, dialling: &Dialling) -> Result<resolve::Answer, DialError> {
    let stream = tcp::connect(url, &dialling.way, &Progress::default()).await?;
    resolve::get(stream, resolve::request(url, path, &dialling.headers)?).await
}

fn unsupported(what: &str, failure: Failure) -> Failure {
    let message = format!(
        "This backend cannot be supervised: {what}. Without the Chrome DevTools Protocol there are no dialogs and frames to \
         see; use the backend's own snapshot. If it does speak the protocol elsewhere, give that ws:// or wss:// URL."
    );
    Failure { code: Code::UnsupportedBackend, message, ..failure }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that has these paths and no other.
    async fn server(paths: &'static [(&'static str, &'static str)]) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4096];
                let length = stream.read(&mut head).await.unwrap();
                let head = String::from_utf8_lossy(&head[..length]);
                let path = head.split(' ').nth(1).unwrap_or_default();
                let (status, body) = match paths.iter().find(|(known, _)| *known == path) {
                    Some((_, body)) => ("200 OK", *body),
                    None => ("404 Not Found", ""),
                };
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Endpoint::parse(&format!("http://127.0.0.1:{port}")).unwrap()
    }

    async fn start(endpoint: &Endpoint) -> Failure {
        let supervisor = crate::Supervisor::start();
        let options = crate::Options::default();
        supervisor.get_or_start("t", &endpoint.to_string(), options).await.unwrap_err()
    }

    #[tokio::test]
    async fn a_rest_backend_is_told_by_name() {
        let camofox = server(&[("/health", r#"{"ok":true,"engine":"camoufox"}"#)]).await;
        let failure = start(&camofox).await;
        assert_eq!((failure.code, failure.detail.http_status), (Code::UnsupportedBackend, Some(404)));
        assert!(failure.message.contains("Camofox"), "{failure}");
    }

    #[tokio::test]
    async fn any_other_server_is_told_for_what_it_is() {
        let site = server(&[("/", "<h1>hello</h1>"), ("/json/version", "{}")]).await;
        let failure = start(&site).await;
        assert_eq!(failure.code, Code::UnsupportedBackend, "{failure}");
        assert!(failure.message.contains("give that ws:// or wss:// URL"), "{failure}");
    }

    /// As a browser whose debugging was allowed by hand: it has a socket, but no page that names it.
    #[tokio::test]
    async fn a_port_without_any_page_may_be_a_browsers() {
        let failure = start(&server(&[("/", "")]).await).await;
        assert_eq!((failure.code, failure.detail.http_status), (Code::StartFailed, Some(404)));
    }
}
