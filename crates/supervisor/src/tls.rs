//! TLS to servers: whom to trust.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use supervisor_core::{Code, Failure};
use tokio_rustls::TlsConnector;
use url::Url;

use crate::dial::DialError;
use crate::limits::MAX_CA_FILE;
use crate::network::Network;
use crate::start::Stream;

/// What a host chose, made ready. Its session cache makes a reconnect cheaper.
///
/// # Errors
/// `invalid_argument` when the file of certificates cannot be used.
pub(crate) fn config(network: &Network) -> Result<Arc<ClientConfig>, Failure> {
    let unusable = |why: &str| Failure::new(Code::InvalidArgument, format!("TLS cannot be used: {why}."));
    if network.insecure_tls {
        return trusting_anybody().map(Arc::new).map_err(|error| unusable(&error.to_string()));
    }
    let Some(file) = &network.ca_file else {
        return usual().map_err(|error| unusable(&error));
    };
    let mut roots = usual_roots();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| bad_file(file, &error.to_string()))?;
    }
    trusting(roots).map(Arc::new).map_err(|error| unusable(&error.to_string()))
}

fn bad_file(file: &Path, why: &str) -> Failure {
    let expected = "expected certificates in PEM form (-----BEGIN CERTIFICATE-----)";
    Failure::new(
        Code::InvalidArgument,
        format!("the CA file {} cannot be used: {why}; {expected}.", file.display()),
    )
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let length = std::fs::metadata(file).map_err(|error| bad_file(file, &error.to_string()))?.len();
    if length > MAX_CA_FILE {
        return Err(bad_file(file, &format!("it has {length} bytes, more than {MAX_CA_FILE}")));
    }
    let text = std::fs::read(file).map_err(|error| bad_file(file, &error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| bad_file(file, &error.to_string()))?;
    if found.is_empty() {
        return Err(bad_file(file, "it holds no certificate"));
    }
    Ok(found)
}

/// One for the process.
fn usual() -> Result<Arc<ClientConfig>, String> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    CONFIG.get_or_init(|| trusting(usual_roots()).map(Arc::new).map_err(|error| error.to_string())).clone()
}

fn usual_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn trusting(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn trusting_anybody() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    let anybody = Arc::new(Anybody(provider()));
    Ok(builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth())
}

/// Encrypts a stream to the URL's host.
pub(crate) async fn encrypt(
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
    let next =
        "check the certificate (one of your own can be trusted by a CA file), and that the port speaks TLS";
    DialError::new(supervisor_core::Stage::Tls, format!("no TLS ({why}); {next}"))
}

/// Takes every certificate. Signatures are still checked, so that at least the key is the certificate's.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rustls::ServerConfig;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
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

    async fn encrypted(name: &str, config: Arc<ClientConfig>) -> Result<Box<dyn Stream>, DialError> {
        let port = server().await;
        let tcp = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        encrypt(&Url::parse(&format!("wss://{name}:{port}/")).unwrap(), Box::new(tcp), config).await
    }

    /// What a host gets that names a file with this text.
    fn with_file(text: &[u8]) -> Result<Arc<ClientConfig>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, text).unwrap();
        config(&Network { ca_file: Some(file), ..Network::default() })
    }

    fn pem() -> String {
        let encoded = crate::secret::base64(ROOT);
        let lines: Vec<_> =
            encoded.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    async fn hello(mut stream: Box<dyn Stream>) {
        stream.write_all(b"hello").await.unwrap();
        stream.flush().await.unwrap();
        let mut back = [0; 5];
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, b"hello");
    }

    #[tokio::test]
    async fn a_certificate_of_the_hosts_own_root_gives_a_stream() {
        let config = with_file(format!("# the test's own\n{}", pem()).as_bytes()).unwrap();
        hello(encrypted("localhost", config).await.unwrap()).await;
    }

    #[tokio::test]
    async fn another_name_or_root_gives_none_unless_anybody_is_trusted() {
        let anybody = config(&Network { insecure_tls: true, ..Network::default() }).unwrap();
        for (name, trusted) in [
            ("other.example", with_file(pem().as_bytes()).unwrap()),
            ("localhost", config(&Network::default()).unwrap()),
        ] {
            let Err(error) = encrypted(name, trusted).await else { panic!("{name} was trusted") };
            assert_eq!(error.stage, supervisor_core::Stage::Tls);
            assert!(error.reason.contains("certificate"), "{}", error.reason);
            hello(encrypted(name, Arc::clone(&anybody)).await.unwrap()).await;
        }
    }

    #[test]
    fn a_file_without_certificates_is_refused_with_what_was_expected() {
        let broken = pem().replace("MII", "!!!");
        for text in
            ["", "no certificate", &broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
        {
            let failure = with_file(text.as_bytes()).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument, "{text}");
            assert!(failure.message.contains("ca.pem") && failure.message.contains("PEM"), "{failure}");
        }
        let missing = config(&Network { ca_file: Some("/nowhere/ca.pem".into()), ..Network::default() });
        assert_eq!(missing.unwrap_err().code, Code::InvalidArgument);
    }

    /// `MAX_CA_FILE`
    #[test]
    fn a_file_at_max_ca_file_is_read_and_a_longer_one_is_not() {
        let filler = usize::try_from(MAX_CA_FILE).unwrap() - pem().len();
        with_file(format!("{}{}", pem(), "\n".repeat(filler)).as_bytes()).unwrap();
        let failure = with_file(format!("{}{}", pem(), "\n".repeat(filler + 1)).as_bytes()).unwrap_err();
        assert!(failure.message.contains("more than"), "{failure}");
    }
}
