//! The `cdp-supervisor` command.
fn main() {}
