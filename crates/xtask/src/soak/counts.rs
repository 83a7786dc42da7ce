//! Counts of what happened, by name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Shared counts. The names are few and made here, never by a page.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts(Arc<Mutex<BTreeMap<String, u64>>>);

impl Counts {
    pub(super) fn add(&self, name: impl Into<String>) {
        self.add_many(name, 1);
    }

    pub(super) fn add_many(&self, name: impl Into<String>, count: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name.into()).or_default() += count;
    }

    pub(super) fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
