//! Where a task's browser is, as the host gave it. It may hold a signed query or a password, which it never shows.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use supervisor_core::{Code, EndpointKind, Failure, Stage, TargetId};
use url::Url;

/// An endpoint: a WebSocket URL, the URL of a browser's HTTP server, or the folder of its profile.
///
/// `Debug`, `Display` and `Serialize` show scheme, host, port and path, never user, password, query or fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(Given);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// `ws` or `wss`: dialled as it is.
    Socket(Url),
    /// `http` or `https`: `/json/version` tells the socket.
    Server(Url),
    /// A user-data-dir: its `DevToolsActivePort` tells the socket.
    Profile(PathBuf),
}

impl Endpoint {
    /// Reads what a host gives. Nothing is looked up.
    ///
    /// # Errors
    /// `start_failed` at the stage `resolve`, saying what is accepted. The text itself is not in the error.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        if text.contains("://") && !text.starts_with("file://") { parse_url(text) } else { parse_path(text) }
    }

    /// Whether both lead to the same browser: scheme, host, port and path agree. The query is not compared, so a freshly
    /// signed URL of the same session is the same endpoint.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Given::Profile(ours), Given::Profile(theirs)) => ours == theirs,
            (Given::Socket(ours) | Given::Server(ours), Given::Socket(theirs) | Given::Server(theirs)) => {
                same_place(ours, theirs)
            }
            _ => false,
        }
    }

    /// Whether it is on this machine, as far as its name tells.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.url().is_none_or(is_local)
    }

    pub(crate) fn given(&self) -> &Given {
        &self.0
    }

    /// Its URL, if it is no profile.
    pub(crate) fn url(&self) -> Option<&Url> {
        match &self.0 {
            Given::Profile(_) => None,
            Given::Socket(url) | Given::Server(url) => Some(url),
        }
    }

    pub(crate) fn socket(url: Url) -> Self {
        Self(Given::Socket(url))
    }
}

/// Whether a URL's host is this machine, as far as its name tells.
pub(crate) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// What the root of a socket with this URL is.
pub(crate) fn kind(url: &Url) -> EndpointKind {
    match url.path().trim_end_matches('/').split_once("/devtools/page/") {
        Some((_, id)) if !id.is_empty() => EndpointKind::Page(TargetId::from(id)),
        _ => EndpointKind::Browser,
    }
}

/// What a browser's own socket is named by in its URL. Behind a proxy nothing in a URL is sure to be of one browser.
pub(crate) fn browser_name(url: &Url) -> Option<String> {
    let (_, name) = url.path().trim_end_matches('/').split_once("/devtools/browser/")?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn parse_url(text: &str) -> Result<Endpoint, Failure> {
    let url = Url::parse(text).map_err(|error| unusable(&format!("it is no URL ({error})")))?;
    if url.host_str().is_none_or(str::is_empty) {
        return Err(unusable("it names no host"));
    }
    match url.scheme() {
        "ws" | "wss" => Ok(Endpoint(Given::Socket(url))),
        "http" | "https" => Ok(Endpoint(Given::Server(url))),
        other => Err(unusable(&format!("its scheme is `{other}`"))),
    }
}

fn parse_path(text: &str) -> Result<Endpoint, Failure> {
    let path = Path::new(text.strip_prefix("file://").unwrap_or(text));
    if path.components().count() < 2 {
        return Err(unusable(
            "it has neither a scheme (such as http:// before HOST:PORT) nor the form of a folder's path",
        ));
    }
    Ok(Endpoint(Given::Profile(path.to_owned())))
}

fn unusable(why: &str) -> Failure {
    let accepted = "give ws://HOST:PORT/devtools/browser/ID, ws://HOST:PORT/devtools/page/ID, wss://…, \
                    http://HOST:PORT, or the path of a user-data-dir";
    Failure::new(Code::StartFailed, format!("The browser's endpoint cannot be used: {why}; {accepted}."))
        .with(|detail| detail.stage = Some(Stage::Resolve))
}

/// `ws` and `http` are one server, but not one endpoint: the scheme is compared too.
fn same_place(ours: &Url, theirs: &Url) -> bool {
    let place = |url: &Url| (url.port_or_known_default(), url.path().trim_end_matches('/').to_owned());
    ours.scheme() == theirs.scheme() && ours.host() == theirs.host() && place(ours) == place(theirs)
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Given::Profile(path) => path.display().fmt(f),
            Given::Socket(url) | Given::Server(url) => {
                write!(f, "{}://{}", url.scheme(), url.host_str().unwrap_or_default())?;
                if let Some(port) = url.port() {
                    write!(f, ":{port}")?;
                }
                f.write_str(url.path())
            }
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

impl Serialize for Endpoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::str::FromStr for Endpoint {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Endpoint {
        Endpoint::parse(text).unwrap()
    }

    #[test]
    fn each_form_is_told_apart() {
        assert!(matches!(endpoint("ws://127.0.0.1:9222/devtools/browser/1").0, Given::Socket(_)));
        assert!(matches!(endpoint(" wss://host.example/?token=x ").0, Given::Socket(_)));
        assert!(matches!(endpoint("http://127.0.0.1:9222").0, Given::Server(_)));
        assert!(matches!(endpoint("/var/profile").0, Given::Profile(_)));
        assert!(matches!(endpoint("file:///var/profile").0, Given::Profile(_)));
        assert!(matches!(endpoint("./profile").0, Given::Profile(_)));
    }

    #[test]
    fn what_cannot_be_used_says_what_can_and_repeats_nothing() {
        for text in
            ["", "secret:9222", "secret", "ftp://secret/", "ws://", "ws://secret:99999/", "http://[secret/"]
        {
            let failure = Endpoint::parse(text).unwrap_err();
            assert_eq!(
                (failure.code, failure.detail.stage),
                (Code::StartFailed, Some(Stage::Resolve)),
                "{text}"
            );
            assert!(failure.message.contains("http://HOST:PORT"), "{failure}");
            assert!(!failure.to_string().contains("secret"), "{failure}");
        }
    }

    #[test]
    fn secrets_are_shown_nowhere() {
        let endpoint = endpoint("wss://user:secret@host.example:8443/devtools/browser/1?token=secret#secret");
        let shown = "wss://host.example:8443/devtools/browser/1";
        assert_eq!(endpoint.to_string(), shown);
        assert_eq!(format!("{endpoint:?}"), format!("Endpoint({shown})"));
        assert_eq!(serde_json::to_string(&endpoint).unwrap(), format!("\"{shown}\""));
    }

    #[test]
    fn the_same_place_is_scheme_host_port_and_path() {
        let signed = endpoint("wss://host.example/session/1?token=a");
        assert!(signed.same_as(&endpoint("wss://u:p@host.example:443/session/1?token=b")));
        for other in [
            "ws://host.example:443/session/1",
            "wss://other.example/session/1",
            "wss://host.example:8443/session/1",
            "wss://host.example/session/2",
            "/session/1",
        ] {
            assert!(!signed.same_as(&endpoint(other)), "{other}");
        }
        assert!(endpoint("http://localhost:9222").same_as(&endpoint("http://localhost:9222/")));
        assert!(endpoint("/a/profile").same_as(&endpoint("/a/profile/")));
    }

    #[test]
    fn what_is_on_this_machine_is_told_by_its_name() {
        for local in ["http://localhost:9222", "ws://127.0.0.9/x", "http://[::1]:1", "/var/profile"] {
            assert!(endpoint(local).is_local(), "{local}");
        }
        for remote in ["wss://host.example/", "http://192.168.0.1:9222", "http://localhost.example/"] {
            assert!(!endpoint(remote).is_local(), "{remote}");
        }
    }

    #[test]
    fn the_url_of_a_browsers_socket_names_it() {
        let name = |text: &str| browser_name(&Url::parse(text).unwrap());
        assert_eq!(name("ws://127.0.0.1:9222/devtools/browser/6f-1"), Some("6f-1".to_owned()));
        for text in ["wss://h/?token=x", "ws://h/devtools/browser/", "ws://h/devtools/page/6f"] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    #[test]
    fn a_page_endpoint_names_its_page() {
        let url = Url::parse("ws://127.0.0.1:9222/devtools/page/ABC?x=1").unwrap();
        assert_eq!(kind(&url), EndpointKind::Page(TargetId::from("ABC")));
        let url = Url::parse("wss://host.example/?token=x").unwrap();
        assert_eq!(kind(&url), EndpointKind::Browser);
    }
}
