//! Serving a client over any pair of a reader and a writer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::hub::Hub;
use crate::limits::{LAST_CALLS, MAX_LINE};
use crate::session::Session;

/// Why serving a client ended other than by the end of its input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not begin as MCP clients do.
    #[error(
        "the client did not speak MCP: {0}; start this from an MCP client, which sends `initialize` first"
    )]
    Greeting(String),
    /// The server failed inside.
    #[error("serving the client failed: {0}; please report this")]
    Broken(String),
}

/// Serves one client until its input ends or is closed. The tasks go on.
pub(crate) async fn serve<R, W>(hub: Arc<Hub>, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let _counted = hub.client();
    let reader = UntilEnd { reader, end: Box::pin(end(hub.ending())) };
    let transport = AsyncRwTransport::new(reader, writer).with_max_line_length(MAX_LINE);
    match Session::new(hub).serve(transport).await {
        Ok(running) => match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(ServeError::Broken(error.to_string())),
        },
        // It left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(ServeError::Greeting(error.to_string())),
    }
}

/// The same, for a server with one client: with its input, everything ends. Calls that still run have [`LAST_CALLS`].
pub(crate) async fn serve_to_the_end<R, W>(hub: Arc<Hub>, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (tell, mut ended) = watch::channel(false);
    let serving = serve(Arc::clone(&hub), Watched { reader, ended: tell }, writer);
    let stopping = async {
        let _ = ended.wait_for(|ended| *ended).await;
        sleep(LAST_CALLS).await;
        hub.supervisor().stop_all().await;
        std::future::pending().await
    };
    let served = tokio::select! {
        served = serving => served,
        never = stopping => never,
    };
    hub.supervisor().stop_all().await;
    served
}

async fn end(mut ending: watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
}

/// A reader that is at its end when the server is: calls that were made before are still answered.
struct UntilEnd<R> {
    reader: R,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEnd<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.end.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Ok(())),
            Poll::Pending => Pin::new(&mut self.reader).poll_read(cx, buf),
        }
    }
}

/// A reader that tells when it has come to its end.
struct Watched<R> {
    reader: R,
    ended: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = ready!(Pin::new(&mut self.reader).poll_read(cx, buf));
        if read.is_err() || (buf.filled().len() == before && buf.remaining() > 0) {
            self.ended.send_replace(true);
        }
        Poll::Ready(read)
    }
}
