//! The server as its clients see it: over a pipe in memory, with a fake browser behind a real WebSocket.

#![cfg(test)]

mod arguments;
mod availability;
mod backends;
mod browser_like;
mod calls;
mod client;
mod docs;
mod life;
mod many_clients;
mod notices;
