//! Each bound on how much there may be is named in a test that goes up to it and beyond.

use anyhow::Result;

use super::{LIMITS, read};

/// Numbers in the files of bounds that have no edge, and why.
const WITHOUT_EDGE: [(&str, &str); 11] = [
    ("READ_BUFFER", "what is read at once; more is read next"),
    ("WRITE_BUFFER", "what is gathered; more is written at once"),
    ("MAX_WRITE_BUFFER", "larger than the largest message that can be sent, so that it is never reached"),
    ("RECORDING_MAX", "a default; the bound that it sets is tested with others"),
    ("MAX_LINE", "larger than the largest request that is taken, which is tested at its own bound"),
    ("MAX_RESULT_LINE", "larger than the largest result that there can be"),
    ("NOTICES", "the ring of a channel, which is tested by its makers; what is left out is no loss of state"),
    ("GUEST_PIPE", "the browser waits when more is on its way"),
    ("ORDERS", "a further one waits with its caller"),
    ("HEARD", "more than all that happens to the probe's own pages"),
    ("SHARE", "a part of a time"),
];

/// The numbers of things and bytes that no test names. Times are no such bounds.
pub(super) fn without_a_test(paths: &[String]) -> Result<Vec<String>> {
    let sources = paths.iter().filter(|path| path.ends_with(".rs"));
    // A file that was deleted and is still listed has no tests.
    let tests: String =
        sources.filter_map(|path| Some(of_tests(path, &read(path).ok()?).to_owned())).collect();
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| path.ends_with(LIMITS)) {
        let text = read(path)?;
        let untested = numbers(&text).filter(|name| !names(&tests, name) && !is_without_edge(name));
        found.extend(untested.map(|name| format!("{path}: no test names {name}")));
    }
    Ok(found)
}

fn is_without_edge(name: &str) -> bool {
    WITHOUT_EDGE.iter().any(|(other, _)| *other == name)
}

/// What of a file is only compiled for tests. What simulates checks bounds after each step.
fn of_tests<'a>(path: &str, text: &'a str) -> &'a str {
    let is_test = ["/tests/", "/tests.rs", "tests/", "/simulator/"].iter().any(|part| path.contains(part));
    match text.find("#[cfg(test)]") {
        _ if is_test => text,
        Some(at) => &text[at..],
        None => "",
    }
}

/// Constants that count things or bytes.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("pub const ")?.split_once(": ")?;
        ["usize", "u64", "u32"].iter().any(|kind| rest.starts_with(kind)).then_some(name)
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
        let text =
            "/// Why.\npub const MAX_A: usize = 1;\npub const WAIT: Duration = X;\npub const B: u32 = 2;\n";
        assert_eq!(numbers(text).collect::<Vec<_>>(), ["MAX_A", "B"]);
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
}
