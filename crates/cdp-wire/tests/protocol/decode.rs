//! Events and results: from the protocol's JSON to our types.

use std::collections::BTreeSet;

use cdp_wire::protocol::{COMMANDS, EVENTS};
use cdp_wire::{Known, Text, WireError, browser, page, parse, runtime, target};
use serde_json::Value;

use crate::sample::{Field, Fill, sample};
use crate::schema::{Property, Protocol};

/// Fields that a type requires although the protocol may take them away one day, and why that is taken.
const TAKEN_ON_TRUST: [(&str, &str); 1] = [
    // Deprecated in favour of the unique id, which older browsers do not send; every browser so far sends this one.
    ("Runtime.executionContextDestroyed", "/executionContextId"),
];

/// Decodes and gives what came of it in `Debug`'s words; two values are the same when these are.
type Decode<'d> = &'d dyn Fn(&str) -> Result<String, WireError>;

#[test]
fn every_event_is_in_the_protocol_and_decodes_as_it_says() {
    let protocol = Protocol::load();
    for method in EVENTS {
        let properties =
            protocol.event(method).unwrap_or_else(|| panic!("the protocol has no event {method}"));
        let decode = |json: &str| Ok(format!("{:?}", Known::decode(&Text::from(*method), json)?));
        let subject = Subject { protocol: &protocol, method, properties, decode: &decode };
        subject.check();
    }
}

#[test]
fn every_modelled_result_decodes_as_the_protocol_says() {
    let protocol = Protocol::load();
    let results: [(&str, Decode<'_>); 5] = [
        ("Target.attachToTarget", &|json| Ok(format!("{:?}", parse::<target::Attached<'_>>("test", json)?))),
        ("Target.getTargetInfo", &|json| {
            Ok(format!("{:?}", parse::<target::TargetInfoResult<'_>>("test", json)?))
        }),
        ("Browser.getVersion", &|json| Ok(format!("{:?}", parse::<browser::Version<'_>>("test", json)?))),
        ("Page.getFrameTree", &|json| {
            Ok(format!("{:?}", parse::<page::FrameTreeResult<'_>>("test", json)?.frames()?))
        }),
        ("Runtime.evaluate", &|json| {
            Ok(format!("{:?}", parse::<runtime::EvaluateResult<'_>>("test", json)?))
        }),
    ];
    for (method, decode) in results {
        assert!(COMMANDS.contains(&method), "{method} is not modelled");
        let properties =
            protocol.result(method).unwrap_or_else(|| panic!("the protocol has no command {method}"));
        let subject = Subject { protocol: &protocol, method, properties, decode };
        subject.check();
    }
}

/// One event or result under test.
struct Subject<'t> {
    protocol: &'t Protocol,
    method: &'t str,
    properties: Vec<Property<'t>>,
    decode: Decode<'t>,
}

impl Subject<'_> {
    fn check(&self) {
        let (least, _) = sample(self.protocol, Fill::Least, &self.properties);
        self.decoded(&least);
        let (full, fields) = sample(self.protocol, Fill::Full, &self.properties);
        let shown = self.decoded(&full);
        assert_eq!(
            left_at_default(&shown),
            None,
            "{}: a field that no protocol field fills in {shown}",
            self.method
        );
        let read = fields.iter().filter(|field| self.reads(&full, &shown, field));
        let filled: BTreeSet<String> = read.map(|field| self.check_value(&full, &shown, field)).collect();
        let unfilled: Vec<&str> = field_names(&shown).filter(|name| !filled.contains(*name)).collect();
        assert!(unfilled.is_empty(), "{}: no protocol field fills {unfilled:?} in {shown}", self.method);
    }

    fn decoded(&self, message: &Value) -> String {
        (self.decode)(&message.to_string())
            .unwrap_or_else(|error| panic!("{}: {error}\n{message}", self.method))
    }

    /// Whether our type would be another without this field. If it cannot be without, the field must be promised.
    fn reads(&self, full: &Value, shown: &str, field: &Field<'_>) -> bool {
        match (self.decode)(&without(full, &field.pointer).to_string()) {
            Ok(rest) => rest != shown,
            Err(error) => {
                assert!(
                    self.is_promised(field),
                    "{}: {} is not promised, but {error}",
                    self.method,
                    field.pointer
                );
                true
            }
        }
    }

    fn is_promised(&self, field: &Field<'_>) -> bool {
        let promised = |property: Property<'_>| !property.is_optional() && !property.is_unstable();
        field.property.is_some_and(promised) || TAKEN_ON_TRUST.contains(&(self.method, &field.pointer))
    }

    /// Checks that the field's value arrives in our field of its name, and gives that name.
    fn check_value(&self, full: &Value, shown: &str, field: &Field<'_>) -> String {
        for value in &field.listed {
            let shown = self.decoded(&with(full, &field.pointer, value));
            assert!(
                !shown.contains(": Other"),
                "{} does not know {value} for {}",
                self.method,
                field.pointer
            );
        }
        let name = rust_name(&field.pointer);
        if let Some(value) = plain(full, field) {
            let stands = [format!("{name}: {value}"), format!("{name}: Some({value})")];
            let found = stands.iter().any(|text| shown.contains(text.as_str()));
            assert!(found, "{}: {} is not {value} in {shown}", self.method, field.pointer);
        }
        name
    }
}

/// The name of the first field that has the value of an absent one.
fn left_at_default(shown: &str) -> Option<&str> {
    let default = [": None", ": \"\"", ": []", ": false", ": 0,", ": 0 "];
    let at = default.iter().filter_map(|text| shown.find(text)).min()?;
    shown[..at].rsplit([' ', '{', '(']).next()
}

/// The names of the fields in what `Debug` shows. No sample has a text with a colon and a space.
fn field_names(shown: &str) -> impl Iterator<Item = &str> {
    let before: Vec<&str> = shown.split(": ").collect();
    let names = before.len().saturating_sub(1);
    before.into_iter().take(names).filter_map(|text| text.rsplit([' ', '{', '(']).next())
}

/// The value as `Debug` shows it, where that does not depend on our type.
fn plain(full: &Value, field: &Field<'_>) -> Option<String> {
    match full.pointer(&field.pointer)? {
        Value::String(_) if !field.listed.is_empty() => None,
        value @ (Value::String(_) | Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
        _ => None,
    }
}

/// `/frame/parentId` is in `parent_id`; `type` is a word of Rust's own, so it is in `kind`.
fn rust_name(pointer: &str) -> String {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    if name == "type" {
        return "kind".to_owned();
    }
    let words =
        name.chars().map(|c| if c.is_uppercase() { format!("_{}", c.to_lowercase()) } else { c.to_string() });
    words.collect()
}

fn without(message: &Value, pointer: &str) -> Value {
    let mut message = message.clone();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer starts with a slash");
    message.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(name);
    message
}

fn with(message: &Value, pointer: &str, value: &str) -> Value {
    let mut message = message.clone();
    *message.pointer_mut(pointer).expect("a field") = Value::from(value);
    message
}

#[test]
fn a_field_that_nothing_fills_is_seen() {
    assert_eq!(left_at_default("A { frame_id: \"x\", typo: None }"), Some("typo"));
    assert_eq!(left_at_default("A { inner: B { typo: 0 }, last: true }"), Some("typo"));
    assert_eq!(left_at_default("A { frame_id: Some(\"x\"), n: 7 }"), None);
    assert_eq!(
        field_names("Some(A { id: Some(\"x\"), b: B { kind: C } })").collect::<Vec<_>>(),
        ["id", "b", "kind"]
    );
}
