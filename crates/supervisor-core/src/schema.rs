//! JSON Schemas of what derives cannot tell: identifiers that are written as text, and types of other crates.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::ids::{CallId, DialogId};

macro_rules! written_as_text {
    ($name:ident, $pattern:literal) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "pattern": $pattern})
            }
        }
    };
}

written_as_text!(DialogId, "^d-[0-9]+$");
written_as_text!(CallId, "^c-[0-9]+$");

/// `Page.DialogType`
pub(crate) fn dialog_type(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["alert", "confirm", "prompt", "beforeunload", "other"]})
}

/// A value or `null`, where `null` says something: as two ways to write it, which no simplification takes for a value that
/// may be left out.
pub(crate) fn or_null<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let value = generator.subschema_for::<T>();
    json_schema!({"oneOf": [value, {"type": "null"}]})
}
