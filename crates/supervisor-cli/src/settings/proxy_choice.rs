//! Which proxy leads to a browser. Its user and password are never shown.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use supervisor::Proxy;

/// A proxy, as the library reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(crate) struct ProxyChoice(pub(crate) Proxy);

impl<'de> Deserialize<'de> for ProxyChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Value::String(text) = Value::deserialize(deserializer)? else {
            return Err(de::Error::custom("expected `environment`, `direct`, or the proxy's URL"));
        };
        // The failure does not repeat the text.
        Proxy::parse(&text).map(Self).map_err(|failure| {
            de::Error::custom(format_args!("{} Or `environment`, or `direct`", failure.message))
        })
    }
}

impl Serialize for ProxyChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_proxy_is_shown_without_its_secrets() {
        for (given, shown) in [
            ("environment", "environment"),
            ("direct", "direct"),
            ("http://u:secret@p.test:3128", "http://p.test:3128"),
        ] {
            let choice: ProxyChoice = serde_json::from_value(given.into()).unwrap();
            assert_eq!(serde_json::to_value(&choice).unwrap(), shown);
            assert!(!format!("{choice:?}").contains("secret"));
        }
        assert_eq!(serde_json::to_value(ProxyChoice::default()).unwrap(), "environment");
    }

    #[test]
    fn a_wrong_one_is_told_and_not_repeated() {
        for given in [json!("socks5://u:secret@p"), json!(["secret"]), json!(1), json!("secret secret")] {
            let error = serde_json::from_value::<ProxyChoice>(given).unwrap_err().to_string();
            assert!(error.contains("`direct`") && !error.contains("secret"), "{error}");
        }
    }
}
