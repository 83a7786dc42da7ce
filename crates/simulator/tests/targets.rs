//! The fuzz targets with what is in the recordings, whole and spoilt: brief, and on every toolchain. `docs/fuzzing.md` says
//! how they are fuzzed for long.
#![cfg(test)]
#![allow(clippy::disallowed_methods)] // a test may read files

use std::collections::BTreeSet;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use simulator::targets::{Seed, TARGETS, seeds};

/// Spoilt seeds of each target.
const CASES: u32 = 300;

fn corpus() -> Vec<Seed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folders = ["transcripts", "foreign"].map(|name| std::fs::read_dir(folder.join(name)).unwrap());
    let files = folders.into_iter().flatten().map(|file| file.unwrap().path());
    let recordings = files.filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    let all: BTreeSet<Seed> = recordings.flat_map(|path| seeds(&std::fs::read(path).unwrap())).collect();
    all.into_iter().collect()
}

fn of(target: &str) -> Vec<Vec<u8>> {
    corpus().into_iter().filter(|seed| seed.target == target).map(|seed| seed.bytes).collect()
}

/// What a fuzzer does to bytes.
#[derive(Debug, Clone)]
enum Spoil {
    Flip(Index, u8),
    Cut(Index, Index),
    Double(Index, Index),
    Insert(Index, Vec<u8>),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    prop_oneof![
        4 => any::<(Index, u8)>().prop_map(|(at, byte)| Spoil::Flip(at, byte)),
        2 => any::<(Index, Index)>().prop_map(|(from, length)| Spoil::Cut(from, length)),
        1 => any::<(Index, Index)>().prop_map(|(from, length)| Spoil::Double(from, length)),
        1 => (any::<Index>(), vec(any::<u8>(), 1..40)).prop_map(|(at, bytes)| Spoil::Insert(at, bytes)),
    ]
}

fn spoilt(bytes: &[u8], spoils: &[Spoil]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for spoil in spoils {
        if bytes.is_empty() {
            break;
        }
        let size = bytes.len();
        let span = |from: &Index, length: &Index| {
            let start = from.index(size);
            start..(start + 1 + length.index(64)).min(size)
        };
        match spoil {
            Spoil::Flip(at, byte) => bytes[at.index(size)] = *byte,
            Spoil::Cut(from, length) => drop(bytes.drain(span(from, length))),
            Spoil::Double(from, length) => {
                let copy = bytes[span(from, length)].to_vec();
                bytes.splice(from.index(size)..from.index(size), copy);
            }
            Spoil::Insert(at, more) => {
                drop(bytes.splice(at.index(size)..at.index(size), more.iter().copied()))
            }
        }
    }
    bytes
}

/// The usual run is the same each time; a longer one, by `PROPTEST_CASES`, goes its own way.
fn runner() -> TestRunner {
    let asked = Config::default();
    let is_usual = std::env::var_os("PROPTEST_CASES").is_none();
    let (cases, rng_seed) =
        if is_usual { (CASES, RngSeed::Fixed(20_261_130)) } else { (asked.cases, asked.rng_seed) };
    TestRunner::new(Config { cases, rng_seed, failure_persistence: None, ..asked })
}

#[test]
fn every_target_has_seeds_and_takes_them() {
    for (name, target) in TARGETS {
        let seeds = of(name);
        assert!(seeds.len() >= 5, "{name} has {} seeds", seeds.len());
        seeds.iter().for_each(|seed| target(seed));
    }
}

#[test]
fn every_target_takes_spoilt_seeds() {
    for (name, target) in TARGETS {
        let seeds = of(name);
        let ran = runner().run(&(any::<Index>(), vec(spoil(), 1..8)), |(which, spoils)| {
            target(&spoilt(&seeds[which.index(seeds.len())], &spoils));
            Ok(())
        });
        ran.unwrap_or_else(|failure| panic!("{name}: {failure}"));
    }
}

#[test]
fn every_target_takes_any_bytes() {
    for (name, target) in TARGETS {
        let ran = runner().run(&vec(any::<u8>(), 0..400), |bytes| {
            target(&bytes);
            Ok(())
        });
        ran.unwrap_or_else(|failure| panic!("{name}: {failure}"));
    }
}
