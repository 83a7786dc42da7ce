//! Through a proxy, by `CONNECT`.

use supervisor_core::Stage;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::{Position, Url};

use crate::dial::DialError;
use crate::limits::MAX_PROXY_HEAD;
use crate::secret;
use crate::start::Stream;

/// Asks the proxy for a tunnel to the URL's host. The stream is the tunnel then.
pub(crate) async fn tunnel(stream: &mut Box<dyn Stream>, proxy: &Url, url: &Url) -> Result<(), DialError> {
    let broken = |error: std::io::Error| failed(&format!("the connection to the proxy broke ({error})"));
    stream.write_all(request(proxy, url).as_bytes()).await.map_err(broken)?;
    stream.flush().await.map_err(broken)?;
    let head = head(stream).await?;
    match status(&head) {
        Some(200..=299) => Ok(()),
        Some(status) => Err(failed(&refusal(status)).with_status(status)),
        None => Err(failed("the proxy did not answer with HTTP; check that it is an HTTP proxy")),
    }
}

fn request(proxy: &Url, url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or(443);
    let place = format!("{}:{port}", &url[Position::BeforeHost..Position::AfterHost]);
    let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n");
    if let Some(credentials) = secret::basic(proxy).as_ref().and_then(|value| value.to_str().ok()) {
        request.push_str(&format!("Proxy-Authorization: {credentials}\r\n"));
    }
    request.push_str("\r\n");
    request
}

/// Byte by byte: what follows the head belongs to the tunnel.
async fn head(stream: &mut Box<dyn Stream>) -> Result<Vec<u8>, DialError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_PROXY_HEAD {
            return Err(failed("the proxy's answer has no end; check that it is an HTTP proxy"));
        }
        let byte = stream.read_u8().await;
        head.push(byte.map_err(|error| failed(&format!("the proxy hung up ({error})")))?);
    }
    Ok(head)
}

/// Of `HTTP/1.1 200 Connection established`.
fn status(head: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(head).ok()?.lines().next()?;
    let mut words = line.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/"))?;
    words.next()?.parse().ok()
}

fn refusal(status: u16) -> String {
    let next = match status {
        407 => "it wants credentials; give them in its URL",
        403 | 405 => "it lets nobody through to there; ask whoever runs it, or go past it with NO_PROXY",
        502..=504 => "it does not reach the browser; check the browser's address",
        _ => "check that it is an HTTP proxy that allows CONNECT",
    };
    format!("the proxy answered HTTP {status}; {next}")
}

fn failed(why: &str) -> DialError {
    DialError::new(Stage::Tcp, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    async fn answered(answer: Vec<u8>) -> (Result<(), DialError>, Box<dyn Stream>) {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let mut stream: Box<dyn Stream> = Box::new(ours);
        tokio::spawn(async move {
            let mut asked = [0; 64];
            let _ = theirs.read(&mut asked).await;
            let _ = theirs.write_all(&answer).await;
        });
        let result = tunnel(&mut stream, &url("http://proxy"), &url("wss://browser.example/")).await;
        (result, stream)
    }

    #[test]
    fn it_is_asked_for_host_and_port_with_its_own_credentials() {
        let asked = request(
            &url("http://user:pass@proxy:3128"),
            &url("wss://u:secret@browser.example/?token=secret"),
        );
        let lines: Vec<_> = asked.lines().collect();
        assert_eq!(
            lines,
            [
                "CONNECT browser.example:443 HTTP/1.1",
                "Host: browser.example:443",
                "Proxy-Authorization: Basic dXNlcjpwYXNz",
                ""
            ]
        );
        assert!(request(&url("http://proxy"), &url("ws://[::1]:9222/")).starts_with("CONNECT [::1]:9222 "));
    }

    #[tokio::test]
    async fn what_follows_the_head_is_the_tunnels() {
        let (result, mut stream) = answered(b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\nfirst bytes".to_vec()).await;
        result.unwrap();
        let mut first = String::new();
        stream.read_to_string(&mut first).await.unwrap();
        assert_eq!(first, "first bytes");
    }

    #[tokio::test]
    async fn a_refusal_has_its_status_and_what_to_do() {
        for (answer, status, says) in [
            ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", Some(407), "credentials"),
            ("HTTP/1.1 403 Forbidden\r\n\r\n", Some(403), "NO_PROXY"),
            ("HTTP/1.0 502 Bad Gateway\r\n\r\n", Some(502), "does not reach"),
            ("SSH-2.0-OpenSSH\r\n\r\n", None, "HTTP proxy"),
            ("HTTP/1.1 200 OK\r\n", None, "hung up"),
        ] {
            let error = answered(answer.as_bytes().to_vec()).await.0.unwrap_err();
            assert_eq!((error.stage, error.http_status), (Stage::Tcp, status), "{}", error.reason);
            assert!(error.reason.contains(says), "{}", error.reason);
        }
    }

    /// `MAX_PROXY_HEAD`
    #[tokio::test]
    async fn a_head_at_max_proxy_head_is_read_and_a_longer_one_is_not() {
        let (start, end) = ("HTTP/1.1 200 OK\r\nX: ", "\r\n\r\n");
        let filler = MAX_PROXY_HEAD - start.len() - end.len();
        let head = |filler: usize| [start, &"x".repeat(filler), end].concat().into_bytes();
        answered(head(filler)).await.0.unwrap();
        assert!(answered(head(filler + 1)).await.0.unwrap_err().reason.contains("no end"));
    }
}
