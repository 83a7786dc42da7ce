//! Tests that cannot be run on the browser at hand say so, and why.

/// What a test prints that was not run; the reason stands behind it.
pub const NOT_RUN: &str = "not run: ";

/// Says that the test at hand is not run on this browser. It passes, and `cargo xtask matrix` shows it as what it is.
pub fn not_run(reason: &str) {
    println!("{NOT_RUN}{reason}");
}
