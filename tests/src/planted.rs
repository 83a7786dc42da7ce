//! Tokens that tests plant wherever a secret can be given, and the look for them in what comes out.

/// How all of them begin.
pub const PLANTED: &str = "planted5f1d";

/// The same in Base64, as it is in `Authorization` and `Proxy-Authorization`: one for each place in a group of three bytes.
const IN_BASE64: [&str; 3] = ["cGxhbnRlZDVmMW", "BsYW50ZWQ1ZjFk", "wbGFudGVkNWYxZ"];

/// The first that is in these bytes, with a little of what is around it.
#[must_use]
pub fn planted_in(bytes: &[u8]) -> Option<String> {
    let at = std::iter::once(PLANTED).chain(IN_BASE64).filter_map(|form| position(bytes, form)).min()?;
    let around = &bytes[at.saturating_sub(120)..bytes.len().min(at + 60)];
    Some(String::from_utf8_lossy(around).escape_debug().to_string())
}

fn position(bytes: &[u8], form: &str) -> Option<usize> {
    memchr::memmem::find(bytes, form.as_bytes())
}
