//! One binary for all integration tests.
#![cfg(test)]

mod browser;
mod purity;
mod replay;
