//! Where a snapshot is another one than was expected.

use serde_json::Value;

/// What counts inputs and events: it is another one as soon as anything is left out.
const COUNTERS: [&str; 2] = ["counts", "version"];

/// The first place where two values differ: its JSON pointer, and what is found there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pointer: String,
    found: Value,
}

impl Place {
    /// Of a snapshot and the one that was expected; none when it has all that was. What the expected one does not name, and
    /// counters, may be anything.
    pub(super) fn first(found: &Value, expected: &Value) -> Option<Self> {
        let mut expected = expected.clone();
        if let Some(fields) = expected.as_object_mut() {
            fields.retain(|name, _| !COUNTERS.contains(&name.as_str()));
        }
        below(found, &expected, "")
    }

    /// Whether a snapshot has the same there.
    pub(super) fn is_in(&self, snapshot: &Value) -> bool {
        snapshot.pointer(&self.pointer) == Some(&self.found)
    }
}

fn below(found: &Value, expected: &Value, pointer: &str) -> Option<Place> {
    let here = || Some(Place { pointer: pointer.to_owned(), found: found.clone() });
    let part = |step: &str, expected: &Value| {
        let step = format!("/{}", step.replace('~', "~0").replace('/', "~1"));
        // Where something is missing, the whole that lacks it is the place.
        match found.pointer(&step) {
            Some(found) => below(found, expected, &format!("{pointer}{step}")),
            None => here(),
        }
    };
    match (found, expected) {
        (Value::Object(_), Value::Object(fields)) => fields.iter().find_map(|(name, it)| part(name, it)),
        (Value::Array(all), Value::Array(items)) => {
            let first = items.iter().enumerate().find_map(|(at, it)| part(&at.to_string(), it));
            first.or_else(|| if all.len() == items.len() { None } else { here() })
        }
        _ if found == expected => None,
        _ => here(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_leaf_that_differs_is_the_place() {
        let found = json!({ "a/b": [{ "x": 1, "y": 2 }], "version": 9 });
        let differs = |expected: Value| Place::first(&found, &expected).map(|place| place.pointer);
        assert_eq!(differs(json!({ "a/b": [{ "x": 1, "y": 3 }] })).as_deref(), Some("/a~1b/0/y"));
        assert_eq!(differs(json!({ "a/b": [{ "z": 1 }] })).as_deref(), Some("/a~1b/0"));
        assert_eq!(differs(json!({ "a/b": [] })).as_deref(), Some("/a~1b"));
        assert_eq!(differs(json!({ "a/b": [{ "x": 1 }], "version": 1 })), None);
    }
}
