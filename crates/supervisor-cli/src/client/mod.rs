//! The clients of `serve`: one subcommand a tool, each a file.

pub(crate) mod cdp;
pub(crate) mod connect;
pub(crate) mod console;
pub(crate) mod dialog;
pub(crate) mod disconnect;
pub(crate) mod eval;
mod failure;
pub(crate) mod frames;
mod input;
pub(crate) mod recover;
pub(crate) mod result;
mod show;
pub(crate) mod snapshot;
pub(crate) mod status;

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use supervisor_mcp::{ClientError, ToolAnswer, ToolClient};
use tokio::time::{sleep, timeout};

use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::settings::{Flags, Layer, Loaded, SocketKey};
use crate::socket;

/// How long a server may take to greet: it does so at once, whatever its browsers do.
const GREETING: Duration = Duration::from_secs(5);

/// After how long a person is told that the answer takes its time.
const PATIENCE: Duration = Duration::from_secs(2);

/// What all clients take.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// The task that is meant.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) task: String,
    /// Print the whole answer as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    socket: Flags<SocketKey>,
}

/// A subcommand that calls a tool.
pub(crate) trait Question {
    /// The tool.
    const TOOL: &'static str;

    /// What all take.
    fn common(&self) -> &Common;

    /// The tool's arguments; those that are null are left out.
    ///
    /// # Errors
    /// When they cannot be read.
    fn arguments(&self) -> Result<Value, CliError>;

    /// What it came to, for people.
    fn told(&self, content: Value) -> Result<Vec<Line>, CliError>;

    /// Its part of the settings.
    fn settings(&self) -> Vec<Layer> {
        vec![self.common().socket.layer()]
    }
}

/// Asks the server, and prints its answer.
pub(crate) async fn ask<Q: Question>(question: Q, loaded: Loaded) -> Result<Exit, CliError> {
    let arguments = arguments(&question)?;
    let path = socket::path(&loaded);
    let client = connect(&path).await?;
    let answer = patiently(client.call(Q::TOOL, arguments)).await.map_err(|error| gone(&path, error))?;
    print(&question, answer)
}

fn arguments(question: &impl Question) -> Result<Map<String, Value>, CliError> {
    let Value::Object(mut arguments) = question.arguments()? else { return Ok(Map::new()) };
    arguments.retain(|_, value| !value.is_null());
    arguments.insert("task_id".into(), question.common().task.as_str().into());
    Ok(arguments)
}

/// Greets the server.
async fn connect(path: &Path) -> Result<ToolClient, CliError> {
    let (reader, writer) = socket::connect(path).await?.into_split();
    match timeout(GREETING, ToolClient::connect(reader, writer)).await {
        Ok(greeted) => greeted.map_err(|error| gone(path, error)),
        Err(_) => Err(CliError::Silent(path.to_owned())),
    }
}

fn gone(path: &Path, error: ClientError) -> CliError {
    CliError::Server { path: path.to_owned(), error }
}

/// Waits for the answer, and tells whoever sits there that it does.
async fn patiently<T>(answer: impl Future<Output = T>) -> T {
    let telling = async {
        sleep(PATIENCE).await;
        if std::io::stderr().is_terminal() {
            eprintln!("waiting for the answer; Ctrl-C gives the call up");
        }
        std::future::pending().await
    };
    tokio::select! {
        answer = answer => answer,
        never = telling => never,
    }
}

fn print(question: &impl Question, answer: ToolAnswer) -> Result<Exit, CliError> {
    let (screen, common, failed) = (Screen::new(), question.common(), answer.is_error());
    let content = Value::Object(answer.content);
    if common.json {
        screen.pretty(&content)?;
        return Ok(if failed { Exit::Failed } else { Exit::Done });
    }
    if failed {
        return Err(failure::read(content, &common.task));
    }
    question.told(content)?.iter().try_for_each(|line| screen.plain(line))?;
    if let Some(note) = answer.note.filter(|_| !show::TELLS_OF_DIALOGS.contains(&tool(question))) {
        note.lines().try_for_each(|line| screen.aside(&Line::new(Kind::Ask, line)))?;
    }
    Ok(Exit::Done)
}

fn tool<Q: Question>(_: &Q) -> &'static str {
    Q::TOOL
}

/// What a tool answered, as the type that it wrote.
fn read<T: DeserializeOwned>(content: Value) -> Result<T, CliError> {
    serde_json::from_value(content).map_err(|error| CliError::OtherVersion(error.to_string()))
}
