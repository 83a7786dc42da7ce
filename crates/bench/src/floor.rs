//! `bench-floor`: what anything that reads the socket costs at least. It reads with tokio-tungstenite and answers dialogs, and
//! nothing else; with `--envelope` it also looks at the outside of each message, as any client has to.

use anyhow::{Context, Result};
use clap::Parser;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

/// The least that a client can be.
#[derive(Parser)]
struct Args {
    /// Where the browser is.
    #[arg(long)]
    url: String,
    /// How many connections.
    #[arg(long, default_value_t = 1)]
    conns: usize,
    /// Parse the envelope of each message.
    #[arg(long)]
    envelope: bool,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Any one of a client's messages.
#[derive(Deserialize)]
struct Envelope<'a> {
    method: Option<&'a str>,
    #[serde(borrow, rename = "sessionId")]
    _session: Option<&'a str>,
    #[serde(borrow, rename = "params")]
    _params: Option<&'a RawValue>,
}

const OPENING: &str = "Page.javascriptDialogOpening";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut connecting = JoinSet::new();
    for _ in 0..args.conns {
        connecting.spawn(attach(args.url.clone()));
    }
    let mut attached = Vec::new();
    while let Some(done) = connecting.join_next().await {
        attached.push(done??);
    }
    println!("READY");
    let mut reading = JoinSet::new();
    for (socket, session) in attached {
        reading.spawn(read(socket, session, args.envelope));
    }
    while reading.join_next().await.is_some() {}
    Ok(())
}

/// Until the page is attached, and tells its dialogs.
async fn attach(url: String) -> Result<(Socket, String)> {
    let (mut socket, _) = connect_async_with_config(url, None, true).await?;
    let params = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}"#;
    let command = format!(r#"{{"id":1,"method":"Target.setAutoAttach","params":{params}}}"#);
    socket.send(Message::text(command)).await?;
    let session = loop {
        let text = next(&mut socket).await?;
        if let Some((_, rest)) = text.split_once(r#""sessionId":""#) {
            break rest.split('"').next().unwrap_or_default().to_owned();
        }
    };
    let enable = format!(r#"{{"id":2,"sessionId":"{session}","method":"Page.enable"}}"#);
    socket.send(Message::text(enable)).await?;
    while !next(&mut socket).await?.contains(r#""id":2"#) {}
    Ok((socket, session))
}

async fn next(socket: &mut Socket) -> Result<String> {
    let message = socket.next().await.context("the browser has gone")??;
    Ok(message.to_text()?.to_owned())
}

async fn read(mut socket: Socket, session: String, envelope: bool) {
    let params = r#"{"accept":true}"#;
    let mut id = 2;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        if is_dialog(&text, envelope) {
            id += 1;
            let answer = format!(
                r#"{{"id":{id},"sessionId":"{session}","method":"Page.handleJavaScriptDialog","params":{params}}}"#
            );
            if socket.send(Message::text(answer)).await.is_err() {
                return;
            }
        }
    }
}

fn is_dialog(text: &str, envelope: bool) -> bool {
    match envelope {
        false => text.contains(OPENING),
        true => serde_json::from_str::<Envelope<'_>>(text).is_ok_and(|it| it.method == Some(OPENING)),
    }
}
