//! The identifiers of CDP, each a type of its own. Cloning one is a reference count.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
        pub struct $name(#[cfg_attr(feature = "schema", schemars(with = "String"))] Arc<str>);

        impl $name {
            /// The identifier as the browser wrote it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

text_id! {
    /// A flat CDP session (`Target.SessionID`). Never reused by a browser.
    SessionId
}
text_id! {
    /// A target (`Target.TargetID`). For an iframe target it equals the frame's id; for a page it usually does.
    TargetId
}
text_id! {
    /// A frame (`Page.FrameId`): kept through navigations and process changes, never reused after removal.
    FrameId
}
text_id! {
    /// A document loader (`Network.LoaderId`): one life of a frame's document.
    LoaderId
}
text_id! {
    /// A browser context (`Browser.BrowserContextID`): a profile, or one incognito window's worth of state.
    BrowserContextId
}
text_id! {
    /// An execution context's identifier that no other context in the browser ever has (`uniqueId`).
    UniqueContextId
}
text_id! {
    /// A request paused by `Fetch` (`Fetch.RequestId`).
    FetchRequestId
}

impl From<&FrameId> for TargetId {
    fn from(frame: &FrameId) -> Self {
        Self(frame.0.clone())
    }
}

impl From<&TargetId> for FrameId {
    fn from(target: &TargetId) -> Self {
        Self(target.0.clone())
    }
}

/// The `id` of a command, unique per connection; a reply is matched by it alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct CommandId(pub u64);

impl CommandId {
    /// The largest id that Chromium accepts: it reads ids as signed 32-bit integers.
    pub const MAX: CommandId = CommandId(i32::MAX as u64);
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandId({})", self.0)
    }
}
