//! One suite for each adapter, and what only a disk can do.
#![cfg(test)]

mod contract;
mod crash;
mod disk;
mod keeper;
