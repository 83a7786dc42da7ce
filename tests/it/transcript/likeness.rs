//! What two runs of the same conversation have in common.

/// The text without what differs from run to run: ids of the browser, times, ports, versions.
pub(crate) fn likeness(text: &str) -> String {
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn line(line: &str) -> String {
    let mut common = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        common.push_str(&rest[..start]);
        let word = &rest[start..];
        let end =
            word.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-').unwrap_or(word.len());
        common.push_str(if is_of_one_run(&word[..end]) { "#" } else { &word[..end] });
        rest = &word[end..];
    }
    common + rest
}

/// A long hexadecimal number, or one of digits that is not part of what is said: a time, a port, a duration.
fn is_of_one_run(word: &str) -> bool {
    let is_hexadecimal = word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let is_number = word.chars().all(|c| c.is_ascii_digit() || c == '.') && word.len() > 1;
    is_hexadecimal || is_number || word.parse::<u32>().is_ok()
}

#[test]
fn only_ids_and_numbers_are_left_out() {
    let first = "← {\"id\":3,\"dialog\":\"d-1\",\"target_id\":\"D483C7BB51C2F1B0A7A3D483C7BB51C2\",\"at\":1650000000.25} After 12 ms.";
    let second = "← {\"id\":3,\"dialog\":\"d-1\",\"target_id\":\"00AAC7BB51C2F1B0A7A3D483C7BB51C2\",\"at\":1750000000} After 7 ms.";
    assert_eq!(likeness(first), likeness(second));
    for other in
        [first.replace("d-1", "d-2"), first.replace("dialog", "page"), first.replace("After", "Before")]
    {
        assert_ne!(likeness(first), likeness(&other));
    }
}
