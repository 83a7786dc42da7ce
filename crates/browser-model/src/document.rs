//! Documents: what is in a frame, and what a navigation will put there.

use crate::bridge::Asking;
use crate::ids::{LoaderNo, ProcessNo};
use crate::process::Key;

/// How an opaque origin is written in frames and contexts.
pub(crate) const OPAQUE: &str = "://";

/// The document in a frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    /// Its URL without the fragment; empty for the first, empty one.
    pub(crate) url: String,
    /// The fragment with its `#`, or nothing.
    pub(crate) fragment: String,
    /// Its origin; [`OPAQUE`] when it has none.
    pub(crate) origin: String,
    pub(crate) loader: LoaderNo,
    /// Its execution context: number, and the process that gave it.
    pub(crate) context: Option<Context>,
    /// The client's script is in it, and asks the client.
    pub(crate) asking: Option<Asking>,
}

/// An execution context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) id: i64,
    pub(crate) process: ProcessNo,
}

impl Context {
    /// The id that no other context ever has.
    pub(crate) fn unique(self) -> String {
        format!("{}.{}", self.process.0, self.id)
    }
}

impl Document {
    /// The empty document that every frame begins with.
    pub(crate) fn empty(loader: LoaderNo) -> Self {
        let (url, fragment, origin) = (String::new(), String::new(), OPAQUE.to_owned());
        Self { url, fragment, origin, loader, context: None, asking: None }
    }

    /// The whole URL.
    pub(crate) fn whole_url(&self) -> String {
        format!("{}{}", self.url, self.fragment)
    }
}

/// What a navigation will commit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Destination {
    pub(crate) url: String,
    pub(crate) origin: String,
    pub(crate) renderer: Renderer,
    /// Its target is attached without being paused, as sandboxed `srcdoc` frames are.
    pub(crate) never_paused: bool,
}

/// Which renderer a document needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renderer {
    /// That of its parent, or for a main frame the present one.
    Inherited,
    /// A certain one.
    Of(Key),
}

/// The URL and origin of a site's page.
pub(crate) fn site_page(site: u8, page: u32) -> (String, String) {
    let name = char::from(b'a' + site);
    (format!("http://{name}.test/{page}"), format!("http://{name}.test"))
}

/// The site of such a URL.
pub(crate) fn site_of(url: &str) -> Option<u8> {
    let rest = url.strip_prefix("http://")?;
    let name = rest.split('/').next()?.strip_suffix(".test")?;
    match name.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(letter - b'a'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sites_url_names_the_site() {
        let (url, origin) = site_page(2, 7);
        assert_eq!((url.as_str(), origin.as_str()), ("http://c.test/7", "http://c.test"));
        assert_eq!(site_of(&url), Some(2));
        assert_eq!((site_of("about:blank"), site_of("http://example.com/")), (None, None));
    }
}
