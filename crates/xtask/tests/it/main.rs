//! The chores that are programs of their own.
#![cfg(test)]

mod browser;
