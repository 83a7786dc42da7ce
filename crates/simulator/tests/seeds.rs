//! A brief run of the simulator, and what becomes of a failure. `cargo xtask simulate` runs many more seeds.

use simulator::simulate;

/// Enough to meet every kind of fault; a minute of them is another command's work.
const SEEDS: u64 = 40;

const STEPS: u64 = 300;

#[test]
fn seeds_break_no_rule() {
    for seed in 1..=SEEDS {
        let ran = simulate(seed, STEPS);
        let report = ran.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(report.steps >= STEPS && report.answered > 0, "{report:?}");
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let [one, two] = [7, 7].map(|seed| simulate(seed, STEPS).unwrap());
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
    let other = simulate(8, STEPS).unwrap();
    assert_ne!(one.tally, other.tally);
}
