//! What is measured, one file a subject.

pub(crate) mod bridge;
pub(crate) mod clients;
pub(crate) mod dialogs;
pub(crate) mod earlier;
pub(crate) mod frames;
pub(crate) mod unload;
