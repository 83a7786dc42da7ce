//! A TCP proxy that cuts the line.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::Result;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A proxy to a browser's port. Dropping it drops what goes through it.
pub(super) struct Wire {
    port: u16,
    state: Arc<watch::Sender<State>>,
    _accepting: JoinSet<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    to: u16,
    cuts: u64,
}

impl Wire {
    pub(super) async fn to(port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let own = listener.local_addr()?.port();
        let state = Arc::new(watch::Sender::new(State { to: port, cuts: 0 }));
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { port: own, state, _accepting: accepting })
    }

    /// The URL of this proxy, in the place of the browser's.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn lead_to(&self, port: u16) {
        self.state.send_modify(|state| *state = State { to: port, cuts: state.cuts + 1 });
    }

    pub(super) fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }

    pub(super) fn cuts(&self) -> u64 {
        self.state.borrow().cuts
    }
}

async fn accept(listener: TcpListener, state: Arc<watch::Sender<State>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((client, _)) = listener.accept() => {
                connections.spawn(pass(client, state.subscribe()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn pass(mut client: TcpStream, mut state: watch::Receiver<State>) {
    let now = *state.borrow_and_update();
    let Ok(mut browser) = TcpStream::connect((Ipv4Addr::LOCALHOST, now.to)).await else { return };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut browser) => {}
        _ = state.changed() => {}
    }
}
