//! How a host wants the network between it and a browser to be passed.

use std::fmt;
use std::path::PathBuf;

use supervisor_core::{Code, Failure};
use url::Url;

use crate::secret::Secret;

/// The network between a host and a browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// Through which proxy.
    pub proxy: Proxy,
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
    /// This one, for every endpoint: `http://[USER:PASSWORD@]HOST:PORT`, or `https://…`. It may hold a password.
    Url(Secret),
}

impl Proxy {
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

/// The proxy that leads to this endpoint, if any does.
///
/// # Errors
/// `invalid_argument` for a proxy that cannot be used; its text is not in the error.
pub(crate) fn proxy_for(
    url: &Url,
    proxy: &Proxy,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Url>, Failure> {
    match proxy {
        Proxy::Direct => Ok(None),
        Proxy::Url(text) => parse(text.reveal()).map(Some),
        Proxy::Environment => from_environment(url, variable),
    }
}

fn from_environment(url: &Url, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Url>, Failure> {
    let either = |name: &str| {
        let found = variable(name).or_else(|| variable(&name.to_lowercase()));
        found.filter(|value| !value.trim().is_empty())
    };
    let is_encrypted = matches!(url.scheme(), "wss" | "https");
    if !is_encrypted
        || crate::endpoint::is_local(url)
        || excepted(url, &either("NO_PROXY").unwrap_or_default())
    {
        return Ok(None);
    }
    either("HTTPS_PROXY").or_else(|| either("ALL_PROXY")).map(|text| parse(&text)).transpose()
}

/// As curl reads it: names with what is below them, addresses, each with a port or without, or `*` for all.
fn excepted(url: &Url, exceptions: &str) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_lowercase();
    let port = url.port_or_known_default();
    exceptions.split([',', ' ']).map(str::trim).filter(|it| !it.is_empty()).any(|exception| {
        let (name, only) = match exception.rsplit_once(':') {
            Some((name, digits)) if !name.contains(':') || name.ends_with(']') => {
                (name, digits.parse::<u16>().ok())
            }
            _ => (exception, None),
        };
        let name = name.trim_matches(['[', ']']).trim_start_matches('.').to_lowercase();
        let is_below = host.strip_suffix(&name).is_some_and(|before| before.ends_with('.'));
        (name == "*" || host == name || is_below) && only.is_none_or(|only| Some(only) == port)
    })
}

fn parse(text: &str) -> Result<Url, Failure> {
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

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn found(endpoint: &str, variables: &[(&str, &str)]) -> Option<String> {
        let variable =
            |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        proxy_for(&url(endpoint), &Proxy::Environment, variable).unwrap().map(String::from)
    }

    #[test]
    fn the_environment_names_a_proxy_for_encrypted_endpoints_elsewhere() {
        let proxy = [("HTTPS_PROXY", "http://proxy.example:3128")];
        assert_eq!(found("wss://browser.example/", &proxy).as_deref(), Some("http://proxy.example:3128/"));
        for direct in ["ws://browser.example/", "wss://localhost/", "https://127.0.0.1:9222", "wss://[::1]/"]
        {
            assert_eq!(found(direct, &proxy), None, "{direct}");
        }
        assert!(found("https://browser.example", &[("https_proxy", "proxy.example:3128")]).is_some());
        assert!(found("wss://browser.example", &[("ALL_PROXY", "http://p")]).is_some());
        assert_eq!(found("wss://browser.example", &[("HTTP_PROXY", "http://p"), ("HTTPS_PROXY", " ")]), None);
    }

    #[test]
    fn exceptions_are_names_with_what_is_below_addresses_and_ports() {
        let except = |endpoint: &str, exceptions: &str| {
            found(endpoint, &[("HTTPS_PROXY", "http://p"), ("NO_PROXY", exceptions)]).is_none()
        };
        for (endpoint, exceptions) in [
            ("wss://browser.example/", "browser.example"),
            ("wss://a.browser.example/", "other, .browser.example"),
            ("wss://a.browser.EXAMPLE/", "Browser.example"),
            ("wss://browser.example:8443/", "browser.example:8443"),
            ("wss://browser.example/", "*"),
            ("wss://10.0.0.1/", "10.0.0.1"),
            ("wss://[2001:db8::1]/", "2001:db8::1"),
            ("wss://[2001:db8::1]/", "[2001:db8::1]:443"),
        ] {
            assert!(except(endpoint, exceptions), "{endpoint} {exceptions}");
        }
        for (endpoint, exceptions) in [
            ("wss://browser.example/", "rowser.example"),
            ("wss://browser.example/", "a.browser.example"),
            ("wss://browser.example/", "browser.example:8443"),
            ("wss://browser.example/", ""),
        ] {
            assert!(!except(endpoint, exceptions), "{endpoint} {exceptions}");
        }
    }

    #[test]
    fn a_proxy_of_the_host_is_for_every_endpoint_and_is_never_shown() {
        let proxy = Proxy::Url("http://user:secret@proxy.example:3128".into());
        let chosen = proxy_for(&url("ws://127.0.0.1:9222"), &proxy, |_| None).unwrap().unwrap();
        assert_eq!(chosen.host_str(), Some("proxy.example"));
        assert!(!format!("{proxy:?}").contains("secret"));
        assert_eq!(proxy_for(&url("wss://h"), &Proxy::Direct, |_| Some("http://p".to_owned())), Ok(None));
        for text in ["socks5://secret:1", "http://", "secret secret"] {
            let failure = proxy_for(&url("wss://h"), &Proxy::Url(text.into()), |_| None).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument);
            assert!(!failure.message.contains("secret"), "{failure}");
        }
    }
}
