//! The published protocol, as far as this crate models it: `fixtures/protocol`.

use serde_json::Value;

const FILES: [&str; 2] = [
    include_str!("../../../../fixtures/protocol/browser_protocol.subset.json"),
    include_str!("../../../../fixtures/protocol/js_protocol.subset.json"),
];

/// All domains of both files.
pub(crate) struct Protocol(Vec<Value>);

/// A parameter, a field of a result or of an object.
#[derive(Clone, Copy)]
pub(crate) struct Property<'p> {
    /// The domain that short type names are of.
    domain: &'p str,
    json: &'p Value,
}

/// What a value looks like in JSON.
pub(crate) enum Shape<'p> {
    /// A text; one of these where the protocol lists them.
    Text(Vec<&'p str>),
    Integer,
    Number,
    Boolean,
    /// Anything at all.
    Any,
    /// A list of values like this one.
    List(Property<'p>),
    /// An object; without properties where the protocol leaves them open.
    Object(Vec<Property<'p>>),
}

impl Protocol {
    pub(crate) fn load() -> Self {
        let files = FILES.map(|text| serde_json::from_str::<Value>(text).unwrap());
        Self(files.iter().flat_map(|file| file["domains"].as_array().unwrap().clone()).collect())
    }

    /// The parameters of an event.
    pub(crate) fn event(&self, method: &str) -> Option<Vec<Property<'_>>> {
        self.find("events", "name", method).map(|event| properties(event, "parameters"))
    }

    /// The parameters of a command.
    pub(crate) fn command(&self, method: &str) -> Option<Vec<Property<'_>>> {
        self.find("commands", "name", method).map(|command| properties(command, "parameters"))
    }

    /// What a command answers.
    pub(crate) fn result(&self, method: &str) -> Option<Vec<Property<'_>>> {
        self.find("commands", "name", method).map(|command| properties(command, "returns"))
    }

    pub(crate) fn shape<'p>(&'p self, property: Property<'p>) -> Shape<'p> {
        let Property { domain, json } = self.resolved(property);
        match json["type"].as_str() {
            Some("string") => Shape::Text(texts(&json["enum"])),
            Some("integer") => Shape::Integer,
            Some("number") => Shape::Number,
            Some("boolean") => Shape::Boolean,
            Some("any") => Shape::Any,
            Some("array") => Shape::List(Property { domain, json: &json["items"] }),
            Some("object") => Shape::Object(properties(Property { domain, json }, "properties")),
            other => panic!("the protocol has a type {other:?} that this test does not know"),
        }
    }

    /// Follows `$ref` to the type itself.
    fn resolved<'p>(&'p self, property: Property<'p>) -> Property<'p> {
        match property.type_name() {
            Some(name) => self.find("types", "id", &name).unwrap_or_else(|| panic!("no type {name}")),
            None => property,
        }
    }

    fn find(&self, kind: &str, key: &str, full_name: &str) -> Option<Property<'_>> {
        let (domain_name, name) = full_name.split_once('.')?;
        let domain = self.0.iter().find(|domain| domain["domain"] == domain_name && domain[kind].is_array());
        let json = domain?[kind].as_array()?.iter().find(|item| item[key] == name)?;
        Some(Property { domain: domain?["domain"].as_str()?, json })
    }
}

impl<'p> Property<'p> {
    pub(crate) fn name(&self) -> &'p str {
        self.json["name"].as_str().unwrap_or_default()
    }

    /// Whether a message may be without it.
    pub(crate) fn is_optional(&self) -> bool {
        self.json["optional"] == true
    }

    /// Whether the protocol keeps the right to take it away.
    pub(crate) fn is_unstable(&self) -> bool {
        self.json["experimental"] == true || self.json["deprecated"] == true
    }

    /// The full name of the type that it refers to.
    pub(crate) fn type_name(&self) -> Option<String> {
        let name = self.json["$ref"].as_str()?;
        Some(if name.contains('.') { name.to_owned() } else { format!("{}.{name}", self.domain) })
    }
}

fn properties<'p>(of: Property<'p>, kind: &str) -> Vec<Property<'p>> {
    let items = of.json[kind].as_array().into_iter().flatten();
    items.map(|json| Property { domain: of.domain, json }).collect()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
