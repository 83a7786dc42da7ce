//! What the synthetic browser says, as the bench writes it to sockets and as the benches of the core read it.

pub mod frames;
pub mod ids;
pub mod load;
pub mod recording;
