//! Each bound on how much there may be is named in a test that goes up to it and beyond.

mod exempt;

use anyhow::Result;

use super::read;

/// What hosts run. The others are tools for those who work here.
const CRATES: [&str; 9] = [
    "cdp-wire",
    "chromium-launcher",
    "supervisor",
    "supervisor-cli",
    "supervisor-core",
    "supervisor-journal",
    "supervisor-mcp",
    "supervisor-probe",
    "supervisor-transcript",
];

/// The numbers of things and bytes that no test names. Times are no such bounds.
pub(super) fn without_a_test(paths: &[String]) -> Result<Vec<String>> {
    let sources = paths.iter().filter(|path| path.ends_with(".rs"));
    // A file that was deleted and is still listed has no tests.
    let texts = sources.filter_map(|path| Some((path.as_str(), read(path).ok()?)));
    let texts: Vec<(&str, String)> = texts.collect();
    let tests: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, of_tests(path, text))).collect();
    let mut found = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| is_hosts(path)) {
        for bound in bounds(&text[..text.len() - of_tests(path, text).len()]) {
            let of_file = |(other, _): &&(&str, &str)| bound.is_shared || is_about(path, other);
            let tested = tests.iter().filter(of_file).any(|(_, test)| names(test, bound.name));
            if !tested && !exempt::is_exempt(bound.name) {
                found.push(format!("{path}: no test names {}", bound.name));
            }
        }
    }
    found.extend(exempt::in_vain(&texts));
    Ok(found)
}

fn is_hosts(path: &str) -> bool {
    CRATES.iter().any(|name| path.strip_prefix(&format!("crates/{name}/src/")).is_some())
        && !path.contains("/tests")
        && !path.ends_with("_tests.rs")
}

/// A bound that only its file sees is tested in that file, in one of tests that stands beside it, or with the whole crate.
fn is_about(path: &str, test: &str) -> bool {
    let stem = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let of_crate = path.split_once("/src/").map(|(of_crate, _)| format!("{of_crate}/tests/"));
    let beside = [Some(format!("{stem}/")), Some(format!("{stem}_tests")), of_crate];
    test == path || beside.iter().flatten().any(|begins| test.starts_with(begins))
}

/// What of a file is only compiled for tests. What simulates checks bounds after each step.
fn of_tests<'a>(path: &str, text: &'a str) -> &'a str {
    let is_test =
        ["/tests/", "/tests.rs", "_tests.rs", "tests/", "/simulator/"].iter().any(|part| path.contains(part));
    match text.find("#[cfg(test)]") {
        _ if is_test => text,
        Some(at) => &text[at..],
        None => "",
    }
}

#[derive(Debug, PartialEq)]
struct Bound<'a> {
    name: &'a str,
    /// Whether other files see it, too.
    is_shared: bool,
}

/// Constants of the file that count things or bytes. What a function has for itself is part of how it works.
fn bounds(text: &str) -> impl Iterator<Item = Bound<'_>> {
    text.lines().filter_map(|line| {
        let (before, rest) = line.split_once("const ")?;
        let is_shared = match before {
            "" => false,
            it if it.starts_with("pub") && it.ends_with(' ') => true,
            _ => return None,
        };
        let (name, rest) = rest.split_once(": ")?;
        let is_number = ["usize", "u64", "u32", "u16"].iter().any(|kind| rest.starts_with(kind));
        is_number.then_some(Bound { name, is_shared })
    })
}

/// Whether it is there as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + name.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_bounds_and_times_are_none() {
        let text = "/// Why.\npub const MAX_A: usize = 1;\npub const WAIT: Duration = X;\nconst B: u32 = 2;\n\
                    pub(crate) const C: u64 = 3;\nfn a() {\n    const INSIDE: usize = 4;\n}\n";
        let found: Vec<_> = bounds(text).map(|bound| (bound.name, bound.is_shared)).collect();
        assert_eq!(found, [("MAX_A", true), ("B", false), ("C", true)]);
    }

    #[test]
    fn a_bound_is_named_by_its_whole_name_and_in_a_test() {
        assert!(names("for _ in 0..=MAX_A {", "MAX_A"));
        assert!(!names("MAX_A_B MIN_MAX_A", "MAX_A"));
        assert_eq!(
            of_tests("crates/a/src/b.rs", "use MAX_A;\n#[cfg(test)]\nmod tests {}"),
            "#[cfg(test)]\nmod tests {}"
        );
        assert_eq!(of_tests("crates/a/src/b.rs", "use MAX_A;"), "");
        assert_eq!(of_tests("crates/a/tests/it/b.rs", "use MAX_A;"), "use MAX_A;");
    }

    #[test]
    fn what_only_a_file_sees_another_cannot_test() {
        assert!(is_about("crates/a/src/b.rs", "crates/a/src/b.rs"));
        assert!(is_about("crates/a/src/b/mod.rs", "crates/a/src/b/tests.rs"));
        assert!(is_about("crates/a/src/b.rs", "crates/a/src/b_tests.rs"));
        assert!(is_about("crates/a/src/b.rs", "crates/a/tests/it/main.rs"));
        assert!(!is_about("crates/a/src/b.rs", "crates/a/src/c.rs"));
        assert!(is_hosts("crates/supervisor/src/limits.rs") && !is_hosts("crates/xtask/src/soak.rs"));
    }
}
