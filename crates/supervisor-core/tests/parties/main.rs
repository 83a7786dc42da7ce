//! Properties of dialogs that several parties answer: the host, policies, the watchdog, `stop`, other clients, on a main
//! connection and a guard that come and go in any order.
#![cfg(test)]

mod browser;
mod check;
mod commands;
mod properties;
mod script;
mod world;
