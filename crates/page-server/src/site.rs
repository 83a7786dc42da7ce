//! The pages of a server, given before it starts.

use std::collections::HashMap;

use hyper::StatusCode;
use hyper::header::HeaderName;

use crate::Gate;
use crate::answer::Answer;

/// What is at which path. In every page, header value and redirect target, `{PORT}` becomes the server's port.
///
/// A path is compared without its query. A path that nothing was given for is answered with 404, but `/favicon.ico`
/// with 204, so that a browser's console stays free of what no page asked for.
#[derive(Debug, Clone)]
pub struct Site {
    /// By host (`None`: any) and path.
    answers: HashMap<(Option<String>, String), Answer>,
}

impl Default for Site {
    fn default() -> Site {
        Site::new()
    }
}

impl Site {
    /// A site without pages.
    pub fn new() -> Site {
        Site { answers: HashMap::new() }.status("/favicon.ico", 204)
    }

    /// A page, on every host.
    pub fn page(self, path: &str, html: &str) -> Site {
        self.at(None, path, Answer::html(html))
    }

    /// A page with headers of its own, as in `("Content-Security-Policy", "connect-src 'none'")`.
    ///
    /// # Panics
    /// When a name is no header name: the caller wrote it.
    pub fn page_with(self, path: &str, html: &str, headers: &[(&str, &str)]) -> Site {
        let answer = headers.iter().fold(Answer::html(html), |answer, (name, value)| {
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
                panic!("{name:?} is no header name")
            };
            answer.with(name, value)
        });
        self.at(None, path, answer)
    }

    /// Something else than a page, as in `("/a.pdf", "application/pdf", …)`.
    pub fn file(self, path: &str, content_type: &str, body: &str) -> Site {
        self.at(None, path, Answer::file(content_type, body))
    }

    /// A page on one host only; it goes before a page of that path on every host.
    pub fn page_for(self, host: &str, path: &str, html: &str) -> Site {
        self.at(Some(host), path, Answer::html(html))
    }

    /// An empty answer with this status code.
    ///
    /// # Panics
    /// When `code` is none: the caller wrote it.
    pub fn status(self, path: &str, code: u16) -> Site {
        let Ok(code) = StatusCode::from_u16(code) else { panic!("{code} is no HTTP status code") };
        self.at(None, path, Answer::status(code))
    }

    /// A page that is held until the gate is released.
    pub fn slow(self, path: &str, gate: &Gate, html: &str) -> Site {
        self.at(None, path, Answer::html(html).behind(gate.clone()))
    }

    /// A redirect (302) to a path or a URL.
    pub fn redirect(self, from: &str, to: &str) -> Site {
        self.at(None, from, Answer::redirect(to))
    }

    /// A small file that a browser downloads instead of showing it.
    pub fn download(self, path: &str) -> Site {
        self.at(None, path, Answer::download())
    }

    fn at(mut self, host: Option<&str>, path: &str, answer: Answer) -> Site {
        self.answers.insert((host.map(str::to_owned), path.to_owned()), answer);
        self
    }

    /// `host` without its port.
    pub(crate) fn answer(&self, host: &str, path: &str) -> Answer {
        let at = |host: Option<&str>| self.answers.get(&(host.map(str::to_owned), path.to_owned()));
        at(Some(host)).or_else(|| at(None)).cloned().unwrap_or_else(|| Answer::not_found(host, path))
    }
}
