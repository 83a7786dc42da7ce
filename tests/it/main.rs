//! One binary for all integration tests.
#![cfg(test)]

mod browser;
mod observe;
mod purity;
mod replay;
