//! Values with bounds, which are read or refused with what was expected.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// More than nothing, and at most `MAX` seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seconds<const MAX: u64>(pub(crate) Duration);

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Whole<const MIN: u64, const MAX: u64>(pub(crate) u64);

impl<'de, const MAX: u64> Deserialize<'de> for Seconds<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let time = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let time = time.filter(|time| !time.is_zero() && *time <= Duration::from_secs(MAX));
        time.map(Self)
            .ok_or_else(|| wrong(format_args!("a number of seconds, more than 0 and at most {MAX}"), &value))
    }
}

impl<const MAX: u64> Serialize for Seconds<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.subsec_nanos() {
            0 => serializer.serialize_u64(self.0.as_secs()),
            _ => serializer.serialize_f64(self.0.as_secs_f64()),
        }
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let number = value.as_u64().filter(|number| (MIN..=MAX).contains(number));
        number.map(Self).ok_or_else(|| wrong(format_args!("a whole number from {MIN} to {MAX}"), &value))
    }
}

fn wrong<E: de::Error>(expected: fmt::Arguments<'_>, got: &Value) -> E {
    E::custom(format_args!("expected {expected}, got {}", shown(got)))
}

/// The beginning of a wrong value: it can be long.
fn shown(value: &Value) -> String {
    const SHOWN: usize = 40;
    value.to_string().chars().take(SHOWN).collect()
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

impl<const MIN: u64, const MAX: u64> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Whole".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn seconds_keep_their_bounds() {
        let read = |value| serde_json::from_value::<Seconds<60>>(value);
        assert_eq!(read(json!(0.25)).unwrap().0, Duration::from_millis(250));
        assert_eq!(read(json!(60)).unwrap().0, Duration::from_secs(60));
        for value in [json!(0), json!(-1), json!(60.001), json!(1e300), json!("5"), json!(null), json!([1])] {
            let error = read(value.clone()).unwrap_err().to_string();
            assert!(error.contains("more than 0 and at most 60, got "), "{value}: {error}");
        }
    }

    #[test]
    fn whole_numbers_keep_their_bounds() {
        let read = |value| serde_json::from_value::<Whole<2, 9>>(value);
        assert_eq!((read(json!(2)).unwrap().0, read(json!(9)).unwrap().0), (2, 9));
        for value in [json!(1), json!(10), json!(-3), json!(2.5), json!("3"), json!(null)] {
            let error = read(value.clone()).unwrap_err().to_string();
            assert!(error.contains("a whole number from 2 to 9, got "), "{value}: {error}");
        }
    }

    #[test]
    fn whole_seconds_are_written_without_a_fraction() {
        let written = |time| serde_json::to_string(&Seconds::<60>(time)).unwrap();
        assert_eq!(written(Duration::from_secs(30)), "30");
        assert_eq!(written(Duration::from_millis(1_500)), "1.5");
    }
}
