//! The probe's pages, on hosts that exist nowhere.

use cdp_wire::fetch::HeaderEntry;

/// The page's own host.
pub(crate) const HOST: &str = "cdp-probe-a.invalid";

/// Hosts of two more sites, for frames. No name below `.invalid` is ever given out, and each of these is a site of its own.
pub(crate) const SECOND: &str = "cdp-probe-b.invalid";
pub(crate) const THIRD: &str = "cdp-probe-c.invalid";

/// What the browser is told to stop for us.
pub(crate) const PATTERN: &str = "https://cdp-probe-*.invalid/*";

/// A page whose first script asks.
pub(crate) const FIRST_SCRIPT: &str = "first script";

/// What scripts look at before they ask: those that have not asked yet never will.
pub(crate) const HUSH: &str = "window.asks = false";

/// One page.
pub(crate) struct Page {
    path: &'static str,
    html: &'static str,
    header: Option<(&'static str, &'static str)>,
}

/// The pages: a policy is a header, as sites send it. Each has something to say, so that none looks empty to a person who
/// watches.
const PAGES: [Page; 7] = [
    Page { path: "/plain", html: "<p>cdp-supervisor probes this browser", header: None },
    Page { path: "/inner", html: "<p>a frame", header: None },
    Page {
        path: "/frames",
        html: "<p>frames<iframe src='/inner'></iframe><iframe src='https://cdp-probe-b.invalid/inner'></iframe>",
        header: None,
    },
    Page {
        path: "/leave",
        html:
            "<p>asks before it is left<script>window.asks = true; addEventListener('beforeunload', event => {
            if (asks) { event.preventDefault(); event.returnValue = 'stay' } })</script>",
        header: None,
    },
    Page {
        path: "/first",
        html: "<p>asks at once<script>window.answer = [confirm('first script')]</script>",
        header: None,
    },
    Page {
        path: "/csp",
        html: "<p>a strict page",
        header: Some(("Content-Security-Policy", "connect-src 'self'")),
    },
    Page {
        path: "/sync-xhr",
        html: "<p>a page without sync-xhr",
        header: Some(("Permissions-Policy", "sync-xhr=()")),
    },
];

/// The URL of a page.
pub(crate) fn url(host: &str, path: &str) -> String {
    format!("https://{host}{path}")
}

/// What is at a URL.
pub(crate) fn at(url: &str) -> Option<&'static Page> {
    let (_, path) = url.strip_prefix("https://")?.split_once('/')?;
    PAGES.iter().find(|page| page.path.strip_prefix('/') == Some(path))
}

impl Page {
    /// Its text.
    pub(crate) fn html(&self) -> &'static str {
        self.html
    }

    /// Its headers.
    pub(crate) fn headers(&self) -> Vec<HeaderEntry> {
        let kind = ("Content-Type", "text/html;charset=utf-8");
        let headers = [Some(kind), self.header].into_iter().flatten();
        headers.map(|(name, value)| HeaderEntry { name, value: value.to_owned() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_by_its_path_on_any_host() {
        for host in [HOST, SECOND, THIRD] {
            assert_eq!(at(&url(host, "/inner")).map(|page| page.path), Some("/inner"));
        }
        for nothing in
            ["https://cdp-probe-a.invalid/favicon.ico", "https://cdp-probe-a.invalid/", "about:blank"]
        {
            assert!(at(nothing).is_none(), "{nothing}");
        }
    }

    #[test]
    fn pages_name_the_hosts_and_questions_that_checks_wait_for() {
        assert!(at(&url(HOST, "/frames")).is_some_and(|page| page.html.contains(&url(SECOND, "/inner"))));
        assert!(at(&url(HOST, "/first")).is_some_and(|page| page.html.contains(FIRST_SCRIPT)));
    }

    #[test]
    fn a_policy_travels_as_a_header() {
        let names = |path| at(&url(HOST, path)).map(|page| page.headers().iter().map(|it| it.name).collect());
        assert_eq!(names("/csp"), Some(vec!["Content-Type", "Content-Security-Policy"]));
        assert_eq!(names("/plain"), Some(vec!["Content-Type"]));
    }
}
