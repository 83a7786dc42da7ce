//! Numbers that no test goes up to, and why.

/// Bounds without an edge that a test could stand at.
const WITHOUT_EDGE: [(&str, &str); 13] = [
    ("READ_BUFFER", "what is read at once; more is read next"),
    ("WRITE_BUFFER", "what is gathered; more is written at once"),
    ("WRITE_AT", "what is gathered; more is written at once"),
    ("NOTICES", "the ring of a channel, which is tested by its makers; what is left out is no loss of state"),
    ("GUEST_PIPE", "the browser waits when more is on its way"),
    ("ORDERS", "a further one waits with its caller"),
    ("HEARD", "more than all that happens to the probe's own pages"),
    ("MANY", "from here on it is written sooner; no event is lost or kept by it"),
    ("SEEN", "places of texts that are remembered; a text whose place is forgotten is written out again"),
    ("WAITING", "keys that are not read yet wait in the terminal"),
    ("TRIES", "a copy that was disturbed so often is taken as it is"),
    ("CACHE_BYTES", "the store's own, which does not tell what it holds"),
    ("MAX_RESULT_LINE", "larger than the largest result that there can be, which is tested at its own bound"),
];

/// Numbers that bound nothing: units, formats, shapes.
const NO_BOUND: [(&str, &str); 7] = [
    ("FLUSH_EVERY_MS", "a time"),
    ("FORMAT", "a version"),
    ("MB", "a unit"),
    ("SHARE", "a part of a time"),
    ("FIRST_ID", "where ids begin"),
    ("MICROS_PER_SECOND", "a unit"),
    ("MICROS_PER_MILLI", "a unit"),
];

pub(super) fn is_exempt(name: &str) -> bool {
    all().any(|other| other == name)
}

fn all() -> impl Iterator<Item = &'static str> {
    WITHOUT_EDGE.iter().chain(&NO_BOUND).map(|(name, _)| *name)
}

/// Names of constants that are no more.
pub(super) fn in_vain(texts: &[(&str, String)]) -> Vec<String> {
    let is_there = |name: &str| {
        let begins = format!("const {name}:");
        texts.iter().any(|(_, text)| text.contains(&begins))
    };
    all().filter(|name| !is_there(name)).map(|name| format!("no bound is called {name} any more")).collect()
}
