//! The project's chores. `cargo xtask ci` does what CI does, `cargo xtask test` runs all tests with a real Chromium.

mod bench;
mod browser;
mod ci;
mod docs;
mod drivers;
mod fuzz;
mod images;
mod matrix;
mod mutants;
mod old_shells;
mod planted;
mod protocol;
mod shell;
mod simulate;
mod soak;
mod subset;
mod test;
mod tidy;
mod transcripts;

use std::alloc::System;
use std::process::ExitCode;

use cap::Cap;

use clap::Parser;

/// The system's allocator, counting: what is in use is told apart from what is resident.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// The chores of cdp-supervisor.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Makes sure that a Chromium is there, then runs all tests.
    Test(test::Args),
    /// Does what CI does: format, clippy, tidy, tests, docs, dependencies.
    Ci,
    /// Checks house rules that no compiler knows.
    Tidy,
    /// Runs the browser tests on each supported browser and writes docs/matrix.md. Fetches older browsers with npm.
    Matrix(matrix::Args),
    /// Measures the supervisor beside its peers and the floor, and writes docs/performance.md.
    Bench(bench::Args),
    /// Fuzzes what reads bytes, beginning with what is in the recordings. Needs cargo-fuzz and a nightly compiler.
    Fuzz(fuzz::Args),
    /// Takes the pictures of timelines in `docs/images` anew, with a real Chromium.
    Images,
    /// Breaks rules of the core on purpose, one at a time, and tells whether the simulator finds each.
    Mutants(mutants::Args),
    /// Writes the documents that are made from the code: `docs/tools.md`, `docs/configuration.md`, `docs/schema`.
    Docs(docs::Args),
    /// Refreshes `fixtures/protocol` from the published protocol.
    Protocol(protocol::Args),
    /// Runs seeds of the simulator: a fake browser, a virtual clock and faults against the real machine.
    Simulate(simulate::Args),
    /// Lets a real browser do everything for a long time, and looks at what the supervising process holds.
    Soak(soak::Args),
    /// The process that a soak watches.
    #[command(name = soak::SUPERVISED, hide = true)]
    SoakSupervised(soak::SupervisedArgs),
    /// Records `fixtures/transcripts` anew with a real Chromium.
    Transcripts(transcripts::Args),
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Test(args) => test::run(&args),
        Chore::Ci => ci::run(),
        Chore::Tidy => tidy::run(),
        Chore::Matrix(args) => matrix::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Images => images::run(),
        Chore::Mutants(args) => mutants::run(&args),
        Chore::Docs(args) => docs::run(&args),
        Chore::Protocol(args) => protocol::run(&args),
        Chore::Simulate(args) => simulate::run(&args),
        Chore::Soak(args) => soak::run(&args),
        Chore::SoakSupervised(args) => soak::run_supervised(&args),
        Chore::Transcripts(args) => transcripts::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
