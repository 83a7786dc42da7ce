//! What a run does, as data that shrinks well.

use std::time::Duration;

use browser_model::{Action, Config, Entry, Place, menu};
use cdp_wire::page::DialogType;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// One thing that happens in a run.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Something happens in the browser.
    Act(Action),
    /// So many messages are delivered, either way; the seed says which.
    Deliver(u8),
    /// The host asks for something.
    Host(Ask),
    /// Time passes.
    Wait(Duration),
}

/// What a host asks. Objects are small numbers, taken modulo how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ask {
    /// An expression is evaluated in a frame.
    Eval { frame: u8, kind: u8 },
    /// A raw call goes to a frame.
    Call { frame: u8, kind: u8 },
    /// A dialog is answered.
    Respond { nth: u8, accept: bool },
    /// A late result is asked for.
    Result { nth: u8 },
    /// A page is freed.
    Recover { page: u8, kind: u8 },
    /// The caller of an open request leaves.
    Cancel { nth: u8 },
    /// The policy is changed.
    Policy { kind: u8 },
}

/// One run.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) config: Config,
    pub(crate) seed: u64,
    pub(crate) ops: Vec<Op>,
}

/// Fewer things than this happen in a run: enough that each of the hard ones of the model comes up in one run of twenty.
pub(crate) const LENGTH: usize = 60;

/// What proptest runs unless `PROPTEST_CASES` says otherwise.
const USUAL_CASES: u32 = 256;

/// Where the usual run begins.
const SEED: u64 = 20_261_130;

/// So many cases, and as many times more as `PROPTEST_CASES` is above the usual. Failures are remembered in `regressions`.
pub(crate) fn cases(count: u32, regressions: &'static str) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = (u64::from(asked.cases) * u64::from(count)).div_ceil(u64::from(USUAL_CASES));
    // The usual run is the same each time, so that a change is judged by itself; a longer run goes its own way.
    let rng_seed = if asked.cases == USUAL_CASES { RngSeed::Fixed(SEED) } else { asked.rng_seed };
    let failure_persistence = Some(Box::new(FileFailurePersistence::Direct(regressions)) as Box<_>);
    ProptestConfig { cases: u32::try_from(cases).unwrap_or(u32::MAX), failure_persistence, rng_seed, ..asked }
}

/// Runs of up to so many things.
pub(crate) fn scripts(length: usize) -> impl Strategy<Value = Script> {
    let part = prop_oneof![
        20 => op().prop_map(|op| vec![op]),
        1 => (episode(), 20..80_u8).prop_map(|(actions, count)| heard(&actions, count)),
    ];
    let parts = (0..1_u16 << 11, any::<u64>(), vec(part, 1..length));
    parts.prop_map(|(bits, seed, ops)| Script { config: Config::from_bits(bits), seed, ops: ops.concat() })
}

/// Actions, each one after so many messages.
fn heard(actions: &[Action], count: u8) -> Vec<Op> {
    actions.iter().flat_map(|action| [Op::Deliver(count), Op::Act(*action)]).collect()
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => action().prop_map(Op::Act),
        6 => (0..12_u8).prop_map(Op::Deliver),
        3 => ask().prop_map(Op::Host),
        1 => (0..3_000_u64).prop_map(|ms| Op::Wait(Duration::from_millis(ms))),
    ]
}

/// An action of the model's menu.
pub(crate) fn action() -> impl Strategy<Value = Action> {
    let choices =
        menu().into_iter().map(|Entry { weight, make }| (weight, any::<[u8; 4]>().prop_map(make).boxed()));
    Union::new_weighted(choices.collect())
}

/// What takes several actions, most of which must have been heard of before the next: by chance alone it is seldom.
pub(crate) fn episode() -> impl Strategy<Value = Vec<Action>> {
    prop_oneof![restore(), overlap(), nest(), move_away_and_back()]
}

/// A page with an iframe comes back out of the cache.
fn restore() -> impl Strategy<Value = Vec<Action>> {
    any::<[u8; 4]>().prop_map(|[page, parent, site, other]| {
        let go = |site, cache| Action::NavigatePage { page, to: Place::Site(site), cache };
        let add = Action::AddFrame { parent, to: Place::Site(other) };
        vec![go(site, false), add, go(other, true), Action::Back { page }]
    })
}

/// Two frames of two processes open a dialog each.
fn overlap() -> impl Strategy<Value = Vec<Action>> {
    any::<[u8; 3]>().prop_map(|[parent, one, other]| {
        let alert = |frame| Action::OpenDialog { frame, kind: DialogType::Alert };
        vec![Action::AddFrame { parent, to: Place::Sandboxed }, alert(one), alert(other)]
    })
}

/// Iframes of several sites in each other.
fn nest() -> impl Strategy<Value = Vec<Action>> {
    vec(any::<(u8, u8)>(), 3..5).prop_map(|frames| {
        let add = |(parent, site)| Action::AddFrame { parent, to: Place::Site(site) };
        frames.into_iter().map(add).collect()
    })
}

/// An iframe goes to another process; then frames come back into those of their parents, or go.
fn move_away_and_back() -> impl Strategy<Value = Vec<Action>> {
    any::<[u8; 6]>().prop_map(|[parent, site, away, home, again, gone]| {
        let navigate = |frame, to| Action::Navigate { frame, to, slow: false };
        vec![
            Action::AddFrame { parent, to: Place::Site(site) },
            navigate(away, Place::Site(site.wrapping_add(1))),
            navigate(home, Place::Srcdoc),
            navigate(again, Place::Blank),
            Action::RemoveFrame { frame: gone },
        ]
    })
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        6 => any::<(u8, u8)>().prop_map(|(frame, kind)| Ask::Eval { frame, kind }),
        3 => any::<(u8, u8)>().prop_map(|(frame, kind)| Ask::Call { frame, kind }),
        5 => any::<(u8, bool)>().prop_map(|(nth, accept)| Ask::Respond { nth, accept }),
        2 => any::<u8>().prop_map(|nth| Ask::Result { nth }),
        2 => any::<(u8, u8)>().prop_map(|(page, kind)| Ask::Recover { page, kind }),
        1 => any::<u8>().prop_map(|nth| Ask::Cancel { nth }),
        1 => any::<u8>().prop_map(|kind| Ask::Policy { kind }),
    ]
}
