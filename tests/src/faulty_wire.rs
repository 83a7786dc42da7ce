//! A wire with faults: a TCP proxy that cuts, resets, drips or garbles what the browser says, by plan.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use crate::own_port;

/// What one read takes at most.
const CHUNK: usize = 16 * 1024;

/// What becomes of one connection. The default is none of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    /// The connection ends after so many bytes from the browser.
    pub cut_after: Option<usize>,
    /// It ends with a reset, as when a machine in between forgot it.
    pub reset: bool,
    /// Bytes from the browser arrive in pieces of this size, each after such a pause.
    pub drip: Option<(usize, Duration)>,
    /// This byte from the browser arrives with all its bits turned over.
    pub garble: Option<usize>,
}

/// A proxy on a port of its own. Dropping it ends everything that goes through it.
pub struct FaultyWire {
    port: u16,
    made: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl FaultyWire {
    /// Starts a proxy to a port of this machine. `plan` is asked for each connection, by its number from 0 on.
    pub async fn to(port: u16, plan: impl Fn(usize) -> Plan + Send + 'static) -> Self {
        let (listener, own_port) = own_port::listen().await;
        let made = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&made);
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                connections.spawn(connect(client, port, plan(counted.fetch_add(1, Ordering::SeqCst))));
            }
        });
        Self { port: own_port, made, accepting }
    }

    /// The same URL (`scheme://host:port/…`), through this proxy.
    #[must_use]
    pub fn through(&self, url: &str) -> String {
        own_port::through(self.port, url)
    }

    /// How many connections were made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

impl Drop for FaultyWire {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn connect(client: TcpStream, to: u16, plan: Plan) {
    let Ok(browser) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await else { return };
    if plan.reset {
        client.set_zero_linger().unwrap();
    }
    let (from_client, to_client) = client.into_split();
    let (from_browser, to_browser) = browser.into_split();
    tokio::select! {
        () = copy(from_client, to_browser, Plan::default()) => {}
        () = copy(from_browser, to_client, plan) => {}
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, plan: Plan) {
    let mut buffer = vec![0; CHUNK];
    let mut passed = 0;
    let end = plan.cut_after.unwrap_or(usize::MAX);
    let (piece, pause) = plan.drip.unwrap_or((CHUNK, Duration::ZERO));
    while passed < end {
        let Ok(length @ 1..) = from.read(&mut buffer).await else { return };
        let length = length.min(end - passed);
        if let Some(at) = plan.garble.and_then(|at| at.checked_sub(passed)).filter(|at| *at < length) {
            buffer[at] = !buffer[at];
        }
        for part in buffer[..length].chunks(piece) {
            if to.write_all(part).await.is_err() {
                return;
            }
            if plan.drip.is_some() {
                sleep(pause).await;
            }
        }
        passed += length;
    }
}
