//! A wire that can be cut: a TCP proxy between a task and a browser.

use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::own_port;

/// What one read takes at most.
const CHUNK: usize = 16 * 1024;

/// A proxy on a port of its own. Dropping it ends everything that goes through it.
pub struct Proxy {
    port: u16,
    wire: Arc<watch::Sender<Wire>>,
    accepting: JoinHandle<()>,
}

/// How the wire is.
#[derive(Debug, Clone, Copy)]
struct Wire {
    /// Where new connections lead to; `None` refuses them.
    to: Option<u16>,
    /// How often it was cut: a connection ends when this has changed since it was made.
    cuts: u64,
    /// Whether nothing passes, in either direction.
    paused: bool,
    /// Connections that were ever made.
    made: u64,
    /// The connection that was dropped alone.
    cut_one: u64,
}

impl Proxy {
    /// Starts a proxy to a port of this machine.
    pub async fn to(port: u16) -> Self {
        let (listener, own_port) = own_port::listen().await;
        let wire = Arc::new(watch::Sender::new(Wire {
            to: Some(port),
            cuts: 0,
            paused: false,
            made: 0,
            cut_one: 0,
        }));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&wire)));
        Self { port: own_port, wire, accepting }
    }

    /// The proxy's own port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The same URL (`scheme://host:port/…`), through this proxy.
    #[must_use]
    pub fn through(&self, url: &str) -> String {
        own_port::through(self.port, url)
    }

    /// Drops every connection. New ones are served as before.
    pub fn cut(&self) {
        self.wire.send_modify(|wire| wire.cuts += 1);
    }

    /// Drops one connection, by its number from 1 on.
    pub fn cut_one(&self, number: u64) {
        self.wire.send_modify(|wire| wire.cut_one = number);
    }

    /// From now on, new connections are dropped as soon as they come. Those that are there stay.
    pub fn refuse(&self) {
        self.wire.send_modify(|wire| wire.to = None);
    }

    /// Drops every connection, and new ones as soon as they come.
    pub fn cut_for_good(&self) {
        self.wire.send_modify(|wire| (wire.cuts, wire.to) = (wire.cuts + 1, None));
    }

    /// From now on, new connections lead to this port.
    pub fn lead_to(&self, port: u16) {
        self.wire.send_modify(|wire| wire.to = Some(port));
    }

    /// A black hole: the connections stay, and nothing arrives any more.
    pub fn pause(&self) {
        self.wire.send_modify(|wire| wire.paused = true);
    }

    /// What was held arrives, and all goes on.
    pub fn resume(&self) {
        self.wire.send_modify(|wire| wire.paused = false);
    }

    /// How many connections were made so far, those that were refused included.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.wire.borrow().made
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Runs until it is aborted; the connections are aborted with it, as it owns them.
async fn accept(listener: TcpListener, wire: Arc<watch::Sender<Wire>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (client, _) = accepted.unwrap();
                wire.send_modify(|wire| wire.made += 1);
                let number = wire.borrow().made;
                connections.spawn(connect(client, number, wire.subscribe()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connect(client: TcpStream, number: u64, wire: watch::Receiver<Wire>) {
    let Wire { to, cuts, .. } = *wire.borrow();
    let Some(to) = to else { return };
    // A browser that is not there is refused as a closed port would be: the connection ends.
    let Ok(browser) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_browser, to_browser) = browser.into_split();
    let mut watched = wire.clone();
    tokio::select! {
        () = copy(from_client, to_browser, wire.clone()) => {}
        () = copy(from_browser, to_client, wire) => {}
        _ = watched.wait_for(|wire| wire.cuts != cuts || wire.cut_one == number) => {}
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut wire: watch::Receiver<Wire>) {
    let mut buffer = vec![0; CHUNK];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if wire.wait_for(|wire| !wire.paused).await.is_err() || to.write_all(&buffer[..length]).await.is_err()
        {
            return;
        }
    }
}
