//! Cuts a protocol description down to some events and commands and to the types that they need.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// What is kept, by `Domain.name`.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    names: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl Kept {
    /// Finds the types that these events and commands need, directly or through others.
    pub(crate) fn of(protocols: &[&Value], names: &[&str]) -> Self {
        let mut kept =
            Kept { names: names.iter().map(|name| (*name).to_owned()).collect(), types: BTreeSet::new() };
        let mut waiting: Vec<(String, &Value)> = Vec::new();
        for kind in ["events", "commands"] {
            waiting.extend(members(protocols, kind, "name").filter(|(name, _)| kept.names.contains(name)));
        }
        while let Some((name, value)) = waiting.pop() {
            let domain = name.split('.').next().unwrap_or_default();
            for reference in references(value, domain) {
                if kept.types.insert(reference.clone()) {
                    waiting.extend(members(protocols, "types", "id").filter(|(name, _)| *name == reference));
                }
            }
        }
        kept
    }

    /// Those names that the protocol does not have.
    pub(crate) fn missing(&self, protocols: &[&Value]) -> Vec<&str> {
        let known: BTreeSet<String> = ["events", "commands"]
            .iter()
            .flat_map(|kind| members(protocols, kind, "name"))
            .map(|(name, _)| name)
            .collect();
        self.names.iter().filter(|name| !known.contains(*name)).map(String::as_str).collect()
    }

    /// The part of one protocol file that is kept, without its prose.
    pub(crate) fn cut(&self, protocol: &Value) -> Value {
        let domains = list(&protocol["domains"]).filter_map(|domain| self.cut_domain(domain));
        json!({ "version": protocol["version"], "domains": domains.collect::<Vec<_>>() })
    }

    fn cut_domain(&self, domain: &Value) -> Option<Value> {
        let name = domain["domain"].as_str()?;
        let mut cut = Map::from_iter([("domain".to_owned(), json!(name))]);
        for (kind, key, kept) in
            [("types", "id", &self.types), ("commands", "name", &self.names), ("events", "name", &self.names)]
        {
            let wanted =
                |item: &&Value| kept.contains(&qualified(name, item[key].as_str().unwrap_or_default()));
            let items: Vec<Value> = list(&domain[kind]).filter(wanted).map(without_prose).collect();
            if !items.is_empty() {
                cut.insert(kind.to_owned(), Value::Array(items));
            }
        }
        (cut.len() > 1).then_some(Value::Object(cut))
    }
}

/// Each event, command or type of all domains with its full name.
fn members<'a>(
    protocols: &[&'a Value],
    kind: &'a str,
    key: &'a str,
) -> impl Iterator<Item = (String, &'a Value)> {
    let domains: Vec<&Value> = protocols.iter().flat_map(|protocol| list(&protocol["domains"])).collect();
    domains.into_iter().flat_map(move |domain| {
        let name = domain["domain"].as_str().unwrap_or_default();
        list(&domain[kind]).map(move |item| (qualified(name, item[key].as_str().unwrap_or_default()), item))
    })
}

/// The full names of all types that `value` refers to.
fn references(value: &Value, domain: &str) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(|item| references(item, domain)).collect(),
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).map(|name| qualified(domain, name));
            own.into_iter().chain(fields.values().flat_map(|field| references(field, domain))).collect()
        }
        _ => Vec::new(),
    }
}

fn qualified(domain: &str, name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{domain}.{name}") }
}

fn without_prose(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_prose).collect(),
        Value::Object(fields) => {
            // A parameter may itself be called `description`; prose is a text under that key.
            let kept = fields.iter().filter(|(key, field)| *key != "description" || !field.is_string());
            Value::Object(kept.map(|(key, field)| (key.clone(), without_prose(field))).collect())
        }
        other => other.clone(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocols() -> [Value; 2] {
        let page = json!({"version": {"major": "1"}, "domains": [
            {"domain": "Page", "description": "Prose.",
             "types": [{"id": "Frame", "description": "Prose.", "properties": [{"name": "id", "$ref": "FrameId"}]},
                       {"id": "FrameId", "type": "string"}, {"id": "Unused", "type": "string"}],
             "commands": [{"name": "close"}],
             "events": [{"name": "navigated", "parameters": [{"name": "frame", "$ref": "Frame"}]},
                        {"name": "called", "parameters": [{"name": "value", "$ref": "Runtime.Value"}]}]},
            {"domain": "Unused", "types": [{"id": "A", "type": "string"}]}]});
        let runtime = json!({"domains": [{"domain": "Runtime", "types": [
            {"id": "Value", "properties": [{"name": "nested", "optional": true, "$ref": "Value"}]}]}]});
        [page, runtime]
    }

    #[test]
    fn what_is_needed_is_kept_with_its_types_and_nothing_else() {
        let [page, runtime] = protocols();
        let kept = Kept::of(&[&page, &runtime], &["Page.navigated"]);
        assert_eq!(
            kept.cut(&page),
            json!({"version": {"major": "1"}, "domains": [{"domain": "Page",
                "types": [{"id": "Frame", "properties": [{"name": "id", "$ref": "FrameId"}]},
                          {"id": "FrameId", "type": "string"}],
                "events": [{"name": "navigated", "parameters": [{"name": "frame", "$ref": "Frame"}]}]}]})
        );
        assert_eq!(kept.cut(&runtime)["domains"], json!([]));
    }

    #[test]
    fn types_of_another_file_and_of_themselves_are_followed() {
        let [page, runtime] = protocols();
        let kept = Kept::of(&[&page, &runtime], &["Page.called"]);
        assert_eq!(kept.cut(&runtime)["domains"][0]["types"][0]["id"], "Value");
    }

    #[test]
    fn a_name_that_the_protocol_does_not_have_is_told() {
        let [page, runtime] = protocols();
        let kept = Kept::of(&[&page, &runtime], &["Page.close", "Page.clsoe"]);
        assert_eq!(kept.missing(&[&page, &runtime]), ["Page.clsoe"]);
    }
}
