//! The WebSocket upgrade.

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// No client's request is longer.
const LONGEST: usize = 16 * 1024;

/// Reads the request and accepts it, whatever its path.
pub(crate) async fn accept(stream: &mut TcpStream) -> Result<()> {
    let head = head(stream).await?;
    let key = header(&head, "sec-websocket-key").context("the request has no Sec-WebSocket-Key")?;
    let accept = derive_accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    Ok(stream.write_all(answer.as_bytes()).await?)
}

/// A client says nothing after it before it has the answer.
async fn head(stream: &mut TcpStream) -> Result<String> {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut read).await? == 0 || read.len() > LONGEST {
            bail!("the request has no end");
        }
    }
    Ok(String::from_utf8(read)?)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}
