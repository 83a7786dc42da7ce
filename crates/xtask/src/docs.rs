//! `cargo xtask docs`: the documents that are made from the code.

use anyhow::Result;

use crate::shell;

/// Tells the test that compares the documents with the code to write them instead.
const UPDATE: &str = "UPDATE_DOCS";

/// Writes `docs/tools.md` and `docs/schema`.
///
/// # Errors
/// When the code does not build, or a document cannot be written.
pub(crate) fn run() -> Result<()> {
    let arguments =
        ["test", "--quiet", "--package", "supervisor-mcp", "--test", "it", "documents_are_up_to_date"];
    shell::run(shell::cargo(&arguments).env(UPDATE, "1"))?;
    println!("docs: written");
    Ok(())
}
