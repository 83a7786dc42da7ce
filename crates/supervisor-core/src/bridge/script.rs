//! The script that is injected, and the secrets that are in it.

use crate::connection::mix;

/// What the script runs as, before its placeholders are filled in.
const SOURCE: &str = include_str!("bridge.js");

/// What only the script and this machine know. All of it follows from the task's seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Secrets {
    /// The path of the script's requests. Pages can read it afterwards, in their resource timings: it tells a request that
    /// means the bridge from a stray one, and gives nothing away about the token.
    pub(crate) path: String,
    /// What the body of a request must carry. No page sees bodies of requests that it did not send.
    pub(crate) token: String,
    /// The property by which the script knows that it was here before.
    mark: String,
}

impl Secrets {
    /// The secrets of a task. Each shows half of the bits of its hash, so that none leads back to the seed.
    pub(crate) fn of(seed: u64) -> Self {
        let half = |salt: u64| mix(mix(seed) ^ salt) >> 32;
        let text = |salts: &[u64]| salts.iter().map(|salt| format!("{:08x}", half(*salt))).collect();
        Self { path: text(&[1]), token: text(&[2, 3]), mark: text(&[4]) }
    }
}

/// The script for this host.
pub(crate) fn source(host: &str, secrets: &Secrets) -> String {
    let filled = SOURCE.replace("{HOST}", host).replace("{PATH}", &secrets.path);
    filled.replace("{TOKEN}", &secrets.token).replace("{MARK}", &secrets.mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_in_and_secrets_differ_between_tasks_and_from_each_other() {
        let (one, other) = (Secrets::of(1), Secrets::of(2));
        assert!(one.path != other.path && one.token != other.token && one.mark != one.path);
        let script = source("bridge.invalid", &one);
        let left = ["{HOST}", "{PATH}", "{TOKEN}", "{MARK}"];
        assert!(left.iter().all(|placeholder| !script.contains(placeholder)));
        assert!(script.contains(&format!("'https://bridge.invalid/{}'", one.path)));
    }
}
