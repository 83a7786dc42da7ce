//! How a host wants the network between it and a browser to be passed.

use std::fmt;
use std::path::PathBuf;

use supervisor_core::{Code, Failure};
use url::Url;

use crate::endpoint::Endpoint;
use crate::proxy_choice::proxy_for;
use crate::secret::Secret;
use crate::tls;

/// The network between a host and a browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// Through which proxy.
    pub proxy: Proxy,
    /// Hosts that are reached without a proxy, instead of those of `NO_PROXY`: names with what is below them, addresses, each
    /// with a port or without, or `*` for all, with commas between them. Without it `NO_PROXY` is gone by where the
    /// environment names the proxy.
    pub no_proxy: Option<String>,
    /// A file with certificates in PEM form that are trusted as well as the usual ones: that of a company, or of a browser's
    /// own server.
    pub ca_file: Option<PathBuf>,
    /// Whether any certificate is taken for good. Then anybody on the way can read and change everything; only for tests.
    pub insecure_tls: bool,
}

/// Which proxy leads to the browser, by `CONNECT` (RFC 9110, section 9.3.6).
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// That of the environment: `HTTPS_PROXY`, or else `ALL_PROXY` (in either case), for `wss` and `https` endpoints that
    /// are not on this machine and not in `NO_PROXY`.
    #[default]
    Environment,
    /// None at all.
    Direct,
    /// This one, for every endpoint that [`Network::no_proxy`] does not except: `http://[USER:PASSWORD@]HOST:PORT`, or `https://…`. It may hold a password.
    Url(Secret),
}

impl Network {
    /// The proxy that leads to an endpoint, without its secrets; `None` when the connection is direct.
    ///
    /// # Errors
    /// `invalid_argument` for a proxy that cannot be used; its text is not in the error.
    pub fn proxy_to(&self, endpoint: &Endpoint) -> Result<Option<String>, Failure> {
        let variable = |name: &str| std::env::var(name).ok();
        let Some(url) = endpoint.url() else { return Ok(None) };
        proxy_for(url, self, variable).map(|proxy| proxy.map(|url| place(&url)))
    }

    /// Whether it can be used: the proxy's text, and the file of certificates, which is read.
    ///
    /// # Errors
    /// `invalid_argument`, saying what cannot be used and why.
    pub fn check(&self) -> Result<(), Failure> {
        self.proxy.check()?;
        tls::config(self).map(drop)
    }
}

impl Proxy {
    /// Reads what a person writes: `environment`, `direct`, or the proxy's URL.
    ///
    /// # Errors
    /// `invalid_argument` for a URL that cannot be used; its text is not in the error.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        match text.trim() {
            "environment" => Ok(Proxy::Environment),
            "direct" => Ok(Proxy::Direct),
            url => parse(url).map(|_| Proxy::Url(Secret::new(url))),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self {
            Proxy::Url(text) => parse(text.reveal()).map(drop),
            Proxy::Environment | Proxy::Direct => Ok(()),
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proxy::Environment => "Environment",
            Proxy::Direct => "Direct",
            Proxy::Url(_) => "Url(…)",
        })
    }
}

/// As [`Proxy::parse`] reads it, without user and password.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proxy::Environment => f.write_str("environment"),
            Proxy::Direct => f.write_str("direct"),
            Proxy::Url(text) => match parse(text.reveal()) {
                Ok(url) => f.write_str(&place(&url)),
                Err(_) => f.write_str("(unusable)"),
            },
        }
    }
}

/// A proxy without its secrets.
fn place(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

pub(crate) fn parse(text: &str) -> Result<Url, Failure> {
    let text = text.trim();
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url =
        Url::parse(&whole).ok().filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| {
        Failure::new(
            Code::InvalidArgument,
            "the proxy cannot be used; give it as http://[USER:PASSWORD@]HOST:PORT.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_read_and_shown_without_its_secrets() {
        for (text, shown) in [
            ("environment", "environment"),
            (" direct ", "direct"),
            ("http://user:secret@proxy.example:3128", "http://proxy.example:3128"),
            ("https://secret@proxy.example/?secret", "https://proxy.example"),
            ("proxy.example:3128", "http://proxy.example:3128"),
        ] {
            let proxy = Proxy::parse(text).unwrap();
            assert_eq!(proxy.to_string(), shown);
            assert!(!format!("{proxy:?}").contains("secret"));
        }
        for text in ["socks5://secret:1", "http://", "secret secret", ""] {
            let failure = Proxy::parse(text).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument);
            assert!(!failure.message.contains("secret"), "{failure}");
        }
        assert_eq!(Proxy::Url("socks5://secret".into()).to_string(), "(unusable)");
    }

    #[test]
    fn the_way_to_an_endpoint_is_told_without_secrets() {
        let mut network =
            Network { proxy: Proxy::Url("http://u:secret@p.example:1".into()), ..Network::default() };
        let to = |network: &Network, text: &str| network.proxy_to(&Endpoint::parse(text).unwrap()).unwrap();
        assert_eq!(to(&network, "ws://127.0.0.1:1/?secret").as_deref(), Some("http://p.example:1"));
        assert_eq!(to(&network, "/a/profile"), None);
        network.no_proxy = Some("127.0.0.1".into());
        assert_eq!(to(&network, "ws://127.0.0.1:1/"), None);
        assert!(network.check().is_ok());
        network.ca_file = Some("/nonexistent/ca.pem".into());
        assert!(network.check().unwrap_err().message.contains("/nonexistent/ca.pem"));
    }
}
