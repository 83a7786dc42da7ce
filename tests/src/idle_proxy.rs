//! A backend that closes idle sockets: a TCP proxy that hangs up on a connection on which nothing has passed for a time.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::own_port;

/// What one read takes at most.
const CHUNK: usize = 16 * 1024;

/// A proxy on a port of its own. Dropping it ends everything that goes through it.
pub struct IdleProxy {
    port: u16,
    seen: Arc<watch::Sender<Seen>>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    connections: u64,
    /// How often the client said something.
    heard: u64,
}

impl IdleProxy {
    /// Starts a proxy to a port of this machine. It hangs up on who is silent, both ways, for so long.
    pub async fn to(port: u16, idle: Duration) -> Self {
        let (listener, own_port) = own_port::listen().await;
        let seen = Arc::<watch::Sender<Seen>>::default();
        let accepting = tokio::spawn(accept(listener, port, idle, Arc::clone(&seen)));
        Self { port: own_port, seen, accepting }
    }

    /// The same URL (`scheme://host:port/…`), through this proxy.
    #[must_use]
    pub fn through(&self, url: &str) -> String {
        own_port::through(self.port, url)
    }

    /// How many connections were made so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.seen.borrow().connections
    }

    /// Waits until the client has said something so many times more.
    pub async fn hears(&self, more: u64, limit: Duration) {
        let mut seen = self.seen.subscribe();
        let enough = seen.borrow().heard + more;
        let heard = seen.wait_for(|seen| seen.heard >= enough);
        timeout(limit, heard).await.expect("the client is silent").unwrap();
    }
}

impl Drop for IdleProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, to: u16, idle: Duration, seen: Arc<watch::Sender<Seen>>) {
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        seen.send_modify(|seen| seen.connections += 1);
        connections.spawn(pass(client, to, idle, Arc::clone(&seen)));
    }
}

async fn pass(mut client: TcpStream, to: u16, idle: Duration, seen: Arc<watch::Sender<Seen>>) {
    let Ok(mut browser) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await else { return };
    let (mut asked, mut said) = (vec![0; CHUNK], vec![0; CHUNK]);
    loop {
        let passed = tokio::select! {
            Ok(length @ 1..) = client.read(&mut asked) => {
                seen.send_modify(|seen| seen.heard += 1);
                browser.write_all(&asked[..length]).await
            }
            Ok(length @ 1..) = browser.read(&mut said) => client.write_all(&said[..length]).await,
            () = sleep(idle) => return,
            else => return,
        };
        if passed.is_err() {
            return;
        }
    }
}
