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
    cut: Cut,
}

/// Which connections are cut. They are counted as they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    All,
    /// Each second one: of a task, mostly the one whose guard stays, or the guard.
    Even,
    Odd,
}

impl Cut {
    /// In turn.
    pub(super) fn at(turn: u64) -> Self {
        [Self::Even, Self::All, Self::Odd][usize::try_from(turn % 3).unwrap_or(0)]
    }

    fn is_of(self, number: u64) -> bool {
        match self {
            Self::All => true,
            Self::Even => number.is_multiple_of(2),
            Self::Odd => !number.is_multiple_of(2),
        }
    }
}

impl Wire {
    pub(super) async fn to(port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let own = listener.local_addr()?.port();
        let state = Arc::new(watch::Sender::new(State { to: port, cuts: 0, cut: Cut::All }));
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { port: own, state, _accepting: accepting })
    }

    /// The URL of this proxy, in the place of the browser's.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn lead_to(&self, port: u16) {
        self.state.send_modify(|state| *state = State { to: port, cuts: state.cuts + 1, cut: Cut::All });
    }

    pub(super) fn cut(&self, cut: Cut) {
        self.state.send_modify(|state| *state = State { cuts: state.cuts + 1, cut, ..*state });
    }

    pub(super) fn cuts(&self) -> u64 {
        self.state.borrow().cuts
    }
}

async fn accept(listener: TcpListener, state: Arc<watch::Sender<State>>) {
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            Ok((client, _)) = listener.accept() => {
                number += 1;
                connections.spawn(pass(client, number, state.subscribe()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn pass(mut client: TcpStream, number: u64, mut state: watch::Receiver<State>) {
    let then = *state.borrow_and_update();
    let Ok(mut browser) = TcpStream::connect((Ipv4Addr::LOCALHOST, then.to)).await else { return };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut browser) => {}
        _ = state.wait_for(|now| now.cuts != then.cuts && now.cut.is_of(number)) => {}
    }
}
