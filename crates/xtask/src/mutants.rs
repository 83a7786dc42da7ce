//! `cargo xtask mutants`: rules of the core broken on purpose, one at a time, and whether the simulator finds each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

const PATCHES: &str = "fixtures/mutants";
const TABLE: &str = "docs/mutants.md";
const HEAD: &str = include_str!("mutants/head.md");

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The mutants to try; all when none is named.
    names: Vec<String>,
    /// Seeds that each may take at most.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// Inputs of the machine in each run.
    #[arg(long, default_value_t = 1_000)]
    steps: u64,
    /// Write docs/mutants.md.
    #[arg(long)]
    write: bool,
}

/// Applies each patch in `fixtures/mutants` to a copy of what is committed, simulates, and tells what was found.
///
/// # Errors
/// When a mutant is not found, a patch does not apply any more, or the code without any patch breaks a rule.
pub(crate) fn run(args: &Args) -> Result<()> {
    let patches = patches(&args.names)?;
    let copy = Copy::make()?;
    // It takes a while until the last one's turn comes.
    patches.iter().try_for_each(|patch| copy.with(patch, || Ok(())))?;
    copy.simulate(args).context("without any mutant")?.map_or(Ok(()), |found| {
        bail!("without any mutant a rule is broken: {}", found.rule);
    })?;
    let mut rows = Vec::new();
    for patch in &patches {
        let mutant = Mutant::read(patch)?;
        println!("{}: {}", mutant.name, mutant.what);
        let found = copy.with(patch, || copy.simulate(args))?;
        println!("  {}", found.as_ref().map_or_else(|| "NOT FOUND".to_owned(), Found::line));
        rows.push((mutant, found));
    }
    let table = table(&rows);
    println!("\n{table}");
    if args.write {
        std::fs::write(shell::root().join(TABLE), format!("{HEAD}\n{table}"))?;
    }
    match rows.iter().filter(|(_, found)| found.is_none()).count() {
        0 => Ok(()),
        missed => bail!("{missed} of {} mutants were not found", rows.len()),
    }
}

fn patches(names: &[String]) -> Result<Vec<PathBuf>> {
    let folder = shell::root().join(PATCHES);
    let files = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
    let files = files.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    let is_wanted = |file: &PathBuf| names.is_empty() || names.iter().any(|name| *name == stem(file));
    let is_patch = |file: &PathBuf| file.extension().is_some_and(|ext| ext == "patch");
    let mut patches: Vec<PathBuf> =
        files.into_iter().filter(|file| is_patch(file) && is_wanted(file)).collect();
    patches.sort();
    if patches.is_empty() {
        bail!("{PATCHES} has no such mutant");
    }
    Ok(patches)
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

struct Mutant {
    name: String,
    /// The first line of its patch.
    what: String,
}

impl Mutant {
    fn read(patch: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(patch)?;
        Ok(Self { name: stem(patch), what: text.lines().next().unwrap_or_default().to_owned() })
    }
}

/// What the simulator says about its first failure.
struct Found {
    seed: String,
    steps: String,
    rule: String,
    ops: String,
    lines: String,
}

impl Found {
    /// Reads `seed N, after S steps (O ops): RULE: …` and `  shrunk in T runs to O ops, L lines: …`.
    fn read(printed: &str) -> Option<Self> {
        let first = printed.lines().find(|line| line.starts_with("seed ") && line.contains(" ops): "))?;
        let small = printed.lines().find(|line| line.starts_with("  shrunk in "))?;
        Some(Self {
            seed: between(first, "seed ", ",")?,
            steps: between(first, "after ", " steps")?,
            rule: between(first, " ops): ", ": ")?,
            ops: between(small, "runs to ", " ops")?,
            lines: between(small, "ops, ", " lines")?,
        })
    }

    fn line(&self) -> String {
        let Self { seed, steps, rule, ops, lines } = self;
        format!("seed {seed}, after {steps} steps: {rule}; shrunk to {ops} ops, {lines} lines")
    }
}

fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    rest.split(after).next().map(str::to_owned)
}

/// A copy of what is committed, in a folder of its own.
struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    fn make() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut git = Command::new("git");
        git.args(["worktree", "add", "--quiet", "--detach"]).arg(folder.path().join("copy")).arg("HEAD");
        shell::run(git.current_dir(shell::root()))?;
        Ok(Self { folder })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("copy")
    }

    fn with<T>(&self, patch: &Path, then: impl FnOnce() -> Result<T>) -> Result<T> {
        let patch = std::fs::canonicalize(patch)?;
        shell::run(Command::new("git").arg("apply").arg(&patch).current_dir(self.path()))
            .with_context(|| format!("{} does not apply any more: make it anew", patch.display()))?;
        let done = then();
        shell::run(Command::new("git").args(["checkout", "--quiet", "."]).current_dir(self.path()))?;
        done
    }

    /// What the simulator finds first; none when it finds nothing.
    fn simulate(&self, args: &Args) -> Result<Option<Found>> {
        let (seeds, steps) = (args.seeds.to_string(), args.steps.to_string());
        let mut cargo =
            shell::cargo(&["run", "--quiet", "--release", "-p", "simulator", "--example", "simulate"]);
        cargo.args(["--", "--seeds", &seeds, "--steps", &steps]);
        // Between two mutants only the core is compiled again.
        cargo.current_dir(self.path()).env("CARGO_TARGET_DIR", shell::root().join("target/mutants"));
        // Compiling takes longer than simulating.
        cargo.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        let output = cargo.output().context("cannot start cargo")?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        match (output.status.success(), Found::read(&printed)) {
            (true, _) => Ok(None),
            (false, Some(found)) => Ok(Some(found)),
            (false, None) => bail!("the simulator did not run: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let mut git = Command::new("git");
        git.args(["worktree", "remove", "--force"]).arg(self.path()).current_dir(shell::root());
        // A copy that is left over is only in the way of nobody.
        let _ = git.status();
    }
}

fn table(rows: &[(Mutant, Option<Found>)]) -> String {
    let mut table =
        "| mutant | what is broken | found by the rule | seed | after steps | shrunk to | its recording |\n\
                     |---|---|---|---|---|---|---|\n"
            .to_owned();
    for (mutant, found) in rows {
        let cells = match found {
            Some(Found { seed, steps, rule, ops, lines }) => {
                format!("{rule} | {seed} | {steps} | {ops} ops | {lines} lines")
            }
            None => "**not found** | | | |".to_owned(),
        };
        let _ = writeln!(table, "| `{}` | {} | {cells} |", mutant.name, mutant.what);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_simulator_prints_is_read() {
        let printed = "seed 13, after 967 steps (963 ops): a request ends once: Req(3)\n  \
                       shrunk in 79 runs to 7 ops, 47 lines: a request ends once: Req(1)\n";
        let found = Found::read(printed).unwrap();
        assert_eq!(found.line(), "seed 13, after 967 steps: a request ends once; shrunk to 7 ops, 47 lines");
        assert!(Found::read("5 seeds and 10 steps without a violation").is_none());
    }

    #[test]
    fn every_patch_says_what_it_breaks() {
        let patches = patches(&[]).unwrap();
        assert!(patches.len() >= 10);
        for patch in &patches {
            let what = Mutant::read(patch).unwrap().what;
            assert!(what.ends_with('.') && !what.starts_with("diff"), "{}", patch.display());
        }
    }
}
