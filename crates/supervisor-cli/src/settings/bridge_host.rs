//! The bridge's host, checked as the core will.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use supervisor::Options;

/// A host name in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct BridgeHost(pub(crate) String);

impl<'de> Deserialize<'de> for BridgeHost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut options = Options::default();
        options.bridge_host = String::deserialize(deserializer)?;
        options.check().map_err(de::Error::custom)?;
        Ok(Self(options.bridge_host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_host_names_are_taken() {
        let read = |text: &str| serde_json::from_value::<BridgeHost>(text.into());
        assert_eq!(read("a-b.invalid").unwrap().0, "a-b.invalid");
        for wrong in ["", "A.invalid", "a/b", "a:1"] {
            assert!(read(wrong).unwrap_err().to_string().contains("a host name"), "{wrong}");
        }
    }
}
