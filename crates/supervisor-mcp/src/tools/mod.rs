//! The tools, one file each, and the table of them.

mod browser_cdp;
mod browser_connect;
mod browser_console;
mod browser_dialog;
mod browser_disconnect;
mod browser_eval;
mod browser_frames;
mod browser_recover;
mod browser_result;
mod browser_snapshot;

use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use supervisor::{Failure, Task, TaskId};

use crate::hub::Hub;
use crate::{answer, arguments, schema};

pub(crate) use browser_connect::BackendWishes;

/// All tools, in the order in which they are listed.
pub(crate) static TOOLS: [Entry; 10] = [
    entry::<browser_connect::Tool>(),
    entry::<browser_disconnect::Tool>(),
    entry::<browser_snapshot::Tool>(),
    entry::<browser_frames::Tool>(),
    entry::<browser_dialog::Tool>(),
    entry::<browser_recover::Tool>(),
    entry::<browser_cdp::Tool>(),
    entry::<browser_eval::Tool>(),
    entry::<browser_result::Tool>(),
    entry::<browser_console::Tool>(),
];

/// The tool of this name.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.name == name)
}

/// A tool: what it is called, takes, does and answers.
pub(crate) trait Definition: 'static {
    /// Its name.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does, for whoever decides whether to call it.
    const DESCRIPTION: &'static str;
    /// What a call can do to the world.
    const HINTS: Hints;
    /// Whether it is absent while nothing is connected.
    const NEEDS_BROWSER: bool;
    /// Its arguments, `task_id` apart.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// Its result.
    type Output: Serialize + JsonSchema;

    /// Does it.
    fn run(
        call: Call,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send + 'static;
}

/// What a call can do to the world. Each tool reaches pages that anybody may have written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hints {
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
}

/// It only looks.
pub(crate) const LOOKS: Hints = Hints { read_only: true, destructive: false, idempotent: true };

/// It may do anything to the page, and to whatever is behind it.
pub(crate) const ACTS: Hints = Hints { read_only: false, destructive: true, idempotent: false };

/// One call: whose it is.
pub(crate) struct Call {
    pub(crate) hub: Arc<Hub>,
    pub(crate) task_id: TaskId,
}

impl Call {
    /// The task, which has a browser.
    ///
    /// # Errors
    /// `not_connected`, with the reason.
    pub(crate) async fn task(&self) -> Result<Task, Failure> {
        self.hub.task(&self.task_id).await
    }
}

type Object = Map<String, Value>;
type Running = Pin<Box<dyn Future<Output = Result<Object, Failure>> + Send>>;

/// A row of the table.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) hints: Hints,
    pub(crate) needs_browser: bool,
    pub(crate) input: fn() -> Object,
    pub(crate) output: fn() -> Object,
    pub(crate) run: fn(Call, Object) -> Running,
}

const fn entry<D: Definition>() -> Entry {
    Entry {
        name: D::NAME,
        title: D::TITLE,
        description: D::DESCRIPTION,
        hints: D::HINTS,
        needs_browser: D::NEEDS_BROWSER,
        input: schema::input::<D::Input>,
        output: schema::output::<D::Output>,
        run: run::<D>,
    }
}

fn run<D: Definition>(call: Call, arguments: Object) -> Running {
    Box::pin(async move {
        let input = arguments::read(arguments)?;
        answer::object(&D::run(call, input).await?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_are_unique() {
        for entry in &TOOLS {
            assert_eq!(find(entry.name).map(|found| found.title), Some(entry.title));
            assert_eq!(TOOLS.iter().filter(|other| other.name == entry.name).count(), 1);
        }
        assert!(find("browser_click").is_none());
    }

    #[test]
    fn schemas_are_of_objects_and_describe_each_argument() {
        for entry in &TOOLS {
            let (input, output) = ((entry.input)(), (entry.output)());
            assert_eq!(
                (&input["type"], &output["type"]),
                (&"object".into(), &"object".into()),
                "{}",
                entry.name
            );
            for (name, property) in input["properties"].as_object().unwrap() {
                let text = property["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{}: {name} has no description", entry.name);
            }
            assert!(output["properties"]["pending_dialogs"].is_object(), "{}", entry.name);
        }
    }
}
