//! A small HTTP/1.1 server on 127.0.0.1 for the pages of the demo and of tests with a real browser.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use page_server::{PageServer, Site};
//!
//! let site = Site::new().page("/", r#"<iframe src="http://b.test:{PORT}/inner"></iframe>"#).page("/inner", "<p>hello");
//! let server = PageServer::start(site).await?;
//! println!("open {}", server.url("a.test", "/"));
//! # Ok(())
//! # }
//! ```
//!
//! Hosts below `.test` reach it from a browser that maps them to 127.0.0.1 (`--host-resolver-rules=MAP *.test
//! 127.0.0.1`). It is no server for the world: no TLS, no files, no limits, and methods and bodies are not looked at.

mod answer;
mod demo;
mod gate;
mod server;
mod site;

pub use gate::Gate;
pub use server::PageServer;
pub use site::Site;
