//! The supervisor as an MCP server: the tools that an agent calls, when they are there, and what they answer.
//!
//! ```no_run
//! # async fn example() -> Result<(), supervisor_mcp::ServeError> {
//! use supervisor::Supervisor;
//! use supervisor_mcp::{Defaults, McpServer};
//!
//! let server = McpServer::new(Supervisor::start(), Defaults::default());
//! server.serve_stdio().await
//! # }
//! ```
//!
//! Each tool is a file in `tools`. A tool's result is an object with `success`, and while the task has a browser with
//! `pending_dialogs`, so that an agent cannot miss one; it is given as structured content and as text. A failure is such a
//! result too, with `isError` and the one shape of [`supervisor::Failure`]. Texts from pages are untrusted.

mod advice;
mod answer;
mod arguments;
mod client;
mod counted;
mod defaults;
pub mod docs;
mod hub;
mod known;
pub mod limits;
mod notice;
mod progress;
mod schema;
mod seconds;
mod serve;
mod server;
mod session;
mod status;
mod tools;
mod watch;
mod wish;

pub use answer::ToolAnswer;
pub use client::{ClientError, ToolClient};
pub use defaults::Defaults;
pub use serve::ServeError;
pub use server::McpServer;
pub use status::{ServerStatus, TaskStatus};
