//! `cargo xtask protocol`: the published protocol, cut to what `cdp-wire` models.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell;
use crate::subset::Kept;

/// The npm package that publishes the protocol. Its versions end in the revision of Chromium they were made at.
const PACKAGE: &str = "devtools-protocol";

/// The version that the fixtures are from, unless another is asked for.
const VERSION: &str = "0.0.1734725";

/// The two files of the package: the browser's domains and those of the JavaScript engine.
const FILES: [&str; 2] = ["browser_protocol", "js_protocol"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail when the fixtures are not what would be written.
    #[arg(long)]
    check: bool,
    /// The version of the package to take.
    #[arg(long, default_value = VERSION)]
    package_version: String,
}

/// Fetches the package and writes, or checks, the fixtures.
///
/// # Errors
/// When the package cannot be had, when `cdp-wire` models what the protocol does not have, or when a check fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    fetch(folder.path(), &args.package_version)?;
    let [browser, js] = FILES.map(|name| read(&folder.path().join(format!("package/json/{name}.json"))));
    let protocols = [browser?, js?];
    for (name, text) in FILES.iter().zip(cut(&protocols, &args.package_version)?) {
        let path = shell::root().join(format!("fixtures/protocol/{name}.subset.json"));
        if args.check { check(&path, &text)? } else { write(&path, &text)? }
    }
    Ok(())
}

fn fetch(folder: &Path, version: &str) -> Result<()> {
    let package = format!("{PACKAGE}@{version}");
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", &package]).current_dir(folder);
    let archive = shell::output(&mut npm).with_context(|| format!("fetching {package}"))?;
    shell::run(Command::new("tar").args(["-xzf", archive.trim()]).current_dir(folder))
}

fn cut(protocols: &[Value; 2], version: &str) -> Result<Vec<String>> {
    let both: Vec<&Value> = protocols.iter().collect();
    let kept = Kept::of(&both, &[cdp_wire::protocol::EVENTS, cdp_wire::protocol::COMMANDS].concat());
    let missing = kept.missing(&both);
    if !missing.is_empty() {
        bail!("cdp-wire models what {PACKAGE} {version} does not have: {}", missing.join(", "));
    }
    protocols.iter().map(|protocol| document(kept.cut(protocol), version)).collect()
}

fn document(mut subset: Value, version: &str) -> Result<String> {
    subset["package"] = Value::from(format!("{PACKAGE} {version}"));
    Ok(serde_json::to_string_pretty(&subset)? + "\n")
}

fn read(path: &PathBuf) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn check(path: &Path, wanted: &str) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if std::fs::read_to_string(path).unwrap_or_default() != wanted {
        bail!("{name} is not what `cargo xtask protocol` writes");
    }
    println!("{name}: as published");
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    println!("{}: {} bytes", path.file_name().unwrap_or_default().to_string_lossy(), text.len());
    Ok(())
}
