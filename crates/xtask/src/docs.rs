//! `cargo xtask docs`: the documents that are made from the code.

use anyhow::Result;

use crate::shell;

/// Tells the test that compares the documents with the code to write them instead.
const UPDATE: &str = "UPDATE_DOCS";

/// The packages that make documents. In each a test of this name compares them.
const MAKERS: [&str; 2] = ["supervisor-mcp", "supervisor-cli"];

/// Tests that write down what a real run showed. They need a Chromium, and what the tests beside other clients need.
const RUNS: [(&str, &str); 4] = [
    ("supervisor-cli", "the_document_says_what_is_seen"),
    ("integration-tests", "the_document_says_what_a_client_and_the_server_say"),
    ("integration-tests", "the_guide_says_what_its_commands_say"),
    ("integration-tests", "is_stuck_by_dialogs_until_ours_answers"),
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also those that show real runs: docs/errors.md, docs/mcp-transcript.md, what docs/guide.md shows. They need a Chromium.
    #[arg(long)]
    runs: bool,
}

/// Writes `docs/tools.md`, `docs/configuration.md` and `docs/schema`, and what shows real runs where that is asked for.
///
/// # Errors
/// When the code does not build, or a document cannot be written.
pub(crate) fn run(args: &Args) -> Result<()> {
    let made = MAKERS.map(|package| (package, "documents_are_up_to_date"));
    let shown = if args.runs { &RUNS[..] } else { &[] };
    for (package, test) in made.iter().chain(shown) {
        let arguments = ["test", "--quiet", "--package", package, test];
        shell::run(shell::cargo(&arguments).env(UPDATE, "1"))?;
    }
    println!("docs: written");
    Ok(())
}
