//! Scripts for Node.js with packages from the npm registry, as drivers beside the supervisor use them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::build_folder;

/// One installation at a time.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Makes the scripts in `tests/NAME` ready to run, with the packages that their `package.json` names, and gives the folder.
/// What is installed is kept beside this build, so that the source tree stays clean.
#[must_use]
pub fn node_project(name: &str) -> PathBuf {
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let folder = build_folder().join("node").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for entry in std::fs::read_dir(&sources).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
    install(&sources, &folder);
    folder
}

fn install(sources: &Path, folder: &Path) {
    let (wanted, mark) = (std::fs::read(sources.join("package.json")).unwrap(), folder.join(".installed"));
    if std::fs::read(&mark).is_ok_and(|installed| installed == wanted) {
        return;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(folder);
    let status = npm.status().unwrap_or_else(|error| panic!("this test needs npm (package `npm`): {error}"));
    assert!(
        status.success(),
        "npm could not install what {} names; is the registry in reach?",
        sources.display()
    );
    std::fs::write(mark, wanted).unwrap();
}
