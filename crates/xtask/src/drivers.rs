//! Makes sure that the other programs of the tests are there: Node.js with npm for drivers beside the supervisor and the
//! TypeScript MCP client, Python with venv for the Python one.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::shell;

/// A program, how to ask whether it works, and the Debian packages that bring it.
struct Wanted {
    what: &'static str,
    asks: &'static [&'static str],
    packages: &'static [&'static str],
}

const WANTED: &[Wanted] = &[
    Wanted { what: "Node.js", asks: &["node", "--version"], packages: &["nodejs"] },
    Wanted { what: "npm", asks: &["npm", "--version"], packages: &["npm"] },
    Wanted {
        what: "Python with venv",
        asks: &["python3", "-c", "import venv, ensurepip"],
        packages: &["python3", "python3-venv"],
    },
];

/// Finds or installs them.
///
/// # Errors
/// When one is missing and may not or cannot be installed, with what to do about it.
pub(crate) fn ensure() -> Result<()> {
    for wanted in WANTED.iter().filter(|wanted| !works(wanted)) {
        let packages = wanted.packages.join(" ");
        if !chromium_launcher::may_install() {
            bail!(
                "the tests need {}: install {packages}, or leave their tests out with --no-browser",
                wanted.what
            );
        }
        println!("installing {}", wanted.what);
        // A new machine has no package lists yet. Where this fails, installing tells why.
        let _ = Command::new("apt-get").arg("update").status();
        let mut apt = Command::new("apt-get");
        apt.args(["install", "-y", "--no-install-recommends"]).args(wanted.packages);
        shell::run(apt.env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    Ok(())
}

fn works(wanted: &Wanted) -> bool {
    let [program, arguments @ ..] = wanted.asks else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
