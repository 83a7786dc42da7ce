//! Messages made from the protocol: with everything it allows, or with no more than it promises.

use serde_json::{Map, Value, json};

use crate::schema::{Property, Protocol, Shape};

/// How often one type may stand inside of itself: once, so that nesting is shown and ends.
const NESTING: usize = 2;

/// An integer of the protocol has 32 bits; this one shows that ours is not narrower.
const LARGE: i32 = 2_000_000_000;

/// Which fields a sample has.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fill {
    /// Every field of the protocol, none with a value that could be mistaken for a default.
    Full,
    /// Only what the protocol promises.
    Least,
}

/// One field of a sample.
pub(crate) struct Field<'p> {
    /// Where it stands: a JSON pointer.
    pub(crate) pointer: String,
    /// The field in the protocol; none inside of an object that the protocol leaves open.
    pub(crate) property: Option<Property<'p>>,
    /// The values that the protocol lists for it.
    pub(crate) listed: Vec<&'p str>,
}

/// Makes samples and notes the fields in them.
pub(crate) struct Sampler<'p> {
    protocol: &'p Protocol,
    fill: Fill,
    /// The types that the current value is inside of.
    inside: Vec<String>,
    fields: Vec<Field<'p>>,
}

/// A sample with these properties, and its fields, outer ones first.
pub(crate) fn sample<'p>(
    protocol: &'p Protocol,
    fill: Fill,
    properties: &[Property<'p>],
) -> (Value, Vec<Field<'p>>) {
    let mut sampler = Sampler { protocol, fill, inside: Vec::new(), fields: Vec::new() };
    let value = sampler.object("", properties);
    (value, sampler.fields)
}

impl<'p> Sampler<'p> {
    fn object(&mut self, pointer: &str, properties: &[Property<'p>]) -> Value {
        let mut object = Map::new();
        for property in properties {
            if self.wants(*property) {
                let value = self.field(&format!("{pointer}/{}", property.name()), *property);
                object.insert(property.name().to_owned(), value);
            }
        }
        Value::Object(object)
    }

    fn field(&mut self, pointer: &str, property: Property<'p>) -> Value {
        let listed = match self.protocol.shape(property) {
            Shape::Text(listed) => listed,
            _ => Vec::new(),
        };
        self.fields.push(Field { pointer: pointer.to_owned(), property: Some(property), listed });
        self.value(pointer, property)
    }

    fn wants(&self, property: Property<'_>) -> bool {
        let full = self.fill == Fill::Full && !self.is_nested_enough(property);
        full || !property.is_optional()
    }

    fn is_nested_enough(&self, property: Property<'_>) -> bool {
        let item = match self.protocol.shape(property) {
            Shape::List(item) => item.type_name(),
            _ => property.type_name(),
        };
        item.is_some_and(|name| self.inside.iter().filter(|outer| **outer == name).count() >= NESTING)
    }

    fn value(&mut self, pointer: &str, property: Property<'p>) -> Value {
        let depth = self.inside.len();
        self.inside.extend(property.type_name());
        let value = match self.protocol.shape(property) {
            Shape::Text(listed) => json!(listed.last().unwrap_or(&pointer)),
            Shape::Integer => json!(LARGE),
            Shape::Number => json!(1.5),
            Shape::Boolean => json!(true),
            Shape::Any => json!({ "any": [1] }),
            Shape::List(item) => self.list(pointer, item),
            Shape::Object(properties) if properties.is_empty() => self.open_object(pointer),
            Shape::Object(properties) => self.object(pointer, &properties),
        };
        self.inside.truncate(depth);
        value
    }

    fn list(&mut self, pointer: &str, item: Property<'p>) -> Value {
        match self.fill {
            Fill::Full => json!([self.value(&format!("{pointer}/0"), item)]),
            Fill::Least => json!([]),
        }
    }

    /// `auxData` of an execution context is what Chromium sends; any other object is a map of names to texts.
    fn open_object(&mut self, pointer: &str) -> Value {
        let value = match (self.fill, pointer.ends_with("/auxData")) {
            (Fill::Least, _) => json!({}),
            (_, true) => {
                json!({ "isDefault": true, "type": "default", "frameId": format!("{pointer}/frameId") })
            }
            (_, false) => json!({ "name": "value" }),
        };
        let names = value.as_object().into_iter().flatten().map(|(name, _)| format!("{pointer}/{name}"));
        self.fields.extend(names.map(|pointer| Field { pointer, property: None, listed: Vec::new() }));
        value
    }
}
