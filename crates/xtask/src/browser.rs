//! Makes sure that the browsers of the tests are there: a Chromium, and its headless shell.

use std::process::Command;

use anyhow::{Context, Result, bail};
use chromium_launcher::{Browser, LauncherError};

use crate::shell;

/// Headless shell has no dialog manager, so dialogs behave otherwise there: the browser tests run on both.
pub(crate) const HEADLESS_SHELL: &str = "chromium-headless-shell";

/// Finds or installs both, and says what was found, and whether the headless shell is there.
///
/// In CI both must be there. Elsewhere a missing headless shell is told.
///
/// # Errors
/// When there is no Chromium, with what to do about it.
pub(crate) fn ensure() -> Result<bool> {
    let browser = match chromium_launcher::find() {
        Err(LauncherError::NotFound { .. }) => install(),
        // A browser that was named and does not run is the user's to mend.
        found => Ok(found?),
    }?;
    println!("browser: {}", browser.version);
    let headless_shell = chromium_launcher::find_named(HEADLESS_SHELL).or_else(|_| install_headless_shell());
    match &headless_shell {
        Ok(shell) => println!("headless shell: {}", shell.version),
        Err(_) if shell::in_ci() => return headless_shell.map(|_| true),
        Err(error) => println!("headless shell: none ({error:#})"),
    }
    Ok(headless_shell.is_ok())
}

fn install() -> Result<Browser> {
    if !chromium_launcher::may_install() {
        bail!(
            "the tests need a Chromium. Install one with `{}`, or leave its tests out with --no-browser",
            chromium_launcher::install_hint()
        );
    }
    println!("installing a Chromium");
    chromium_launcher::install(|line| println!("  {line}")).context("installing a Chromium")
}

fn install_headless_shell() -> Result<Browser> {
    if !chromium_launcher::may_install() {
        bail!("install the package {HEADLESS_SHELL}");
    }
    let mut apt = Command::new("apt-get");
    apt.args(["install", "-y", "--no-install-recommends", HEADLESS_SHELL])
        .env("DEBIAN_FRONTEND", "noninteractive");
    // A new machine has no package lists yet. Where this fails, installing tells why.
    let _ = Command::new("apt-get").arg("update").status();
    shell::run(&mut apt)?;
    Ok(chromium_launcher::find_named(HEADLESS_SHELL)?)
}
