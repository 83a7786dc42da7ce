//! YAML as values that know their line.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

/// A value, and the line that it begins in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: u64,
    pub(crate) content: Content,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// Anything without keys inside.
    Plain(Value),
    /// Keys with their lines, in the order in which they are written.
    Map(Vec<(String, u64, Node)>),
    List(Vec<Node>),
}

/// Why a text is no YAML that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoYaml {
    /// Where, if that is known.
    pub(crate) line: Option<u64>,
    /// Why, without a part of the text: it may hold secrets.
    pub(crate) why: String,
}

/// Reads one document. An empty one is null.
pub(crate) fn read(text: &str) -> Result<Node, NoYaml> {
    // YAML 1.1's `on` and `off` are words here, not truth values.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    let read = serde_saphyr::from_str_with_options::<Option<Spanned<Content>>>(text, options);
    let read = read.map_err(|error| NoYaml {
        line: error.location().map(|place| place.line()).filter(|line| *line > 0),
        why: error.without_snippet().to_string(),
    })?;
    Ok(read.map_or(Node { line: 1, content: Content::Plain(Value::Null) }, Node::from))
}

impl Node {
    /// Without the lines.
    pub(crate) fn value(&self) -> Value {
        match &self.content {
            Content::Plain(value) => value.clone(),
            Content::Map(entries) => {
                entries.iter().map(|(key, _, node)| (key.clone(), node.value())).collect()
            }
            Content::List(items) => items.iter().map(Node::value).collect(),
        }
    }
}

impl From<Spanned<Content>> for Node {
    fn from(spanned: Spanned<Content>) -> Self {
        Self { line: spanned.referenced.line(), content: spanned.value }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Plain(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Content, E> {
        Ok(Content::Plain(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Content, E> {
        Ok(Content::Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Plain(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Content>>()? {
            list.push(item.into());
        }
        Ok(Content::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Content, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<Content>, Spanned<Content>>()? {
            let line = key.referenced.line();
            map.push((name(key.into()), line, value.into()));
        }
        Ok(Content::Map(map))
    }
}

/// All our keys are texts; others are unknown, and told as they are.
fn name(key: Node) -> String {
    match key.value() {
        Value::String(name) => name,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Value {
        read(text).unwrap().value()
    }

    #[test]
    fn each_kind_of_value_is_read() {
        let text = "a: 1\nb: -2.5\nc: true\nd: ~\ne: text\n1: x\nf: \"1\"\ng: [1, x]\nh: {i: {}}\nj:\nk: on\nl: off\nm: null\nn: 'a b'\n";
        let expected = json!({"a": 1, "b": -2.5, "c": true, "d": null, "e": "text", "1": "x", "f": "1", "g": [1, "x"],
            "h": {"i": {}}, "j": null, "k": "on", "l": "off", "m": null, "n": "a b"});
        assert_eq!(value(text), expected);
    }

    #[test]
    fn nothing_is_null() {
        for text in ["", "\n", "# only a comment\n", "---\n"] {
            assert_eq!(value(text), Value::Null, "{text:?}");
        }
    }

    #[test]
    fn keys_and_values_know_their_line() {
        let node = read("# one\na:\n  b: 1\n  c:\n    - x\n    - y\n").unwrap();
        let Content::Map(top) = node.content else { panic!("a map") };
        assert_eq!((top[0].0.as_str(), top[0].1), ("a", 2));
        let Content::Map(inner) = &top[0].2.content else { panic!("a map") };
        assert_eq!(
            inner.iter().map(|(key, line, _)| (key.as_str(), *line)).collect::<Vec<_>>(),
            [("b", 3), ("c", 4)]
        );
        let Content::List(items) = &inner[1].2.content else { panic!("a list") };
        assert_eq!(items.iter().map(|item| item.line).collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn what_is_no_yaml_is_told_with_its_line_and_without_its_text() {
        for (text, line) in [
            ("a: 1\nb: [secret", 2),
            ("a: 1\na: secret\n", 2),
            ("a: 1\n  b: secret\n", 2),
            ("a:\n\t- secret\n", 2),
            ("a: *secret\n", 1),
        ] {
            let error = read(text).unwrap_err();
            assert!(!error.why.contains("secret"), "{error:?}");
            assert!(error.line.is_some_and(|at| at.abs_diff(line) <= 1), "{text:?}: {error:?}");
        }
    }
}
