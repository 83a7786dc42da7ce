//! The server as clients see it.

#![cfg(test)]

mod docs;
