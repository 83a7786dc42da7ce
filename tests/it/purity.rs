//! The crates that decide must give the same answer on every machine and at every time, or no recording would replay.
//! So they may reach no clock, no randomness, no thread and no input or output: neither by a dependency nor by name.

use std::path::{Path, PathBuf};
use std::process::Command;

const PURE: [&str; 5] =
    ["cdp-wire", "supervisor-core", "supervisor-transcript", "browser-model", "simulator"];

/// Crates that do input or output, or give randomness.
const IMPURE_CRATES: &str = "tokio ractor mio rand rand_core fastrand getrandom socket2 hyper libc tempfile";

/// What no source of a pure crate may name, its tests included. `std::time::Duration` may stay: it is a plain number.
const IMPURE_WORDS: &str = "Instant SystemTime HashMap HashSet RandomState rand getrandom tokio ractor";

/// Modules of `std` that no source of a pure crate may name.
const IMPURE_MODULES: &str = "net fs thread env process";

#[test]
fn no_pure_crate_depends_on_an_impure_one() {
    for name in PURE {
        let tree = dependency_names(name);
        assert_eq!(tree.first().map(String::as_str), Some(name), "cargo tree did not answer for {name}");
        let found: Vec<&String> =
            tree.iter().filter(|dep| IMPURE_CRATES.split(' ').any(|bad| bad == dep.as_str())).collect();
        assert!(found.is_empty(), "{name} must stay pure, but depends on {found:?}");
    }
}

#[test]
fn no_pure_source_names_what_is_impure() {
    for name in PURE {
        let sources = rust_files(&crate_dir(name).join("src"));
        assert!(!sources.is_empty(), "{name} has no sources");
        for path in sources {
            let found = impure_names(&read(&path));
            assert!(found.is_empty(), "{} must stay pure, but names {found:?}", path.display());
        }
    }
}

#[test]
fn the_pure_crates_share_one_clippy_list() {
    let first = read(&crate_dir(PURE[0]).join("clippy.toml"));
    assert!(first.contains("std::time::Instant::now") && first.contains("disallowed-methods"));
    for name in &PURE[1..] {
        assert_eq!(
            read(&crate_dir(name).join("clippy.toml")),
            first,
            "{name}/clippy.toml differs from {}'s",
            PURE[0]
        );
    }
}

#[test]
fn the_search_sees_through_groups_and_past_comments() {
    assert_eq!(impure_names("use std::{fmt, net::{IpAddr, TcpStream}, fs};"), ["std::net", "std::fs"]);
    assert_eq!(impure_names("let now = std::time::Instant::now();"), ["Instant"]);
    assert_eq!(impure_names("use rand::Rng;"), ["rand"]);
    assert_eq!(impure_names("/// Not an Instant.\nlet operand = brand; // std::fs"), [] as [&str; 0]);
    assert_eq!(impure_names("let url = \"http://a.test\"; std::fs::read(url)"), ["std::fs"]);
}

/// The crate itself and all that it is built with, build scripts and tests left out.
fn dependency_names(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--all-features"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo tree prints UTF-8");
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn impure_names(source: &str) -> Vec<String> {
    let code: String = source.lines().map(without_comment).collect::<Vec<_>>().join("\n");
    let words = IMPURE_WORDS.split(' ').filter(|word| has_word(&code, word)).map(str::to_owned);
    let modules = IMPURE_MODULES.split(' ').filter(|module| names_std_module(&code, module));
    words.chain(modules.map(|module| format!("std::{module}"))).collect()
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with("//") {
        return "";
    }
    line.split(" //").next().unwrap_or(line)
}

/// As a path, or inside of a `use std::{…};`.
fn names_std_module(code: &str, module: &str) -> bool {
    let mut groups = code.split("std::{").skip(1).filter_map(|rest| rest.split(';').next());
    has_word(code, &format!("std::{module}")) || groups.any(|group| has_word(group, module))
}

/// True when `word` stands in `code` as a whole word.
fn has_word(code: &str, word: &str) -> bool {
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !part_of_word(before) && !part_of_word(after)
    })
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("a folder entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            files.push(path);
        }
    }
    files
}

fn crate_dir(name: &str) -> PathBuf {
    root().join("crates").join(name)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
