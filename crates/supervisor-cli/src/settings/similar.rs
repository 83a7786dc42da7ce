//! What somebody may have meant.

/// Below this similarity (0 to 1, after Jaro) two words have little to do with each other; clap draws the line there too.
const ENOUGH: f64 = 0.7;

/// The most similar of these, if one is similar enough.
pub(crate) fn most_similar<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|word| (strsim::jaro(given, word), word));
    let best =
        scored.filter(|(score, _)| *score > ENOUGH).max_by(|(ours, _), (theirs, _)| ours.total_cmp(theirs));
    best.map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_through_and_nonsense_is_not() {
        let known = ["dialog_policy", "dialog_timeout_s", "bridge"];
        assert_eq!(most_similar("dialog_polcy", known), Some("dialog_policy"));
        assert_eq!(most_similar("brige", known), Some("bridge"));
        assert_eq!(most_similar("zzz", known), None);
    }
}
