//! The settings.

use std::os::unix::fs::PermissionsExt as _;

use super::finding::Finding;
use crate::settings::{self, Loaded};

const ABOUT: &str = "settings";

/// The keys whose values may hold secrets.
const SECRET: [&str; 3] = ["browser.headers", "browser.cdp_url", "network.proxy"];

pub(super) fn look(loaded: &Loaded) -> Vec<Finding> {
    if let Some(error) = &loaded.wrong {
        let (what, next) = split(error);
        return vec![Finding::bad(ABOUT, what, next)];
    }
    let file = match &loaded.file {
        Some(path) => format!("from {}", path.display()),
        None => "no file was found; defaults hold, unless something below says otherwise".to_owned(),
    };
    let given = settings::given(loaded)
        .map(|(path, value, source)| Finding::ok(ABOUT, format!("{path} is {value} ({source})")));
    [Finding::ok(ABOUT, file)].into_iter().chain(given).chain(readable(loaded)).collect()
}

/// The error's own next step is ours.
fn split(text: &str) -> (String, String) {
    let (what, next) = text.split_once("\n  next: ").unwrap_or((text, "look at the file"));
    (what.split('\n').map(str::trim).collect::<Vec<_>>().join(" · "), next.to_owned())
}

/// A file with secrets that others can read.
fn readable(loaded: &Loaded) -> Option<Finding> {
    let path = loaded.file.as_ref()?;
    let holds_secrets = SECRET.iter().any(|key| loaded.file_gives(key));
    let mode = path.metadata().ok()?.permissions().mode();
    (holds_secrets && mode & 0o044 != 0).then(|| {
        let keys = SECRET.join(", ");
        let what = format!("{} can be read by others, and may hold secrets ({keys})", path.display());
        Finding::warn(ABOUT, what, format!("chmod 600 {}", path.display()))
    })
}
