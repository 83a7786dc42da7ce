//! A stream to a server: the name, TCP, and TLS where the URL asks for it.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use supervisor_core::Stage;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::dial::{DialError, Progress};
use crate::limits::MAX_ADDRESSES;

/// Bytes both ways.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Connects to the URL's host, encrypted for `wss` and `https`.
pub(crate) async fn connect(url: &Url, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    progress.reached(Stage::Resolve);
    let addresses = resolve(url).await?;
    progress.reached(Stage::Tcp);
    let tcp = first_that_answers(&addresses, progress.deadline()).await?;
    if !matches!(url.scheme(), "wss" | "https") {
        return Ok(Box::new(tcp));
    }
    progress.reached(Stage::Tls);
    encrypt(url, tcp).await
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
    Ok(found.take(MAX_ADDRESSES).collect())
}

/// Each address gets an equal share of the time that is left: one that swallows packets does not cost the others theirs.
async fn first_that_answers(addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, DialError> {
    let mut last = String::new();
    for (tried, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        last = match timeout_at(Instant::now() + share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // A dialog's answer is one small packet: it must not wait for another to join it.
                stream.set_nodelay(true).map_err(|error| unreachable(&error.to_string()))?;
                return Ok(stream);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {:.1} s", share.as_secs_f64()),
        };
    }
    Err(unreachable(&last))
}

fn unreachable(why: &str) -> DialError {
    let next = "check that the browser runs, that it was started with --remote-debugging-port, and the port";
    DialError::new(Stage::Tcp, format!("no connection ({why}); {next}"))
}

async fn encrypt(url: &Url, tcp: TcpStream) -> Result<Box<dyn Stream>, DialError> {
    let failed = |why: String| {
        DialError::new(
            Stage::Tls,
            format!("no TLS ({why}); check the certificate, and that the port speaks TLS"),
        )
    };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host).map_err(|error| failed(error.to_string()))?;
    let connector = TlsConnector::from(client_config().map_err(failed)?);
    let stream = connector.connect(name, tcp).await.map_err(|error| failed(error.to_string()))?;
    Ok(Box::new(stream))
}

/// One configuration for the process: its session cache makes a reconnect cheaper.
fn client_config() -> Result<Arc<ClientConfig>, String> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    CONFIG.get_or_init(|| build_config().map(Arc::new).map_err(|error| error.to_string())).clone()
}

fn build_config() -> Result<ClientConfig, rustls::Error> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
