//! What the cases of a property contained: one that never meets a swap proves nothing about swaps.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write as _};

use browser_model::Tally;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// The least share of cases, in percent, that each hard thing must be in.
const LEAST_PERCENT: u32 = 5;

/// With so many cases a share is no matter of luck any more. The usual run of most properties has as many.
const ENOUGH: u32 = 250;

/// From so many cases on, a run is a long one: what it contained is told whether it passes or not.
const LONG: u32 = 2_000;

/// A hard thing, and where a tally counts it.
type Hard = (&'static str, fn(&Tally) -> u32);

/// What must not be seldom.
const HARD: [Hard; 9] = [
    ("swaps to another process", |tally| tally.swaps),
    ("homecomings", |tally| tally.homecomings),
    ("nested OOPIFs", |tally| tally.nested),
    ("crashes", |tally| tally.crashes),
    ("removals during attach", |tally| tally.removed_while_attaching),
    ("late detaches", |tally| tally.late_detaches),
    ("bfcache restores", |tally| tally.restores),
    ("overlapping dialogs", |tally| tally.overlaps),
    ("popups", |tally| tally.popups),
];

/// A property, and what it is judged by.
pub(crate) struct Property {
    name: &'static str,
    config: ProptestConfig,
    /// Hard things that its cases cannot contain.
    without: Vec<&'static str>,
}

impl Property {
    pub(crate) fn new(name: &'static str, config: ProptestConfig) -> Self {
        Self { name, config: ProptestConfig { test_name: Some(name), ..config }, without: Vec::new() }
    }

    /// This hard thing cannot happen in its cases.
    pub(crate) fn without(self, hard: &'static str) -> Self {
        Self { without: vec![hard], ..self }
    }

    /// Runs it. It gives the tally of its browser, or `None` for a case that it does not speak of. Tells what the cases
    /// contained, and fails when something hard was in too few of them.
    pub(crate) fn holds<S: Strategy>(self, strategy: &S, case: impl Fn(S::Value) -> Option<Tally>) {
        let shares = RefCell::new(Shares::default());
        let mut runner = TestRunner::new(self.config);
        let ran = runner.run(strategy, |value| {
            let tally = case(value).ok_or_else(|| TestCaseError::reject("it does not speak of this"))?;
            shares.borrow_mut().add(&tally);
            Ok(())
        });
        if let Err(failure) = ran {
            panic!("{failure}\n{runner}");
        }
        let shares = shares.into_inner();
        tell(self.name, &shares);
        let mut seldom = shares.seldom();
        seldom.retain(|hard| !self.without.contains(hard));
        assert!(seldom.is_empty(), "{}: in fewer than {LEAST_PERCENT} % of the cases: {seldom:?}", self.name);
    }
}

/// For whoever looks at the output of tests; of a long run, for everybody.
#[expect(clippy::disallowed_methods, reason = "the crate is pure; what tests it may speak")]
fn tell(name: &str, shares: &Shares) {
    println!("{name}: {shares}");
    if shares.cases >= LONG {
        // What is printed by a test that passes is not shown. This is.
        let _ = writeln!(io::stderr(), "{name}: {shares}");
    }
}

/// In how many cases each hard thing happened.
#[derive(Debug, Default)]
struct Shares {
    cases: u32,
    hit: [u32; HARD.len()],
}

impl Shares {
    fn add(&mut self, tally: &Tally) {
        self.cases += 1;
        for (hit, (_, count)) in self.hit.iter_mut().zip(HARD) {
            *hit += u32::from(count(tally) > 0);
        }
    }

    fn percents(&self) -> impl Iterator<Item = (&'static str, u32)> {
        HARD.iter().zip(self.hit).map(|((name, _), hit)| (*name, 100 * hit / self.cases.max(1)))
    }

    /// What was in too few cases.
    fn seldom(&self) -> Vec<&'static str> {
        if self.cases < ENOUGH {
            return Vec::new();
        }
        self.percents().filter(|(_, percent)| *percent < LEAST_PERCENT).map(|(name, _)| name).collect()
    }
}

impl Display for Shares {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} cases", self.cases)?;
        self.percents().try_for_each(|(name, percent)| write!(f, ", {name} {percent} %"))
    }
}

#[test]
fn what_is_in_too_few_of_enough_cases_is_named() {
    let swap = Tally { swaps: 2, ..Tally::default() };
    let popup = Tally { popups: 1, ..Tally::default() };
    let mut shares = Shares::default();
    for case in 0..ENOUGH - 1 {
        shares.add(if case % 10 == 0 { &swap } else { &popup });
    }
    assert!(shares.seldom().is_empty(), "too few cases to say so");
    shares.add(&swap);
    assert_eq!(shares.seldom().len(), HARD.len() - 2);
    assert!(shares.to_string().starts_with("250 cases, swaps to another process 10 %, homecomings 0 %,"));
}
