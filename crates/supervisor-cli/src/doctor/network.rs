//! The way through the network that holds.

use supervisor::{Endpoint, Network, Proxy};

use super::finding::Finding;
use crate::settings::{self, Loaded};

const ABOUT: &str = "network";

/// A browser that is not on this machine, to tell what would become of one.
const ELSEWHERE: &str = "wss://browser.example/";

pub(super) fn look(loaded: &Loaded) -> Vec<Finding> {
    let network = settings::network(&loaded.settings);
    let configured = loaded.settings.browser.cdp_url.as_ref().map(|url| url.endpoint().clone());
    let proxy = match configured {
        Some(endpoint) => proxy(&network, &endpoint, &format!("the way to {endpoint}")),
        None => Endpoint::parse(ELSEWHERE)
            .map(|endpoint| proxy(&network, &endpoint, "the way to a wss browser elsewhere"))
            .unwrap_or_else(|failure| Finding::ok(ABOUT, failure.message)),
    };
    let certificates = match network.insecure_tls {
        true => Some(insecure()),
        false => certificates(&network),
    };
    [Some(proxy), certificates].into_iter().flatten().collect()
}

fn proxy(network: &Network, endpoint: &Endpoint, way: &str) -> Finding {
    match network.proxy_to(endpoint) {
        // The bundle has no values of variables.
        Ok(Some(_)) if network.proxy == Proxy::Environment => {
            Finding::ok(ABOUT, format!("{way} leads through the proxy that HTTPS_PROXY or ALL_PROXY names"))
        }
        Ok(Some(proxy)) => {
            Finding::ok(ABOUT, format!("{way} leads through the proxy {proxy} (network.proxy)"))
        }
        Ok(None) => Finding::ok(ABOUT, format!("{way} is direct, without a proxy")),
        Err(failure) => {
            let next = "mend HTTPS_PROXY or ALL_PROXY, or set network.proxy";
            Finding::bad(ABOUT, format!("{way}: {}", failure.message), next)
        }
    }
}

fn insecure() -> Finding {
    let what = "any certificate is taken for good (network.insecure_tls): whoever is on the way can read and change everything";
    Finding::warn(ABOUT, what, "trust the authority by network.ca_file instead")
}

fn certificates(network: &Network) -> Option<Finding> {
    let file = network.ca_file.as_ref()?;
    Some(match network.check() {
        Ok(()) => Finding::ok(
            ABOUT,
            format!("the certificates in {} are trusted as well as the usual ones", file.display()),
        ),
        Err(failure) => Finding::bad(ABOUT, failure.message, "give a file with certificates in PEM form"),
    })
}
