//! The identifiers that this crate gives out, and the route of a message.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use cdp_wire::{SessionId, TargetId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! counted_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "-{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let number = text.strip_prefix(concat!($prefix, "-")).and_then(|digits| digits.parse().ok());
                number.map(Self).ok_or_else(|| BadId { expected: concat!($prefix, "-1"), got: text.into() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

counted_id! {
    /// A dialog (`d-1`). Never used twice for a task within a process, whatever it is connected to.
    DialogId, "d"
}
counted_id! {
    /// A call whose result can still be had (`c-1`). Never used twice for a task within a process.
    CallId, "c"
}

/// A text that is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an id such as `{expected}`, got `{got}`")]
pub struct BadId {
    expected: &'static str,
    got: String,
}

/// A host's request, numbered by the shell. It ends exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Req(pub u64);

/// One life of a connection. An input of an earlier epoch is recognised and dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Epoch(pub u32);

/// Where a message comes from or goes: the connection itself, or one flat session on it.
///
/// On a browser endpoint the root is the browser; on a page endpoint the root is that page's session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Option<SessionId>", into = "Option<SessionId>")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "Option<String>"))]
pub enum Route {
    /// Messages without a `sessionId`.
    Root,
    /// Messages with this `sessionId`.
    Session(SessionId),
}

impl Route {
    /// The session id to put on a command.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        match self {
            Route::Root => None,
            Route::Session(id) => Some(id),
        }
    }
}

/// A route as it is looked up by the text of its session, without making one.
pub(crate) trait Named {
    fn name(&self) -> Option<&str>;
}

impl Named for Route {
    fn name(&self) -> Option<&str> {
        self.session_id().map(SessionId::as_str)
    }
}

impl Named for Option<&str> {
    fn name(&self) -> Option<&str> {
        *self
    }
}

impl<'a> Borrow<dyn Named + 'a> for Route {
    fn borrow(&self) -> &(dyn Named + 'a) {
        self
    }
}

/// The order of routes: the root first.
impl Ord for dyn Named + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(&other.name())
    }
}

impl PartialOrd for dyn Named + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn Named + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Named + '_ {}

impl From<Option<SessionId>> for Route {
    fn from(session: Option<SessionId>) -> Self {
        session.map_or(Route::Root, Route::Session)
    }
}

impl From<Route> for Option<SessionId> {
    fn from(route: Route) -> Self {
        match route {
            Route::Root => None,
            Route::Session(id) => Some(id),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Route::Root => f.write_str("root"),
            Route::Session(id) => id.fmt(f),
        }
    }
}

/// What a connection's root is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EndpointKind {
    /// `/devtools/browser/…`: the root is the browser, targets are attached as sessions.
    Browser,
    /// `/devtools/page/ID`: the root is that page's own session.
    Page(TargetId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_and_their_names_have_the_same_order() {
        let names = [None, Some(""), Some("A"), Some("A1"), Some("a")];
        let routes = names.map(|name| Route::from(name.map(SessionId::from)));
        assert!(routes.is_sorted() && names.is_sorted_by(|a, b| *(a as &dyn Named) < *(b as &dyn Named)));
        assert!(routes.iter().zip(&names).all(|(route, name)| route.name() == *name));
    }

    #[test]
    fn ids_are_written_and_read_the_same() {
        assert_eq!(DialogId(7).to_string(), "d-7");
        assert_eq!("d-7".parse(), Ok(DialogId(7)));
        assert_eq!("7".parse::<DialogId>().unwrap_err().to_string(), "expected an id such as `d-1`, got `7`");
        assert!("c-7".parse::<DialogId>().is_err());
    }
}
