//! `cargo xtask tidy`: house rules that no compiler knows.

mod bounds;

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell;

/// Where each crate names its bounds.
const LIMITS: &str = "/src/limits.rs";

/// Folders that stand on one machine only.
const MACHINE_FOLDERS: [&str; 3] = ["root", "home", "work"];

/// Reads every file that is or would be in version control.
///
/// # Errors
/// When a rule is broken; each place is printed.
pub(crate) fn run() -> Result<()> {
    let paths = tracked_files()?;
    let mut found = Vec::new();
    for path in &paths {
        // What is not text has no rules, and a deleted file that is still listed has no text.
        if let Ok(text) = std::fs::read_to_string(shell::root().join(path)) {
            found.extend(broken_rules(path, &text).into_iter().map(|what| format!("{path}: {what}")));
        }
    }
    found.extend(dependencies_out_of_step(&paths)?);
    found.extend(bounds::without_a_test(&paths)?);
    found.iter().for_each(|line| println!("{line}"));
    if !found.is_empty() {
        bail!("{} places to tidy", found.len());
    }
    println!("tidy: {} files read", paths.len());
    Ok(())
}

fn tracked_files() -> Result<Vec<String>> {
    let mut git = std::process::Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(shell::root());
    Ok(shell::output(&mut git)?.lines().map(str::to_owned).collect())
}

fn broken_rules(path: &str, text: &str) -> Vec<String> {
    let mut found = machine_paths(text);
    if path.starts_with("fixtures/transcripts/") && path.ends_with(".jsonl") {
        found.extend(missing_header(text));
    }
    if path.ends_with(LIMITS) {
        found.extend(undocumented_limits(text));
    }
    found
}

/// A path of the machine that something was written on means nothing on another.
fn machine_paths(text: &str) -> Vec<String> {
    let names_one =
        |line: &str| MACHINE_FOLDERS.iter().any(|folder| names_folder(line, &format!("/{folder}/")));
    let lines = text.lines().enumerate().filter(|(_, line)| names_one(line));
    lines.map(|(at, _)| format!("line {} names a path of one machine", at + 1)).collect()
}

/// Whether `folder` starts a path in `line`; in `http://a.test/home/` and `../home/` it does not.
fn names_folder(line: &str, folder: &str) -> bool {
    let inside_path = |c: char| c.is_alphanumeric() || "._-*}".contains(c);
    line.match_indices(folder).any(|(at, _)| !line[..at].ends_with(inside_path))
}

/// A recording says in its first line why it was made, so that a later reader knows what it must keep showing.
fn missing_header(text: &str) -> Option<String> {
    let first = text.lines().next().unwrap_or_default();
    let header: Value = serde_json::from_str(first).unwrap_or_default();
    let says_why = |value: &Value| value["why"].as_str().is_some_and(|why| !why.trim().is_empty());
    let found = says_why(&header) || header.as_object().is_some_and(|fields| fields.values().any(says_why));
    (!found).then(|| "the first line is no header with a \"why\"".to_owned())
}

/// Each bound says why it is that number.
fn undocumented_limits(text: &str) -> Vec<String> {
    let mut documented = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        match constant_name(line) {
            Some(name) if !documented => found.push(format!("{name} has no doc comment")),
            _ => {}
        }
        documented = line.starts_with("///") || (documented && line.starts_with("#["));
    }
    found
}

fn constant_name(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
    line.strip_prefix("const ")?.split(':').next()
}

/// Each outside dependency has a reason, and a crate that uses it.
fn dependencies_out_of_step(paths: &[String]) -> Result<Vec<String>> {
    let manifest = read("Cargo.toml")?;
    let reasons = read("docs/dependencies.md")?;
    let members = paths.iter().filter(|path| path.ends_with("/Cargo.toml"));
    let members = members.map(|path| read(path)).collect::<Result<Vec<_>>>()?.join("\n");
    let mut found = Vec::new();
    for name in outside_dependencies(&manifest) {
        if !reasons.contains(&format!("| `{name}` |")) {
            found.push(format!("docs/dependencies.md: no row for `{name}`"));
        }
        if !uses(&members, name) {
            found.push(format!("Cargo.toml: no crate uses `{name}`"));
        }
    }
    Ok(found)
}

fn uses(members: &str, name: &str) -> bool {
    let used = |line: &str| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(".workspace") || rest.starts_with(" ="))
    };
    members.lines().any(used)
}

fn outside_dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap_or_default();
    let table = table.split("\n[").next().unwrap_or_default();
    let entries = table.lines().filter_map(|line| line.split_once(" = "));
    entries.filter(|(_, value)| !value.contains("path = ")).map(|(name, _)| name)
}

fn read(path: &str) -> Result<String> {
    let path = shell::root().join(Path::new(path));
    std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found_and_a_url_is_not() {
        let path = ["", "home", "me", "x"].join("/");
        assert_eq!(machine_paths(&format!("fine\nsee {path}")), ["line 2 names a path of one machine"]);
        assert_eq!(machine_paths(&format!("http://a.test{path} ..{path}")), [""; 0]);
    }

    #[test]
    fn a_recording_says_why() {
        assert_eq!(missing_header("{\"header\":{\"why\":\"an alert\"}}\n{}"), None);
        assert_eq!(missing_header("{\"why\":\"an alert\"}"), None);
        assert!(missing_header("{\"t\":0,\"dir\":\"send\"}").is_some());
        assert!(missing_header("{\"why\":\" \"}").is_some());
        assert!(missing_header("").is_some());
    }

    #[test]
    fn a_limit_without_a_reason_is_found() {
        let text = "/// Why.\n#[allow(x)]\npub const MAX_A: u8 = 1;\npub const MAX_B: u8 = 2;\n\nconst MAX_C: u8 = 3;";
        assert_eq!(undocumented_limits(text), ["MAX_B has no doc comment", "MAX_C has no doc comment"]);
    }

    #[test]
    fn dependencies_of_our_own_need_no_reason() {
        let manifest =
            "[workspace.dependencies]\na = { path = \"a\" }\nurl = \"2\"\n\n[profile.dev]\ndebug = 1";
        assert_eq!(outside_dependencies(manifest).collect::<Vec<_>>(), ["url"]);
    }

    #[test]
    fn a_dependency_is_used_by_its_whole_name() {
        assert!(uses("[dependencies]\nserde_json.workspace = true", "serde_json"));
        assert!(uses("serde = { workspace = true }", "serde"));
        assert!(!uses("serde_json.workspace = true", "serde"));
    }
}
