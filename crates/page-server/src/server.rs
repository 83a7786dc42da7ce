//! Accepts connections and answers them.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::Site;
use crate::answer::Reply;

/// After a failed accept: it concerns one connection, or the process is out of files and others must close first.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

/// A running server. Dropping it closes its port and every connection.
#[derive(Debug)]
pub struct PageServer {
    port: u16,
    accepting: JoinHandle<()>,
}

impl PageServer {
    /// Starts to serve, on a free port of 127.0.0.1. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the operating system gives no port.
    pub async fn start(site: Site) -> io::Result<PageServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let accepting = tokio::spawn(accept(listener, Arc::new(site), port));
        Ok(PageServer { port, accepting })
    }

    /// The port, chosen by the operating system.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `http://host:port/path`; `path` begins with a slash.
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// Stops as a drop does, and waits until the port and every connection are closed.
    pub async fn stop(mut self) {
        self.accepting.abort();
        // The error says that it was aborted.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Runs until it is aborted; the connections are aborted with it, as it owns them.
async fn accept(listener: TcpListener, site: Arc<Site>, port: u16) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => { connections.spawn(serve(stream, site.clone(), port)); }
                Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, site: Arc<Site>, port: u16) {
    let service = service_fn(|request| respond(site.clone(), request, port));
    // A connection that breaks is the browser's business: it closes them as it likes.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(site: Arc<Site>, request: Request<Incoming>, port: u16) -> Result<Reply, Infallible> {
    let answer = site.answer(host(&request), request.uri().path());
    Ok(answer.reply(port).await)
}

/// The host that was asked for, without the port.
fn host(request: &Request<Incoming>) -> &str {
    let value = request.headers().get(HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.rsplit_once(':').map_or(value, |(host, _)| host)
}
