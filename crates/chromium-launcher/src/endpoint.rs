//! Where a started browser listens.

use std::path::Path;

/// The browser's DevTools endpoint on 127.0.0.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) port: u16,
    /// Path of the browser target, as in `/devtools/browser/6f3d…`.
    pub(crate) path: String,
}

impl Endpoint {
    /// The file that Chromium writes into its profile once it listens: the port, a line end, the path.
    pub(crate) fn from_profile(profile: &Path) -> Option<Endpoint> {
        Endpoint::from_active_port(&std::fs::read_to_string(profile.join("DevToolsActivePort")).ok()?)
    }

    fn from_active_port(text: &str) -> Option<Endpoint> {
        let (port, path) = text.split_once('\n')?;
        Endpoint::new(port, path.trim_end())
    }

    /// The line on standard error: `DevTools listening on ws://127.0.0.1:PORT/devtools/browser/ID`.
    ///
    /// A browser in a container of its own (a snap) has its profile elsewhere, and only says this.
    pub(crate) fn from_stderr(line: &str) -> Option<Endpoint> {
        let (_, address) = line.split_once("DevTools listening on ws://")?;
        let (host, path) = address.trim_end().split_once('/')?;
        Endpoint::new(host.rsplit_once(':')?.1, &format!("/{path}"))
    }

    /// `None` also for what is only half written: a port of 0, a path without its id.
    fn new(port: &str, path: &str) -> Option<Endpoint> {
        let port = port.parse().ok().filter(|port| *port != 0)?;
        let id = path.strip_prefix("/devtools/browser/")?;
        (!id.is_empty()).then(|| Endpoint { port, path: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Option<Endpoint> {
        Some(Endpoint { port: 41234, path: "/devtools/browser/6f3d-1".to_owned() })
    }

    #[test]
    fn the_profile_file_is_a_port_and_a_path() {
        assert_eq!(Endpoint::from_active_port("41234\n/devtools/browser/6f3d-1"), endpoint());
        assert_eq!(Endpoint::from_active_port("41234\n/devtools/browser/6f3d-1\n"), endpoint());
    }

    #[test]
    fn a_file_that_is_not_complete_is_no_endpoint() {
        for text in
            ["", "41234", "41234\n", "41234\n/devtools/browser/", "0\n/devtools/browser/6f3d-1", "x\ny"]
        {
            assert_eq!(Endpoint::from_active_port(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_line_on_stderr_names_both() {
        let line = "DevTools listening on ws://127.0.0.1:41234/devtools/browser/6f3d-1";
        assert_eq!(Endpoint::from_stderr(line), endpoint());
        assert_eq!(Endpoint::from_stderr("[1:2:ERROR:x.cc(3)] bus not found"), None);
        assert_eq!(Endpoint::from_stderr("DevTools listening on ws://127.0.0.1:41234/"), None);
    }
}
