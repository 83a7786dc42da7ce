//! A stream to a server: the name, TCP, a proxy's tunnel where there is one, and TLS where the URL asks for it.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rustls::ClientConfig;
use supervisor_core::{Failure, Stage};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::sleep;
use url::{Host, Url};

use crate::dial::{DialError, Progress};
use crate::endpoint::Endpoint;
use crate::limits::{ADDRESS_STAGGER, MAX_ADDRESSES};
use crate::network::{Network, Proxy};
use crate::proxy::tunnel;
use crate::proxy_choice::proxy_for;
use crate::start::{Connect, Stream};
use crate::tls;

/// The way that a host chose through the network, made ready.
#[derive(Clone)]
pub(crate) struct Way {
    network: Network,
    tls: Arc<ClientConfig>,
    /// The host makes the stream itself.
    by_host: Option<Connect>,
}

impl Way {
    /// # Errors
    /// `invalid_argument` for a proxy or a file of certificates that cannot be used.
    pub(crate) fn of(network: &Network, by_host: Option<Connect>) -> Result<Self, Failure> {
        network.proxy.check()?;
        Ok(Self { network: network.clone(), tls: tls::config(network)?, by_host })
    }

    /// The same to this endpoint: a browser whose profile is here is here too, and no proxy leads to it.
    pub(crate) fn to(&self, endpoint: &Endpoint) -> Self {
        let mut way = self.clone();
        if endpoint.url().is_none() {
            way.network.proxy = Proxy::Direct;
        }
        way
    }

    fn proxy_to(&self, url: &Url) -> Result<Option<Url>, DialError> {
        let variable = |name: &str| std::env::var(name).ok();
        proxy_for(url, &self.network, variable).map_err(|failure| DialError::new(Stage::Tcp, failure.message))
    }
}

/// Connects to the URL's host, encrypted for `wss` and `https`.
pub(crate) async fn connect(url: &Url, way: &Way, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    let mut stream = match &way.by_host {
        Some(connect) => made(connect, url, progress).await?,
        None => by_network(url, way, progress).await?,
    };
    if is_encrypted(url) {
        progress.reached(Stage::Tls);
        stream = Box::pin(tls::encrypt(url, stream, Arc::clone(&way.tls))).await?;
    }
    Ok(stream)
}

/// The host makes the stream.
async fn made(connect: &Connect, url: &Url, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    progress.reached(Stage::Tcp);
    let port = url.port_or_known_default().unwrap_or(80);
    let made = connect(url.host_str().unwrap_or_default(), port).await;
    made.map_err(|error| {
        DialError::new(Stage::Tcp, format!("the host's own way to the browser failed ({error})"))
    })
}

async fn by_network(url: &Url, way: &Way, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    let next = "check that the browser runs, that it was started with --remote-debugging-port, and the port";
    match way.proxy_to(url)? {
        Some(proxy) => Box::pin(through(&proxy, url, way, progress)).await,
        None => reach(url, next, progress).await,
    }
}

fn is_encrypted(url: &Url) -> bool {
    matches!(url.scheme(), "wss" | "https")
}

async fn through(
    proxy: &Url,
    url: &Url,
    way: &Way,
    progress: &Progress,
) -> Result<Box<dyn Stream>, DialError> {
    let mut stream = reach(proxy, "check the proxy's address, or go past it with NO_PROXY", progress).await?;
    if is_encrypted(proxy) {
        stream = tls::encrypt(proxy, stream, Arc::clone(&way.tls)).await?;
    }
    tunnel(&mut stream, proxy, url).await?;
    Ok(stream)
}

/// TCP to the URL's host. `next` is what to do when nobody answers.
async fn reach(url: &Url, next: &str, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    progress.reached(Stage::Resolve);
    let addresses = resolve(url).await?;
    progress.reached(Stage::Tcp);
    let tcp = first_that_answers(&addresses).await;
    let tcp = tcp.map_err(|why| DialError::new(Stage::Tcp, format!("no connection ({why}); {next}")))?;
    Ok(Box::new(tcp))
}

async fn resolve(url: &Url) -> Result<Vec<SocketAddr>, DialError> {
    let port = url.port_or_known_default().unwrap_or(80);
    let addresses: Vec<SocketAddr> = match url.host() {
        Some(Host::Ipv4(ip)) => vec![(ip, port).into()],
        Some(Host::Ipv6(ip)) => vec![(ip, port).into()],
        Some(Host::Domain(name)) => lookup(name, port).await?,
        None => Vec::new(),
    };
    match addresses.is_empty() {
        false => Ok(addresses),
        true => Err(DialError::new(Stage::Resolve, "the host's name has no address; check it")),
    }
}

async fn lookup(name: &str, port: u16) -> Result<Vec<SocketAddr>, DialError> {
    let found = lookup_host((name, port)).await.map_err(|error| {
        DialError::new(Stage::Resolve, format!("the host's name could not be resolved ({error}); check it"))
    })?;
    Ok(bounded(found))
}

fn bounded(found: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    found.take(MAX_ADDRESSES).collect()
}

/// All addresses, each a little later than the one before or as soon as that one refused; the first that answers is taken
/// (RFC 8305). One that swallows packets costs the others nothing but that little.
async fn first_that_answers(addresses: &[SocketAddr]) -> Result<TcpStream, String> {
    let mut waiting = addresses.iter();
    let mut under_way = FuturesUnordered::new();
    let mut last = "no address".to_owned();
    loop {
        under_way.extend(waiting.next().map(TcpStream::connect));
        let more = !waiting.as_slice().is_empty();
        tokio::select! {
            biased;
            ended = under_way.next() => match ended {
                Some(Ok(stream)) => return immediate(stream),
                Some(Err(error)) => last = error.to_string(),
                None => return Err(last),
            },
            () = sleep(ADDRESS_STAGGER), if more => {}
        }
    }
}

/// A dialog's answer is one small packet: it must not wait for another to join it.
fn immediate(stream: TcpStream) -> Result<TcpStream, String> {
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::net::{TcpListener, TcpSocket};
    use tokio::time::timeout;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A port that nobody listens on.
    async fn closed() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
    }

    /// A listener whose queue is full: what else tries to connect gets no answer at all.
    async fn swallowing() -> (SocketAddr, TcpListener, Vec<TcpStream>) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut filling = Vec::new();
        while let Ok(Ok(stream)) = timeout(Duration::from_millis(300), TcpStream::connect(address)).await {
            filling.push(stream);
        }
        (address, listener, filling)
    }

    #[tokio::test]
    async fn the_first_address_that_answers_is_taken() {
        let good = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let good = good.local_addr().map(|address| (address, good)).unwrap();
        let (swallows, _listener, _filling) = swallowing().await;
        for before in
            [vec![], vec![closed().await], vec![swallows], vec![closed().await, swallows, closed().await]]
        {
            let addresses = [before, vec![good.0]].concat();
            let stream = timeout(PATIENCE, first_that_answers(&addresses)).await.unwrap().unwrap();
            assert_eq!(stream.peer_addr().unwrap(), good.0);
        }
    }

    #[tokio::test]
    async fn when_none_answers_the_reason_is_that_of_the_last() {
        assert!(first_that_answers(&[closed().await, closed().await]).await.unwrap_err().contains("refused"));
        assert!(first_that_answers(&[]).await.is_err());
    }

    /// `MAX_ADDRESSES`
    #[test]
    fn addresses_beyond_max_addresses_are_not_tried() {
        let address = |port: usize| SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).unwrap()));
        for found in [MAX_ADDRESSES, MAX_ADDRESSES + 1] {
            assert_eq!(bounded((1..=found).map(address)).len(), MAX_ADDRESSES);
        }
    }
}
