//! Holds a response until a test lets it go: a condition, where a delay would be a guess.

use std::sync::Arc;

use tokio::sync::watch;

/// A gate that is closed until [`Gate::release`]. Its clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<State>>);

#[derive(Debug, Clone, Copy, Default)]
struct State {
    open: bool,
    /// Requests that have come so far, also those that did not have to wait.
    arrived: usize,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate::new()
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Gate {
        Gate(Arc::new(watch::Sender::new(State::default())))
    }

    /// Opens it, for good.
    pub fn release(&self) {
        self.0.send_modify(|state| state.open = true);
    }

    /// Waits until at least so many requests have come to it, whether they still wait or not.
    pub async fn arrived(&self, requests: usize) {
        self.until(|state| state.arrived >= requests).await;
    }

    /// A request comes, and goes on when the gate is open.
    pub(crate) async fn pass(&self) {
        self.0.send_modify(|state| state.arrived += 1);
        self.until(|state| state.open).await;
    }

    async fn until(&self, condition: impl Fn(&State) -> bool) {
        // It fails only when the sender is gone, and `self` holds it.
        let _ = self.0.subscribe().wait_for(condition).await;
    }
}
