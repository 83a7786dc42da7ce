//! What can go wrong.

use supervisor::Failure;

use crate::report::Verdict;

/// Why nothing could be measured.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// There is no connection, or no task on it.
    #[error("{0}")]
    Start(Failure),
    /// The endpoint is one page's: whatever is on it belongs to somebody.
    #[error(
        "this is the endpoint of one page, and the probe opens pages of its own; give the browser's: http://HOST:PORT or \
         ws://HOST:PORT/devtools/browser/ID"
    )]
    PageEndpoint,
    /// The browser does what no browser does.
    #[error("expected {expected}, got {got}; is this a browser's endpoint?")]
    Odd {
        /// What the protocol promises.
        expected: &'static str,
        /// What came.
        got: String,
    },
}

/// Why a check came to no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Trouble {
    /// The task says no.
    #[error("{0}")]
    Task(#[from] Failure),
    /// The browser says no.
    #[error("the browser refused {method}: {message} [{code}]")]
    Refused { method: &'static str, code: i64, message: String },
    /// The connection is gone.
    #[error("the connection to the browser is gone")]
    Gone,
    /// Something came out otherwise than any browser does it.
    #[error("expected {expected}, got {got}")]
    Odd { expected: &'static str, got: String },
}

impl Trouble {
    pub(crate) fn odd(expected: &'static str, got: impl ToString) -> Self {
        Self::Odd { expected, got: got.to_string() }
    }

    /// A check that ended so has measured nothing.
    pub(crate) fn verdict(&self) -> Verdict {
        let reason = match self {
            Trouble::Task(failure) => failure.code.as_str(),
            Trouble::Refused { .. } => "refused",
            Trouble::Gone => "disconnected",
            Trouble::Odd { .. } => "odd",
        };
        Verdict::unknown(reason).with(self.to_string())
    }
}

impl From<Trouble> for ProbeError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Task(failure) => ProbeError::Start(failure),
            Trouble::Odd { expected, got } => ProbeError::Odd { expected, got },
            other => ProbeError::Odd { expected: "the browser to do as it is told", got: other.to_string() },
        }
    }
}
