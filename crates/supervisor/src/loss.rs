//! Why a host is asked for a fresh URL.

use supervisor_core::Stage;

use crate::dial::DialError;

/// What became of the connection, for the host that gives a URL in its place. Holds no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// What a host decides by.
    pub kind: LossKind,
    /// The HTTP status with which the last attempt was refused, where one was.
    pub http_status: Option<u16>,
    /// How far the last attempt came; none before the first one.
    pub stage: Option<Stage>,
    /// The same in words, and what may help.
    pub message: String,
}

/// The kinds of loss that call for different URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// What was connected is gone, and nothing has been tried since: the last URL may still be good.
    Dropped,
    /// 401: the credentials are missing or wrong.
    Unauthorized,
    /// 403: a signature that has run out, with most backends.
    Forbidden,
    /// 404: there is no such browser or page any more.
    NotFound,
    /// 410: the session is over; only another one helps.
    Gone,
    /// 429: too many connections or requests; the same URL may be good later.
    TooMany,
    /// 5xx: the server failed; the same URL may be good later.
    ServerFailed,
    /// Another HTTP status in the place of a socket.
    Refused,
    /// No HTTP answer at all: the name, the line, TLS, a time-out, or what was given as a fresh URL.
    Unreachable,
}

impl Loss {
    /// After this attempt, or before the first.
    pub(crate) fn of(last: Option<&DialError>) -> Self {
        match last {
            None => Self {
                kind: LossKind::Dropped,
                http_status: None,
                stage: None,
                message: "the connection was lost".to_owned(),
            },
            Some(DialError { stage, reason, http_status }) => Self {
                kind: http_status.map_or(LossKind::Unreachable, kind),
                http_status: *http_status,
                stage: Some(*stage),
                message: reason.clone(),
            },
        }
    }
}

fn kind(status: u16) -> LossKind {
    match status {
        401 => LossKind::Unauthorized,
        403 => LossKind::Forbidden,
        404 => LossKind::NotFound,
        410 => LossKind::Gone,
        429 => LossKind::TooMany,
        500..=599 => LossKind::ServerFailed,
        _ => LossKind::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_was_tried_yet() {
        let loss = Loss::of(None);
        assert_eq!((loss.kind, loss.http_status, loss.stage), (LossKind::Dropped, None, None));
    }

    #[test]
    fn statuses_are_told_apart_and_the_words_stay() {
        for (status, kind) in [
            (400, LossKind::Refused),
            (401, LossKind::Unauthorized),
            (403, LossKind::Forbidden),
            (404, LossKind::NotFound),
            (410, LossKind::Gone),
            (429, LossKind::TooMany),
            (499, LossKind::Refused),
            (500, LossKind::ServerFailed),
            (599, LossKind::ServerFailed),
        ] {
            let loss = Loss::of(Some(&DialError::new(Stage::Upgrade, "no").with_status(status)));
            assert_eq!((loss.kind, loss.http_status), (kind, Some(status)));
            assert_eq!((loss.stage, loss.message.as_str()), (Some(Stage::Upgrade), "no"));
        }
        let loss = Loss::of(Some(&DialError::new(Stage::Tcp, "nobody listens")));
        assert_eq!((loss.kind, loss.stage), (LossKind::Unreachable, Some(Stage::Tcp)));
    }
}
