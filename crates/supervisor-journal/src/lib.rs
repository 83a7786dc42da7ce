//! The journal: what became of each task, event by event, for diagnosis and regression tests.
//!
//! It is written behind a bounded queue on a thread of its own and holds nobody up; it is bounded in size and age; and it may
//! be lost: no live task ever reads it. [`Journal`] is the port; [`MemoryJournal`], [`SledJournal`] and, for programs that run
//! several times at once, [`ProcessJournal`] are its adapters; [`Keeper`] is the thread. [`JournalCopy`] reads what others write.
//!
//! A *run* is one binding of a task, from its start to its end. Its events are numbered from 1 without gaps, so that a
//! missing number is a lost record.
//!
//! The journal holds page texts and typed answers. It lives in a folder that only its owner can read.

mod copy;
mod desk;
mod error;
mod generations;
mod journal;
mod keeper;
mod memory;
mod packed;
mod port;
mod process;
mod queue;
mod record;
mod store;

pub use copy::JournalCopy;
pub use desk::PANICS;
pub use error::JournalError;
pub use generations::{Bounds, MAX_AGE, MAX_BYTES};
pub use journal::SledJournal;
pub use keeper::{Appender, Keeper};
pub use memory::{MEMORY_EVENTS, MemoryJournal};
pub use packed::{Block, VERSION};
pub use port::{Journal, Kept, Run, RunId, Summary};
pub use process::{Found, ProcessJournal, journals};
pub use queue::QUEUE;
