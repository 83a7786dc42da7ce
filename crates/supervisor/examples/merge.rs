//! A host's own snapshot, with what the supervisor knows in it: what an agent is shown has its dialogs and frames.
//!
//! ```sh
//! cargo run -p supervisor --example merge -- http://127.0.0.1:9222
//! ```

use std::time::Duration;

use serde_json::{Map, Value, json};
use supervisor::{Action, DialogChoice, EvalOptions, Options, Supervisor, Task, merge_into};

/// How long this example waits for a dialog of a page. Reading a snapshot waits for nothing.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("give the browser's URL, such as http://127.0.0.1:9222")?;
    let supervisor = Supervisor::start();
    println!("nothing is connected: {}", Value::Object(shown_to_the_agent(None)));

    let task = supervisor.get_or_start("shopping", &url, Options::default()).await?;
    let question = "setTimeout(() => document.title = confirm('Delete all 3 files?'), 0), 'asked'";
    task.eval(None, question, EvalOptions::default()).await?;
    task.wait_for(|snapshot| !snapshot.pending_dialogs.is_empty(), PATIENCE).await?;
    println!("a dialog is open: {}", serde_json::to_string_pretty(&shown_to_the_agent(Some(&task)))?);

    task.respond(DialogChoice::default(), Action::Dismiss).await?;
    println!("answered: {}", shown_to_the_agent(Some(&task))["pending_dialogs"]);
    supervisor.stop("shopping").await;
    Ok(())
}

/// The host's own fields, and those of the supervisor beside them; without a browser there are no more than the host's.
fn shown_to_the_agent(task: Option<&Task>) -> Map<String, Value> {
    let mut snapshot = Map::from_iter([("tree".to_owned(), json!("- button \"Delete\""))]);
    merge_into(&mut snapshot, task);
    snapshot
}
