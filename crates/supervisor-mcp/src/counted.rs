//! How many there are of something.

use tokio::sync::watch;

/// One of those that are counted, until it is dropped.
pub(crate) struct Counted(watch::Sender<usize>);

impl Counted {
    /// Counted from now on.
    pub(crate) fn one_more(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
