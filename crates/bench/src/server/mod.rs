//! A synthetic browser: one page a connection, everything prebuilt, on one thread. Whatever is slow in a run is the client.

mod connection;
mod script;
mod upgrade;

use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) use connection::Connection;

/// Connections that may wait to be accepted: as many as a run makes at once, and what the system allows.
const BACKLOG: u32 = 8_192;

/// A browser that accepts connections.
pub(crate) struct Server {
    port: u16,
    connections: UnboundedReceiver<Arc<Connection>>,
}

impl Server {
    /// Listens on a free port of this machine.
    pub(crate) fn start() -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(([127, 0, 0, 1], 0).into())?;
        let listener = socket.listen(BACKLOG)?;
        let port = listener.local_addr()?.port();
        let (tell, connections) = unbounded_channel();
        tokio::spawn(accept(listener, tell));
        Ok(Self { port, connections })
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/bench", self.port)
    }

    /// The next connection.
    pub(crate) async fn connection(&mut self) -> Result<Arc<Connection>> {
        self.connections.recv().await.context("the server has ended")
    }
}

async fn accept(listener: TcpListener, tell: UnboundedSender<Arc<Connection>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let tell = tell.clone();
        tokio::spawn(async move {
            if let Err(error) = serve(stream, &tell).await {
                eprintln!("a connection failed: {error:#}");
            }
        });
    }
}

async fn serve(mut stream: TcpStream, tell: &UnboundedSender<Arc<Connection>>) -> Result<()> {
    stream.set_nodelay(true)?;
    upgrade::accept(&mut stream).await?;
    let (reader, connection) = connection::open(stream);
    let _ = tell.send(connection);
    reader.run().await;
    Ok(())
}
