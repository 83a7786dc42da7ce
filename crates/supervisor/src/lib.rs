//! Holds one CDP connection per browser task: dialogs, frames and calls that never hang.
