//! The browsers that are installed.

use super::finding::Finding;

const ABOUT: &str = "browser";

/// Blocks while each browser is asked for its version.
pub(super) fn look() -> Vec<Finding> {
    let mut findings: Vec<_> = chromium_launcher::find_all()
        .into_iter()
        .map(|found| match found {
            Ok(browser) => Finding::ok(ABOUT, format!("{} at {}", browser.version, browser.path.display())),
            Err(rejected) => Finding::warn(
                ABOUT,
                format!("{rejected}"),
                "install the real one, or leave it: it is passed over",
            ),
        })
        .collect();
    match chromium_launcher::find() {
        Ok(browser) => {
            findings.push(Finding::ok(ABOUT, format!("--launch takes {}", browser.path.display())))
        }
        Err(error) => {
            let next = "do so for --launch and demo; a browser that runs already needs none";
            findings.push(Finding::warn(ABOUT, error.to_string(), next));
        }
    }
    findings
}
