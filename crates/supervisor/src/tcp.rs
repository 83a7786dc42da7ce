//! A stream to a server: the name, TCP, and TLS where the URL asks for it.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use supervisor_core::Stage;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::dial::{DialError, Progress};
use crate::limits::MAX_ADDRESSES;
use crate::start::{Connect, Stream};

/// Connects to the URL's host, encrypted for `wss` and `https`.
pub(crate) async fn connect(url: &Url, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    let stream = match progress.connect() {
        Some(connect) => through(connect, url, progress).await?,
        None => by_tcp(url, progress).await?,
    };
    if !matches!(url.scheme(), "wss" | "https") {
        return Ok(stream);
    }
    progress.reached(Stage::Tls);
    encrypt(url, stream, client_config().map_err(|why| no_tls(&why))?).await
}

async fn by_tcp(url: &Url, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    progress.reached(Stage::Resolve);
    let addresses = resolve(url).await?;
    progress.reached(Stage::Tcp);
    Ok(Box::new(first_that_answers(&addresses, progress.deadline()).await?))
}

/// The host makes the stream.
async fn through(connect: &Connect, url: &Url, progress: &Progress) -> Result<Box<dyn Stream>, DialError> {
    progress.reached(Stage::Tcp);
    let port = url.port_or_known_default().unwrap_or(80);
    let made = connect(url.host_str().unwrap_or_default(), port).await;
    made.map_err(|error| {
        DialError::new(Stage::Tcp, format!("the host's own way to the browser failed ({error})"))
    })
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

async fn encrypt(
    url: &Url,
    stream: Box<dyn Stream>,
    config: Arc<ClientConfig>,
) -> Result<Box<dyn Stream>, DialError> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host).map_err(|error| no_tls(&error))?;
    let stream = TlsConnector::from(config).connect(name, stream).await.map_err(|error| no_tls(&error))?;
    Ok(Box::new(stream))
}

fn no_tls(why: &dyn std::fmt::Display) -> DialError {
    let next = "check the certificate, and that the port speaks TLS";
    DialError::new(Stage::Tls, format!("no TLS ({why}); {next}"))
}

/// One configuration for the process: its session cache makes a reconnect cheaper.
fn client_config() -> Result<Arc<ClientConfig>, String> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    CONFIG.get_or_init(|| build_config().map(Arc::new).map_err(|error| error.to_string())).clone()
}

fn build_config() -> Result<ClientConfig, rustls::Error> {
    trusting(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
}

fn trusting(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use rustls::ServerConfig;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    const ROOT: &[u8] = include_bytes!("../tests/tls/root.der");
    const CERTIFICATE: &[u8] = include_bytes!("../tests/tls/localhost.der");
    const KEY: &[u8] = include_bytes!("../tests/tls/localhost.key.der");

    fn acceptor() -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
        let chain = vec![CertificateDer::from(CERTIFICATE)];
        Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap()).into()
    }

    /// A TLS server that sends back what it gets.
    async fn server() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (tcp, _) = listener.accept().await.unwrap();
            if let Ok(tls) = acceptor().accept(tcp).await {
                let (mut reader, mut writer) = tokio::io::split(tls);
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
            }
        });
        port
    }

    async fn encrypted(name: &str, config: ClientConfig) -> Result<Box<dyn Stream>, DialError> {
        let port = server().await;
        let tcp = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        encrypt(&Url::parse(&format!("wss://{name}:{port}/")).unwrap(), Box::new(tcp), Arc::new(config)).await
    }

    fn trusting_the_test_root() -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(ROOT)).unwrap();
        trusting(roots).unwrap()
    }

    #[tokio::test]
    async fn a_trusted_certificate_gives_a_stream() {
        let mut stream = encrypted("localhost", trusting_the_test_root()).await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        stream.flush().await.unwrap();
        let mut back = [0; 5];
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, b"hello");
    }

    #[tokio::test]
    async fn another_name_or_root_gives_none() {
        for (name, config) in
            [("other.example", trusting_the_test_root()), ("localhost", build_config().unwrap())]
        {
            let Err(error) = encrypted(name, config).await else { panic!("{name} was trusted") };
            assert_eq!(error.stage, Stage::Tls);
            assert!(error.reason.contains("certificate"), "{}", error.reason);
        }
    }
}
