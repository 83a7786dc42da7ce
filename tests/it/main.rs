//! One binary for all integration tests.
#![cfg(test)]

mod browser;
mod faults;
mod guide;
mod hosts;
mod import;
mod matrix;
mod mcp;
mod mcp_dialogs;
mod observe;
mod parts;
mod policies;
mod probe;
mod purity;
mod race;
mod redact;
mod replay;
mod rows;
mod scenarios;
mod schemas;
mod secrets;
mod servers;
mod transcript;
