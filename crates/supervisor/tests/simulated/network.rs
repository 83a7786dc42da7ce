//! A network in memory with a browser at its end.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use browser_model::{Action, Browser, Config, Truth};
use futures_util::{SinkExt as _, StreamExt as _};
use simulator::Draw;
use supervisor::{Connect, Stream};
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

/// Small, so that a peer that does not read is felt.
const PIPE: usize = 8 * 1024;

/// The browser and the way to it.
#[derive(Clone)]
pub(crate) struct Network {
    inner: Arc<Mutex<Inner>>,
    /// Something happened in the browser, or to the network.
    changed: Arc<Notify>,
}

struct Inner {
    browser: Browser,
    draw: Draw,
    /// Sockets that were opened so far; the last one is the browser's client.
    sockets: u64,
    /// The socket with this number is to break.
    broken: u64,
    dials_fail: u8,
    dial_takes: Duration,
    /// How long the browser takes for its next word, at most.
    pace: Duration,
    /// It neither reads nor says anything.
    is_frozen: bool,
    /// What it says again and again when it has nothing else to say.
    flood: Option<String>,
}

impl Network {
    pub(crate) fn new(config: Config, seed: u64) -> Self {
        let inner = Inner {
            browser: Browser::new(config),
            draw: Draw::new(seed),
            sockets: 0,
            broken: 0,
            dials_fail: 0,
            dial_takes: Duration::ZERO,
            pace: Duration::from_millis(2),
            is_frozen: false,
            flood: None,
        };
        Self { inner: Arc::new(Mutex::new(inner)), changed: Arc::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way that a task takes to the browser.
    pub(crate) fn connect(&self) -> Connect {
        let network = self.clone();
        Arc::new(move |_, _| {
            let network = network.clone();
            Box::pin(async move { network.dialled().await })
        })
    }

    async fn dialled(self) -> io::Result<Box<dyn Stream>> {
        let takes = self.inner().dial_takes;
        sleep(takes).await;
        if self.is_refused() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (ours, theirs) = tokio::io::duplex(PIPE);
        tokio::spawn(self.serve(theirs));
        Ok(Box::new(ours))
    }

    fn is_refused(&self) -> bool {
        let mut inner = self.inner();
        let left = inner.dials_fail.checked_sub(1);
        inner.dials_fail = left.unwrap_or_default();
        left.is_some()
    }

    /// The browser's end of one socket.
    async fn serve(self, stream: DuplexStream) {
        let Ok(mut socket) = accept_async(stream).await else { return };
        let number = self.opened();
        while !self.is_over(number) {
            if self.inner().is_frozen {
                self.changed.notified().await;
                continue;
            }
            let pause = self.pause();
            tokio::select! {
                biased;
                message = socket.next() => match message {
                    Some(Ok(Message::Text(text))) => self.hear(&text),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    _ => break,
                },
                () = self.changed.notified() => {}
                () = sleep(pause.unwrap_or_default()), if pause.is_some() => {
                    let Some(text) = self.say() else { continue };
                    if socket.send(Message::text(text)).await.is_err() {
                        break;
                    }
                }
            }
        }
        self.closed(number);
    }

    /// A client is there; one that was there before is gone, whether the browser has noticed or not.
    fn opened(&self) -> u64 {
        let mut inner = self.inner();
        if inner.sockets > 0 {
            inner.browser.act(Action::DropSocket);
        }
        inner.sockets += 1;
        inner.sockets
    }

    fn closed(&self, number: u64) {
        let mut inner = self.inner();
        if inner.sockets == number {
            inner.browser.act(Action::DropSocket);
        }
        if inner.browser.is_dead() {
            inner.browser.restart();
        }
    }

    fn is_over(&self, number: u64) -> bool {
        let inner = self.inner();
        inner.sockets != number || inner.broken >= number || inner.browser.is_dead()
    }

    /// How long the browser takes for its next word; none while it has nothing to say.
    fn pause(&self) -> Option<Duration> {
        let mut inner = self.inner();
        let pace = inner.pace;
        let has_words = inner.flood.is_some() || !inner.browser.ready().is_empty();
        has_words.then(|| inner.draw.up_to(pace))
    }

    fn hear(&self, text: &str) {
        self.inner().browser.receive(text);
    }

    fn say(&self) -> Option<String> {
        let mut inner = self.inner();
        let ready = inner.browser.ready();
        if ready.is_empty() {
            return inner.flood.clone();
        }
        let nth = inner.draw.below(ready.len());
        let source = *ready.get(nth)?;
        inner.browser.emit(source)
    }

    pub(crate) fn act(&self, action: Action) {
        match action {
            Action::DropSocket => self.break_socket(),
            action => {
                self.inner().browser.act(action);
            }
        }
        self.changed.notify_one();
    }

    pub(crate) fn break_socket(&self) {
        let mut inner = self.inner();
        inner.broken = inner.sockets;
        drop(inner);
        self.changed.notify_one();
    }

    pub(crate) fn dials_fail(&self, times: u8) {
        self.inner().dials_fail = times;
    }

    pub(crate) fn dial_takes(&self, time: Duration) {
        self.inner().dial_takes = time;
    }

    /// From now on the browser does nothing, and takes nothing.
    pub(crate) fn freeze(&self) {
        self.inner().is_frozen = true;
    }

    /// From now on the browser says this whenever it has nothing else to say.
    pub(crate) fn flood(&self, text: String) {
        self.inner().flood = Some(text);
        self.changed.notify_one();
    }

    pub(crate) fn pace(&self, pace: Duration) {
        self.inner().pace = pace;
    }

    /// Everything goes as usual from now on, and navigations that were slow come.
    pub(crate) fn calm(&self) {
        self.dials_fail(0);
        self.dial_takes(Duration::ZERO);
        self.pace(Duration::from_millis(2));
        self.inner().browser.finish_all();
        self.changed.notify_one();
    }

    /// People close a dialog that is open; a page whose dialog nobody can answer is left. `false` when there is none.
    pub(crate) fn close_a_dialog(&self) -> bool {
        let truth = self.truth();
        let Some(dialog) = truth.dialogs.first() else { return false };
        if truth.dialogs.iter().any(|dialog| dialog.answerable) {
            self.act(Action::CloseDialog { nth: 0, accept: false });
        } else {
            self.inner().browser.leave_page(&dialog.page);
            self.changed.notify_one();
        }
        true
    }

    pub(crate) fn truth(&self) -> Truth {
        self.inner().browser.truth()
    }
}
