//! The journal: what became of each task, event by event, for diagnosis and regression tests.
//!
//! It is written behind a bounded queue on a thread of its own and holds nobody up; it is bounded in size and age; and it may
//! be lost: no live task ever reads it. [`Journal`] is the port, [`MemoryJournal`] and [`SledJournal`] are its adapters, and
//! [`Keeper`] is the thread.
//!
//! A *run* is one binding of a task, from its start to its end. Its events are numbered from 1 without gaps, so that a
//! missing number is a lost record.
//!
//! The journal holds page texts and typed answers. It lives in a folder that only its owner can read.

mod error;
mod generations;
mod keeper;
mod memory;
mod port;
mod record;
mod store;

pub use error::JournalError;
pub use generations::{Bounds, MAX_AGE, MAX_BYTES};
pub use keeper::{Appender, Keeper, QUEUE};
pub use memory::MemoryJournal;
pub use port::{Journal, Kept, Run, RunId, Summary};
pub use record::VERSION;
pub use store::SledJournal;
