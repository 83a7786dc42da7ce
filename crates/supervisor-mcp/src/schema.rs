//! JSON Schemas of arguments and results, from the types that are read and written.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use supervisor::{DialogView, Failure};

type Object = Map<String, Value>;

/// What a tool takes: its own arguments, and the task.
pub(crate) fn input<T: JsonSchema>() -> Object {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = root(settings.into_generator().into_root_schema_for::<T>());
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties["task_id"] = json!({
        "type": "string", "default": crate::arguments::DEFAULT_TASK, "minLength": 1, "maxLength": crate::limits::MAX_TASK_ID,
        "description": "The browser task that is meant. Each has a connection and dialogs of its own.",
    });
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// What a tool answers: its own result or a failure, and what is beside either.
pub(crate) fn output<T: JsonSchema>() -> Object {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let dialogs = generator.subschema_for::<Vec<DialogView>>().to_value();
    let failure = generator.subschema_for::<Failure>().to_value();
    let mut schema = root(generator.into_root_schema_for::<T>());
    let own = schema.remove("required").unwrap_or_else(|| json!([]));
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties["success"] = json!({"type": "boolean", "description": "Whether it was done."});
    properties["task_id"] = json!({"type": "string", "description": "The task."});
    properties["error"] = described(failure, "Why it was not done.");
    properties["pending_dialogs"] = described(
        dialogs.clone(),
        "Dialogs that wait for an answer, while the task has a browser. Untrusted texts.",
    );
    properties["opened_dialogs"] =
        described(dialogs, "Dialogs that opened while the call ran, closed by now or not. Untrusted texts.");
    schema.insert("required".into(), json!(["success"]));
    schema.insert(
        "oneOf".into(),
        json!([
            {"properties": {"success": {"const": true}}, "required": own},
            {"properties": {"success": {"const": false}}, "required": ["error"]},
        ]),
    );
    schema
}

/// The schema of what is written somewhere else than in a result.
pub(crate) fn written<T: JsonSchema>() -> Object {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    plain(&mut schema);
    object(schema)
}

fn described(mut schema: Value, text: &str) -> Value {
    schema["description"] = text.into();
    schema
}

/// An object without what only repeats the tool's name and description.
fn root(mut schema: Schema) -> Object {
    plain(&mut schema);
    absent_not_null(&mut schema);
    short_words(&mut schema);
    let mut schema = object(schema);
    for noise in ["$schema", "title", "description"] {
        schema.remove(noise);
    }
    schema.insert("type".into(), "object".into());
    schema
}

fn object(schema: Schema) -> Object {
    match schema.to_value() {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// Formats such as `uint64` are Rust's, and validators warn of them; lines end where the source's do.
fn plain(schema: &mut Schema) {
    schemars::transform::transform_subschemas(&mut plain, schema);
    if let Some(object) = schema.as_object_mut() {
        object.remove("format");
        if let Some(Value::String(text)) = object.get_mut("description") {
            *text = text.replace('\n', " ");
        }
    }
}

/// What may be absent is not also said to be null. Both are taken, but clients that map schemas to simpler dialects know no
/// value of two types.
fn absent_not_null(schema: &mut Schema) {
    schemars::transform::transform_subschemas(&mut absent_not_null, schema);
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        if let Some(property) = property.as_object_mut().filter(|_| !required.contains(&name.as_str().into()))
        {
            without_null(property);
        }
    }
}

fn without_null(property: &mut Object) {
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            property.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(ways)) = property.get_mut("anyOf") else { return };
    ways.retain(|way| way["type"] != "null");
    if let [Value::Object(way)] = ways.as_slice() {
        let way = way.clone();
        property.remove("anyOf");
        way.into_iter().for_each(|(key, value)| {
            property.entry(key).or_insert(value);
        });
    }
}

/// Words without what each means: a list of tools is read again and again, and the documents say it once.
fn short_words(schema: &mut Schema) {
    schemars::transform::transform_subschemas(&mut short_words, schema);
    let Some(object) = schema.as_object_mut() else { return };
    let Some(ways) = object.get("oneOf").and_then(Value::as_array) else { return };
    let words: Option<Vec<Value>> =
        ways.iter().map(words).collect::<Option<Vec<_>>>().map(|all| all.concat());
    if let Some(words) = words {
        object.remove("oneOf");
        object.insert("type".into(), "string".into());
        object.insert("enum".into(), words.into());
    }
}

/// The words that this way to write a value allows, if it allows nothing else.
fn words(way: &Value) -> Option<Vec<Value>> {
    match (way.get("const"), way.get("enum")) {
        (Some(word), _) => Some(vec![word.clone()]),
        (None, Some(Value::Array(words))) => Some(words.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::TOOLS;

    /// As the dialects want it that model providers map schemas to.
    #[test]
    fn arguments_have_one_type_each_and_refer_to_nothing() {
        for tool in &TOOLS {
            let schema = (tool.input)();
            let text = Value::Object(schema.clone()).to_string();
            assert!(!text.contains("$ref") && !text.contains("\"null\""), "{}: {text}", tool.name);
            for (name, property) in schema["properties"].as_object().unwrap() {
                let typed = property["type"].is_string() || property["oneOf"].is_array();
                assert!(typed, "{}: {name}: {property}", tool.name);
            }
        }
    }

    #[test]
    fn a_result_that_may_be_absent_is_not_null() {
        let schema = (crate::tools::find("browser_dialog").unwrap().output)();
        assert_eq!(schema["properties"]["next_dialog"]["$ref"], "#/$defs/DialogView");
        let dialog = &schema["$defs"]["DialogView"]["properties"];
        assert_eq!(dialog["closed_at"]["type"], "number");
        assert_eq!(
            dialog["frame_id"]["type"],
            serde_json::json!(["string", "null"]),
            "it is there, and null"
        );
        let null = serde_json::json!({"type": "null"});
        assert_eq!(dialog["user_input"]["oneOf"][1], null, "a dismissed prompt has it, and it is null");
    }
}
