//! A call's arguments: read whole, or refused with what is wrong and where.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use supervisor::{Code, Failure, TaskId};

use crate::limits::MAX_TASK_ID;

/// The task that is meant where none is named.
pub(crate) const DEFAULT_TASK: &str = "default";

/// Takes the argument that all tools have.
pub(crate) fn take_task_id(arguments: &mut Map<String, Value>) -> Result<TaskId, Failure> {
    match arguments.remove("task_id") {
        None | Some(Value::Null) => Ok(DEFAULT_TASK.into()),
        Some(Value::String(name)) if is_task_id(&name) => Ok(name.into()),
        Some(_) => {
            let what = format!("expected a name of 1 to {MAX_TASK_ID} characters, none of them a control");
            Err(invalid(&format!("`task_id`: {what}; leave it out for `{DEFAULT_TASK}`")))
        }
    }
}

fn is_task_id(name: &str) -> bool {
    (1..=MAX_TASK_ID).contains(&name.chars().count()) && !name.chars().any(char::is_control)
}

/// The other arguments, as the tool's own type.
pub(crate) fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Failure> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner().to_string());
        // Something missing or unknown has no path, and is named by the reason.
        let at = if path == "." { String::new() } else { format!("`{path}`: ") };
        invalid(&format!("{at}{why}"))
    })
}

/// A call that cannot be meant so.
pub(crate) fn invalid(why: &str) -> Failure {
    Failure::new(Code::InvalidArgument, why)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        #[serde(rename = "name")]
        _name: String,
        #[serde(rename = "inner")]
        _inner: Option<Inner>,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Inner {
        #[serde(rename = "id")]
        _id: String,
    }

    fn why(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let failure = read::<Wanted>(arguments).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        failure.message
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(why(json!({})).contains("missing field `name`"));
        assert!(why(json!({"name": 5})).contains("`name`: invalid type: integer `5`, expected a string"));
        assert!(why(json!({"name": "a", "nmae": 1})).contains("unknown field `nmae`, expected `name`"));
        assert!(why(json!({"name": "a", "inner": {"id": false}})).starts_with("`inner.id`: "));
    }

    #[test]
    fn a_task_has_a_name() {
        let taken = |arguments: Value| take_task_id(arguments.as_object().cloned().as_mut().unwrap());
        assert_eq!(taken(json!({})).unwrap().as_str(), "default");
        assert_eq!(taken(json!({"task_id": null})).unwrap().as_str(), "default");
        assert_eq!(taken(json!({"task_id": "é"})).unwrap().as_str(), "é");
        for wrong in [json!(""), json!(1), json!("a\nb")] {
            assert!(taken(json!({ "task_id": wrong })).is_err());
        }
    }

    /// It counts characters, however many bytes they have.
    #[test]
    fn a_name_has_so_many_characters_at_most() {
        let taken = |length: usize| {
            let task_id = json!({ "task_id": "é".repeat(length) });
            take_task_id(task_id.as_object().cloned().as_mut().unwrap())
        };
        assert_eq!(taken(MAX_TASK_ID).unwrap().as_str().chars().count(), MAX_TASK_ID);
        let failure = taken(MAX_TASK_ID + 1).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        assert!(failure.message.contains("1 to 128 characters"), "{}", failure.message);
    }
}
