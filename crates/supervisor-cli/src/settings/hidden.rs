//! Values that hold secrets, and never show them.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use supervisor::{Endpoint, Secret};

/// What stands in the place of a secret.
const HIDDEN: &str = "(hidden)";

/// Where a browser is. It may hold a signed query or a password: only scheme, host, port and path are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct CdpUrl(Endpoint);

impl CdpUrl {
    /// What it leads to, secrets and all.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.0
    }
}

impl<'de> Deserialize<'de> for CdpUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The failure does not repeat the text.
        let endpoint = Endpoint::parse(&text(deserializer)?);
        endpoint.map(Self).map_err(|failure| de::Error::custom(failure.message))
    }
}

/// Headers for a browser's server. Their names are shown, their values are not.
#[derive(Clone, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "BTreeMap<String, String>")]
pub(crate) struct Headers(BTreeMap<String, String>);

impl Headers {
    /// As a task takes them.
    pub(crate) fn secrets(&self) -> Vec<(String, Secret)> {
        self.0.iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect()
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HeaderReader)
    }
}

struct HeaderReader;

impl<'de> Visitor<'de> for HeaderReader {
    type Value = Headers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of headers with their values, such as {Name: value}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Headers, A::Error> {
        let mut headers = BTreeMap::new();
        while let Some(name) = entries.next_key::<String>()? {
            check_name(&name).map_err(de::Error::custom)?;
            headers.insert(name, entries.next_value::<HeaderValue>()?.0);
        }
        Ok(Headers(headers))
    }

    // Serde's own words for what is no map would repeat it.

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Headers, E> {
        Err(no_map(&self))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Headers, E> {
        Err(no_map(&self))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Headers, E> {
        Err(no_map(&self))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Headers, E> {
        Err(no_map(&self))
    }
}

fn no_map<E: de::Error>(expected: &dyn de::Expected) -> E {
    E::custom(format_args!("expected {expected}"))
}

/// As HTTP takes it (RFC 9110, 5.6.2).
fn check_name(name: &str) -> Result<(), String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!("{name:?} is no name of a header"));
    }
    match name.eq_ignore_ascii_case("origin") {
        true => Err("browsers refuse a connection with an `Origin` header; leave it out".into()),
        false => Ok(()),
    }
}

struct HeaderValue(String);

impl<'de> Deserialize<'de> for HeaderValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer)?;
        // As HTTP takes it (RFC 9110, 5.5).
        match text.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f)) {
            true => Ok(Self(text)),
            false => Err(de::Error::custom("the value has characters that HTTP forbids")),
        }
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.keys().map(|name| (name, HIDDEN)))
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.keys().map(|name| (name, HIDDEN))).finish()
    }
}

/// A text, or an error that does not repeat what is there instead.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        _ => Err(de::Error::custom("expected a text; put it in quotes")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        let url: CdpUrl = serde_json::from_value(json!("wss://u:secret@h.example/x?token=secret")).unwrap();
        assert_eq!(serde_json::to_value(&url).unwrap(), "wss://h.example/x");
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn a_wrong_url_is_not_repeated() {
        for value in [json!("ftp://secret"), json!(["secret"]), json!("secret:1")] {
            let error = serde_json::from_value::<CdpUrl>(value).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn headers_show_their_names_only() {
        let headers: Headers =
            serde_json::from_value(json!({"Authorization": "secret", "X-Key": ""})).unwrap();
        let shown = json!({"Authorization": "(hidden)", "X-Key": "(hidden)"});
        assert_eq!(serde_json::to_value(&headers).unwrap(), shown);
        assert!(!format!("{headers:?}").contains("secret"));
        assert_eq!(headers.secrets().len(), 2);
    }

    #[test]
    fn what_http_does_not_take_is_told_without_its_value() {
        for (headers, named) in [
            (json!({"bad name": "secret"}), "bad name"),
            (json!({"": "secret"}), "\"\""),
            (json!({"X-Key": "secret\n"}), "HTTP forbids"),
            (json!({"X-Key": ["secret"]}), "in quotes"),
            (json!({"Origin": "secret"}), "Origin"),
            (json!(["secret"]), "names of headers"),
            (json!("secret"), "names of headers"),
        ] {
            let error = serde_json::from_value::<Headers>(headers).unwrap_err().to_string();
            assert!(error.contains(named) && !error.contains("secret"), "{error}");
        }
    }
}
