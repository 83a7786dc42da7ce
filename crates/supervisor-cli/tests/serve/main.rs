//! `serve` and its clients, as a user runs them.
#![allow(clippy::unwrap_used)]

mod home;
mod server;

/// These need a Chromium.
mod browser {
    mod dialogs;
    mod launched;
}
