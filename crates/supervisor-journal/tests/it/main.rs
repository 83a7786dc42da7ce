//! One suite for each adapter, and what only a disk can do.
#![cfg(test)]

mod bounds;
mod contract;
mod copy;
mod crash;
mod disk;
mod keeper;
mod model;
mod packed;
mod process;
