//! The official MCP clients of other languages. Each is installed from its registry into a folder below the build's; a
//! registry that is out of reach is a failure that says so.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::build_folder;

/// One installation at a time.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Where the clients' own scripts are.
#[must_use]
pub fn client_scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp")
}

/// A folder with the TypeScript client and `client.mjs`: Node.js looks for packages beside the script.
#[must_use]
pub fn typescript_client() -> PathBuf {
    let folder = build_folder().join("mcp-clients/typescript");
    installed(&folder, "package.json", || {
        std::fs::copy(client_scripts().join("package.json"), folder.join("package.json")).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]);
        must(npm.current_dir(&folder), "installing the TypeScript client from the npm registry");
    });
    std::fs::copy(client_scripts().join("client.mjs"), folder.join("client.mjs")).unwrap();
    folder
}

/// A Python that has the Python client.
#[must_use]
pub fn python_client() -> PathBuf {
    let folder = build_folder().join("mcp-clients/python");
    installed(&folder, "requirements.txt", || {
        must(Command::new("python3").args(["-m", "venv"]).arg(&folder), "making a Python environment");
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
        must(pip.arg(client_scripts().join("requirements.txt")), "installing the Python client from PyPI");
    });
    folder.join("bin/python")
}

/// Installs unless it was done for the same list of packages.
fn installed(folder: &Path, list: &str, install: impl FnOnce()) {
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    std::fs::create_dir_all(folder).unwrap();
    let (wanted, mark) = (std::fs::read(client_scripts().join(list)).unwrap(), folder.join(".installed"));
    if std::fs::read(&mark).is_ok_and(|installed| installed == wanted) {
        return;
    }
    install();
    std::fs::write(mark, wanted).unwrap();
}

fn must(command: &mut Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: cannot start {command:?}: {error}"));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what} failed: is it out of reach? {command:?}: {err}");
}
