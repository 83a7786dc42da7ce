//! What a caller wants a task to be connected with.

use std::time::Duration;

use supervisor::{DialogPolicy, Endpoint, Failure, Scope, StartOptions};

use crate::arguments::invalid;
use crate::defaults::Defaults;
use crate::tools::BackendWishes;

/// What a caller names. The rest stays as it is for a connected task, and is as configured otherwise.
#[derive(Debug, Default)]
pub(crate) struct Wish {
    pub(crate) endpoint: Option<Endpoint>,
    pub(crate) dialog_policy: Option<DialogPolicy>,
    pub(crate) dialog_timeout: Option<Duration>,
    pub(crate) scope: Option<Scope>,
    pub(crate) backend: BackendWishes,
}

/// What a task is started with.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) endpoint: Endpoint,
    pub(crate) start: StartOptions,
}

impl Wish {
    /// The wish over what a connected task has, over what is configured.
    ///
    /// # Errors
    /// `invalid_argument` when nobody says where the browser is; `unsupported_backend`.
    pub(crate) fn over(mut self, present: Option<Wanted>, defaults: &Defaults) -> Result<Wanted, Failure> {
        let before = present.as_ref().map(|present| present.endpoint.clone());
        let endpoint = self.endpoint.take().or_else(|| before.clone()).or_else(|| defaults.endpoint.clone());
        let endpoint = endpoint.ok_or_else(no_endpoint)?;
        let mut start = present.map_or_else(|| defaults.start.clone(), |present| present.start);
        // The ids of a scope mean nothing in another browser.
        if before.is_some_and(|before| !before.same_as(&endpoint)) {
            start.options.scope = defaults.start.options.scope.clone();
        }
        self.apply(&mut start);
        Ok(Wanted { endpoint, start })
    }

    fn apply(self, start: &mut StartOptions) {
        let options = &mut start.options;
        if let Some(policy) = self.dialog_policy {
            options.dialog_policy = policy;
        }
        if let Some(limit) = self.dialog_timeout {
            options.dialog_timeout = limit;
        }
        if let Some(scope) = self.scope {
            options.scope = scope;
        }
        self.backend.apply(options);
    }
}

fn no_endpoint() -> Failure {
    invalid(
        "`cdp_url` is missing and no browser is configured; give the URL of a browser, such as http://127.0.0.1:9222",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> Option<Endpoint> {
        Some(Endpoint::parse(url).unwrap())
    }

    fn scoped() -> Wanted {
        let mut start = StartOptions::default();
        start.options.scope = Scope::TargetId("T".into());
        start.options.dialog_policy = DialogPolicy::AutoAccept;
        Wanted { endpoint: at("http://a.test:1").unwrap(), start }
    }

    #[test]
    fn what_is_not_named_stays() {
        let wish = Wish { dialog_timeout: Some(Duration::from_secs(9)), ..Wish::default() };
        let wanted = wish.over(Some(scoped()), &Defaults::default()).unwrap();
        let options = wanted.start.options;
        assert_eq!((options.dialog_policy, options.dialog_timeout.as_secs()), (DialogPolicy::AutoAccept, 9));
        assert_eq!(options.scope, Scope::TargetId("T".into()));
        assert_eq!(wanted.endpoint.to_string(), "http://a.test:1/");
    }

    #[test]
    fn a_scope_does_not_follow_to_another_browser() {
        let wish = Wish { endpoint: at("http://b.test:1"), ..Wish::default() };
        let options = wish.over(Some(scoped()), &Defaults::default()).unwrap().start.options;
        assert_eq!((options.scope, options.dialog_policy), (Scope::Browser, DialogPolicy::AutoAccept));
    }

    #[test]
    fn what_is_configured_comes_last() {
        let defaults = Defaults::default().with_endpoint(at("http://c.test:1").unwrap());
        let wanted = Wish::default().over(None, &defaults).unwrap();
        assert_eq!(wanted.endpoint.to_string(), "http://c.test:1/");
        assert!(Wish::default().over(None, &Defaults::default()).is_err());
    }
}
