//! What the schema says about each key.

use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::keys::Key;
use super::model::Settings;

/// The schema of the settings.
pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Settings>();
    plain(&mut schema);
    schema.to_value()
});

/// What stays: said in the schema itself, because it travels alone.
const PROMISE: &str = "Keys stay and keep their meaning; keys are only added, and enumerations may grow.";

/// The JSON Schema of the file.
pub(crate) fn json_schema() -> String {
    let mut schema = SCHEMA.clone();
    schema["$comment"] = PROMISE.into();
    // Printing a tree of values to a string cannot fail.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// The schema of a key.
pub(crate) fn schema(key: &Key) -> &'static Value {
    let (section, name) = key.parts();
    &SCHEMA["properties"][section]["properties"][name]
}

/// What a key is, in a sentence or two.
pub(crate) fn description(key: &Key) -> &'static str {
    schema(key)["description"].as_str().unwrap_or_default()
}

/// Lines end where the source's do.
fn plain(schema: &mut Schema) {
    schemars::transform::transform_subschemas(&mut plain, schema);
    if let Some(Value::String(text)) = schema.as_object_mut().and_then(|object| object.get_mut("description"))
    {
        *text = text.replace('\n', " ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::keys::KEYS;

    #[test]
    fn each_key_is_described_and_has_a_default() {
        for key in &KEYS {
            assert!(description(key).ends_with('.'), "{}: {}", key.path, schema(key));
            assert!(schema(key).get("default").is_some(), "{}: {}", key.path, schema(key));
        }
    }
}
