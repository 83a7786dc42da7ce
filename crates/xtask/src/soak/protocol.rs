//! What the driver and the supervising process say to each other: one JSON object a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use supervisor::{Bridge, DialogPolicy};

/// What the supervising process is told on its standard input.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(super) enum Order {
    /// Supervise these, and nothing else.
    Bind { tasks: Vec<Binding> },
    /// Call no more.
    Pause,
    /// Come to rest, and tell what is held then.
    Rest,
    /// Go on.
    Work,
    /// Stop everything, and tell what is left.
    End,
}

/// One task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) url: String,
    /// The browser context that it may see.
    pub(super) context: String,
    pub(super) policy: DialogPolicy,
    pub(super) bridge: Bridge,
    pub(super) guard: bool,
}

/// What it tells on its standard output.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "snake_case")]
pub(super) enum Told {
    /// How it is; one a second.
    Sample(Sample),
    /// The tasks are connected, or this one is not.
    Bound { failure: Option<String> },
    /// How it is at rest, or why it does not come to rest.
    Rested { sample: Sample, failure: Option<String> },
    /// Everything was stopped.
    Ended { sample: Sample },
}

/// How the supervising process is at one moment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Sample {
    /// Seconds since it started.
    pub(super) at: f64,
    /// Resident memory: what is in use, and what the allocator keeps for later or cannot give back.
    pub(super) rss_kib: u64,
    /// The part of it that is no page of a file: what the program has written. Pages of the program's own file come and go
    /// as the system has need of them.
    pub(super) own_kib: u64,
    /// What is in use on the heap.
    pub(super) heap_kib: u64,
    pub(super) threads: u64,
    /// Open file handles.
    pub(super) handles: u64,
    pub(super) tokio_tasks: u64,
    /// Threads of the journal's store, which come and go as it likes. They are not in `threads`.
    pub(super) store_threads: u64,
    /// Journal and recordings.
    pub(super) disk_kib: u64,
    /// Records by kind, over all tasks.
    pub(super) records: BTreeMap<String, u64>,
    /// What has happened so far, by kind.
    pub(super) counts: BTreeMap<String, u64>,
}
