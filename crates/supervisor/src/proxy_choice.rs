//! Which proxy leads to an endpoint.

use supervisor_core::Failure;
use url::Url;

use crate::network::{Network, Proxy, parse};

/// The proxy that leads to this endpoint, if any does.
///
/// # Errors
/// `invalid_argument` for a proxy that cannot be used; its text is not in the error.
pub(crate) fn proxy_for(
    url: &Url,
    network: &Network,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Url>, Failure> {
    match &network.proxy {
        Proxy::Direct => Ok(None),
        Proxy::Url(_) if excepted(url, network.no_proxy.as_deref().unwrap_or_default()) => Ok(None),
        Proxy::Url(text) => parse(text.reveal()).map(Some),
        Proxy::Environment => from_environment(url, network.no_proxy.as_deref(), variable),
    }
}

fn from_environment(
    url: &Url,
    no_proxy: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Url>, Failure> {
    let either = |name: &str| {
        let found = variable(name).or_else(|| variable(&name.to_lowercase()));
        found.filter(|value| !value.trim().is_empty())
    };
    let exceptions = || no_proxy.map(str::to_owned).or_else(|| either("NO_PROXY")).unwrap_or_default();
    let is_encrypted = matches!(url.scheme(), "wss" | "https");
    if !is_encrypted || crate::endpoint::is_local(url) || excepted(url, &exceptions()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn found(endpoint: &str, variables: &[(&str, &str)]) -> Option<String> {
        let variable =
            |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        proxy_for(&url(endpoint), &Network::default(), variable).unwrap().map(String::from)
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

    fn by(proxy: Proxy, no_proxy: Option<&str>) -> Network {
        Network { proxy, no_proxy: no_proxy.map(str::to_owned), ..Network::default() }
    }

    #[test]
    fn a_proxy_of_the_host_is_for_every_endpoint_but_the_hosts_own_exceptions() {
        let proxy = Proxy::Url("http://user:secret@proxy.example:3128".into());
        let leads = |endpoint: &str, no_proxy| {
            let chosen = proxy_for(&url(endpoint), &by(proxy.clone(), no_proxy), |_| Some("*".to_owned()));
            chosen.unwrap().map(|url| url.host_str().map(str::to_owned)).is_some()
        };
        assert!(leads("ws://127.0.0.1:9222", None) && leads("wss://h.example", Some("")));
        assert!(leads("wss://h.example", Some("other.example")));
        assert!(!leads("wss://h.example", Some("other.example,h.example")));
        let nowhere = proxy_for(&url("wss://h"), &by(Proxy::Direct, None), |_| Some("http://p".to_owned()));
        assert_eq!(nowhere, Ok(None));
    }

    #[test]
    fn the_hosts_own_exceptions_stand_for_those_of_the_environment() {
        let leads = |no_proxy| {
            let variable = |name: &str| match name {
                "HTTPS_PROXY" => Some("http://p".to_owned()),
                "NO_PROXY" => Some("h.example".to_owned()),
                _ => None,
            };
            proxy_for(&url("wss://h.example"), &by(Proxy::Environment, no_proxy), variable).unwrap().is_some()
        };
        assert_eq!([leads(None), leads(Some("other")), leads(Some("*"))], [false, true, false]);
    }
}
