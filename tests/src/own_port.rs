//! What all proxies of the tests have: a port of their own, and the way to it.

use std::net::Ipv4Addr;

use tokio::net::TcpListener;

/// A listener on the loopback address, and its port.
pub(crate) async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// The same URL (`scheme://host:port/…`) at a port of this machine.
pub(crate) fn through(port: u16, url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let path = rest.split_once('/').map_or(String::new(), |(_, path)| format!("/{path}"));
    format!("{scheme}://127.0.0.1:{port}{path}")
}
