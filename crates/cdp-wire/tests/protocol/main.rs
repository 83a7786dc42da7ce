//! Holds every modelled event, result and command against the published protocol.
//!
//! What is received: a sample with all fields must be decoded, each field that a type has into the field of that name,
//! and none may be left at its default, which is what a misspelt optional field would be. A sample without a field may
//! only be refused when the protocol promises the field for good. Every listed value must be understood.
//!
//! What is sent: each field must be in the protocol with that type, and each required one must be there.

// So that clippy knows all of this as test code.
#![cfg(test)]

mod decode;
mod encode;
mod sample;
mod schema;
