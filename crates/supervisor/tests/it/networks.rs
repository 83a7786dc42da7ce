//! The network between a host and a browser: proxies, certificates, addresses.

use std::sync::Arc;

use supervisor::{Code, Failure, Network, Proxy, Stage, StartOptions, Status, Supervisor};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::peer::{Peer, within};

const ROOT_PEM: &[u8] = include_bytes!("../tls/root.pem");
const CERTIFICATE: &[u8] = include_bytes!("../tls/localhost.der");
const KEY: &[u8] = include_bytes!("../tls/localhost.key.der");

/// `user:secret`, as HTTP writes it.
const CREDENTIALS: &str = "proxy-authorization: basic dxnlcjpzzwnyzxq=";

async fn start(url: &str, network: Network) -> Result<Status, Failure> {
    let mut options = StartOptions::default();
    options.network = network;
    let supervisor = Supervisor::start();
    let task = within(supervisor.get_or_start("t", url, options)).await?;
    Ok(task.snapshot().status.status)
}

fn network(change: impl FnOnce(&mut Network)) -> Network {
    let mut network = Network::default();
    change(&mut network);
    network
}

/// A proxy that wants credentials, and leads everything to this port. Tells what it was asked for.
async fn proxy(to: u16) -> (u16, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, asked) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                let mut client = BufReader::new(stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && client.read_line(&mut head).await.unwrap() > 0 {}
                let is_known = head.to_lowercase().contains(CREDENTIALS);
                tell.send(head.lines().next().unwrap_or_default().to_owned()).unwrap();
                if !is_known {
                    let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
                    return client.write_all(refusal.as_bytes()).await.unwrap();
                }
                client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
                let mut browser = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut browser).await;
            });
        }
    });
    (port, asked)
}

#[tokio::test]
async fn a_proxy_leads_to_a_browser_that_only_it_reaches() {
    let peer = Peer::start().await;
    let (port, mut asked) = proxy(peer.port()).await;
    let url = "ws://browser.example:9222/devtools/browser/B?token=secret";
    let through = network(|it| it.proxy = Proxy::Url(format!("http://user:secret@127.0.0.1:{port}").into()));
    assert_eq!(start(url, through).await.unwrap(), Status::Connected);
    assert_eq!(asked.recv().await.unwrap(), "CONNECT browser.example:9222 HTTP/1.1");
}

#[tokio::test]
async fn no_proxy_and_a_profile_lead_past_the_proxy_of_the_host() {
    let peer = Peer::start().await;
    let nobody = Proxy::Url("http://127.0.0.1:1".into());
    let url = format!("ws://127.0.0.1:{}/devtools/browser/B", peer.port());
    let refused = start(&url, network(|it| it.proxy = nobody.clone())).await.unwrap_err();
    assert!(refused.message.contains("proxy"), "{refused}");
    let past = network(|it| (it.proxy, it.no_proxy) = (nobody.clone(), Some("127.0.0.1".into())));
    assert_eq!(start(&url, past).await.unwrap(), Status::Connected);

    let profile = tempfile::tempdir().unwrap();
    let port = format!("{}\n/devtools/browser/B\n", peer.port());
    std::fs::write(profile.path().join("DevToolsActivePort"), port).unwrap();
    let status = start(profile.path().to_str().unwrap(), network(|it| it.proxy = nobody)).await;
    assert_eq!(status.unwrap(), Status::Connected);
}

#[tokio::test]
async fn a_proxy_that_refuses_is_told_with_its_status_and_without_secrets() {
    let peer = Peer::start().await;
    let (port, _asked) = proxy(peer.port()).await;
    let wrong = network(|it| it.proxy = Proxy::Url(format!("http://user:secret2@127.0.0.1:{port}").into()));
    for url in
        ["ws://browser.example/devtools/browser/B?token=secret3", "https://browser.example/?token=secret3"]
    {
        let failure = start(url, wrong.clone()).await.unwrap_err();
        let stage = (failure.detail.stage, failure.detail.http_status);
        assert_eq!((failure.code, stage), (Code::StartFailed, (Some(Stage::Tcp), Some(407))), "{failure}");
        assert!(failure.message.contains("credentials") && !failure.message.contains("secret"), "{failure}");
    }
    let odd = network(|it| it.proxy = Proxy::Url("socks5://user:secret@127.0.0.1:1".into()));
    let failure = start("ws://browser.example/", odd).await.unwrap_err();
    assert_eq!(failure.code, Code::InvalidArgument);
    assert!(!failure.message.contains("secret"), "{failure}");
}

/// TLS in front of the peer, with a certificate for `localhost` that only the tests' own root vouches for.
async fn encrypted(to: u16) -> u16 {
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    let chain = vec![CertificateDer::from(CERTIFICATE)];
    let acceptor: TlsAcceptor =
        Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap()).into();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut client) = acceptor.accept(stream).await else { return };
                let mut browser = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut browser).await;
            });
        }
    });
    port
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_unless_told_otherwise() {
    let peer = Peer::start().await;
    let url = format!("wss://localhost:{}/devtools/browser/B", encrypted(peer.port()).await);
    let failure = start(&url, Network::default()).await.unwrap_err();
    assert_eq!(failure.detail.stage, Some(Stage::Tls), "{failure}");
    assert!(failure.message.contains("CA file"), "{failure}");
    assert_eq!(start(&url, network(|it| it.insecure_tls = true)).await.unwrap(), Status::Connected);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, ROOT_PEM).unwrap();
    let trusting = network(|it| it.ca_file = Some(file));
    assert_eq!(start(&url, trusting).await.unwrap(), Status::Connected);
}

/// Its name has an IPv6 and an IPv4 address on most machines; the browser is at one of them only.
#[tokio::test]
async fn ipv6_addresses_and_names_with_several_addresses_lead_to_the_browser() {
    let mut peer = Peer::start().await;
    let to = peer.port();
    let listener = TcpListener::bind("[::1]:0").await.expect("this test needs IPv6 on the loopback");
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut browser = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut browser).await;
        }
    });
    let url = format!("ws://[::1]:{port}/devtools/browser/B");
    assert_eq!(start(&url, Network::default()).await.unwrap(), Status::Connected);
    let headers = peer.connection().await.headers;
    assert!(headers.contains(&format!("host: [::1]:{port}")), "{headers:?}");
    let url = format!("ws://localhost:{to}/devtools/browser/B");
    assert_eq!(start(&url, Network::default()).await.unwrap(), Status::Connected);
}
