//! The names of everything in the synthetic browser. Each connection is a browser of its own, so that all can be the same,
//! and what is written to one is built once for all.

/// The page, and its main frame.
pub const PAGE: &str = "0E9D5F4CB7A34C71B1F7C0DE5A9E11D3";
/// The tab around it, for clients that attach to tabs.
pub const TAB: &str = "7AB05F4CB7A34C71B1F7C0DE5A9E11D3";
/// The page's session.
pub const SESSION: &str = "5E55104CB7A34C71B1F7C0DE5A9E11D3";
/// The tab's session.
pub const TAB_SESSION: &str = "7AB5E55CB7A34C71B1F7C0DE5A9E11D3";
/// The browser context.
pub const CONTEXT: &str = "C0417E8CB7A34C71B1F7C0DE5A9E11D3";
/// The page's document.
pub const URL: &str = "http://bench.test/";

/// The id of an iframe.
#[must_use]
pub fn frame(number: usize) -> String {
    format!("F{number:031X}")
}
