//! Times as callers give them: a number of seconds, within bounds.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// More than nothing, and at most `MAX` seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seconds<const MAX: u64>(pub(crate) Duration);

/// Nothing, or at most `MAX` seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaybeNoSeconds<const MAX: u64>(pub(crate) Duration);

impl<'de, const MAX: u64> Deserialize<'de> for Seconds<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let time = seconds(deserializer, MAX)?;
        if time.is_zero() {
            return Err(de::Error::custom(format!("expected more than 0 and at most {MAX} seconds, got 0")));
        }
        Ok(Self(time))
    }
}

impl<'de, const MAX: u64> Deserialize<'de> for MaybeNoSeconds<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        seconds(deserializer, MAX).map(Self)
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D, max: u64) -> Result<Duration, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let time = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| *time <= Duration::from_secs(max)).ok_or_else(|| {
        let got = beginning(&value.to_string());
        de::Error::custom(format!("expected a number of seconds from 0 to {max}, got {got}"))
    })
}

/// A wrong value can be long.
fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

impl<const MAX: u64> JsonSchema for Seconds<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "exclusiveMinimum": 0, "maximum": MAX})
    }
}

impl<const MAX: u64> JsonSchema for MaybeNoSeconds<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MaybeNoSeconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": MAX})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fractions_are_taken_and_bounds_are_kept() {
        let read = |value| serde_json::from_value::<Seconds<60>>(value);
        assert_eq!(read(json!(0.25)).unwrap().0, Duration::from_millis(250));
        assert_eq!(read(json!(60)).unwrap().0, Duration::from_secs(60));
        for value in [json!(0), json!(-1), json!(60.001), json!(1e300), json!("5"), json!(null), json!([1])] {
            let error = read(value.clone()).unwrap_err().to_string();
            assert!(error.contains("seconds"), "{value}: {error}");
        }
        let none = serde_json::from_value::<MaybeNoSeconds<60>>(json!(0)).unwrap();
        assert_eq!(none.0, Duration::ZERO);
    }
}
