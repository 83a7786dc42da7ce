//! `cargo xtask docs`: the documents that are made from the code.

use anyhow::Result;

use crate::shell;

/// Tells the test that compares the documents with the code to write them instead.
const UPDATE: &str = "UPDATE_DOCS";

/// The packages that make documents. In each a test of this name compares them.
const MAKERS: [&str; 2] = ["supervisor-mcp", "supervisor-cli"];

/// Writes `docs/tools.md`, `docs/configuration.md` and `docs/schema`.
///
/// # Errors
/// When the code does not build, or a document cannot be written.
pub(crate) fn run() -> Result<()> {
    for package in MAKERS {
        let arguments = ["test", "--quiet", "--package", package, "documents_are_up_to_date"];
        shell::run(shell::cargo(&arguments).env(UPDATE, "1"))?;
    }
    println!("docs: written");
    Ok(())
}
