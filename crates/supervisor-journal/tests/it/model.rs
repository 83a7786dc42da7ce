//! Any sequence of what a journal is asked for: each adapter keeps what a list in memory would.

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use supervisor_core::Recorded;
use supervisor_journal::{Bounds, Journal, JournalError, MemoryJournal, ProcessJournal, RunId, SledJournal};

use crate::contract::{event, run};

/// What is known of each run: its events, and whether it goes on.
#[derive(Debug, Clone, Default)]
struct Runs(Vec<(Vec<Recorded>, bool)>);

#[derive(Debug, Clone)]
enum Ask {
    Begin,
    /// So many events to this run, after so many that are missing.
    Append {
        of: usize,
        events: u64,
        missing: u64,
    },
    End {
        of: usize,
    },
    Barrier,
    Tidy,
}

impl Runs {
    /// The events that a run would be given next.
    fn next(&self, of: usize, events: u64, missing: u64) -> Vec<Recorded> {
        let last = self.0[of].0.last().map_or(0, |event| event.seq);
        (1..=events).map(|number| event(last + missing + number)).collect()
    }
}

struct Model;

impl ReferenceStateMachine for Model {
    type State = Runs;
    type Transition = Ask;

    fn init_state() -> BoxedStrategy<Runs> {
        Just(Runs::default()).boxed()
    }

    fn transitions(runs: &Runs) -> BoxedStrategy<Ask> {
        if runs.0.is_empty() {
            return Just(Ask::Begin).boxed();
        }
        let of = 0..runs.0.len();
        prop_oneof![
            1 => Just(Ask::Begin),
            8 => (of.clone(), 0..5_u64, prop_oneof![4 => Just(0_u64), 1 => 1..3_u64])
                .prop_map(|(of, events, missing)| Ask::Append { of, events, missing }),
            1 => of.prop_map(|of| Ask::End { of }),
            1 => Just(Ask::Barrier),
            1 => Just(Ask::Tidy),
        ]
        .boxed()
    }

    fn apply(mut runs: Runs, ask: &Ask) -> Runs {
        match ask {
            Ask::Begin => runs.0.push((Vec::new(), true)),
            Ask::Append { of, events, missing } if runs.0[*of].1 => {
                let next = runs.next(*of, *events, *missing);
                runs.0[*of].0.extend(next);
            }
            Ask::End { of } => runs.0[*of].1 = false,
            Ask::Append { .. } | Ask::Barrier | Ask::Tidy => {}
        }
        runs
    }

    /// While it is shrunk, runs may be missing that later steps speak of.
    fn preconditions(runs: &Runs, ask: &Ask) -> bool {
        match ask {
            Ask::Append { of, .. } | Ask::End { of } => *of < runs.0.len(),
            Ask::Begin | Ask::Barrier | Ask::Tidy => true,
        }
    }
}

/// A journal under test, what it stands on, and the numbers that it gave its runs.
struct Kept {
    journal: Box<dyn Journal>,
    ids: Vec<RunId>,
    /// Of runs that went on before the last step.
    live: Vec<bool>,
    _folder: tempfile::TempDir,
}

impl Kept {
    fn new(make: impl FnOnce(&std::path::Path) -> Box<dyn Journal>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { journal: make(folder.path()), ids: Vec::new(), live: Vec::new(), _folder: folder }
    }

    fn ask(&mut self, runs: &Runs, ask: &Ask) {
        match ask {
            Ask::Begin => {
                let id = self.journal.begin(&run("a")).unwrap();
                assert!(self.ids.last().is_none_or(|last| *last < id), "numbers grow");
                self.ids.push(id);
                self.live.push(true);
            }
            Ask::Append { of, events, .. } if self.live[*of] => {
                let kept = &runs.0[*of].0;
                let added = &kept[kept.len() - usize::try_from(*events).unwrap()..];
                self.journal.append(self.ids[*of], added).unwrap();
            }
            Ask::Append { of, .. } => {
                let refused = self.journal.append(self.ids[*of], &[event(1)]);
                assert!(matches!(refused, Err(JournalError::NoRun(_))), "it is over");
            }
            Ask::End { of } => {
                self.journal.end(self.ids[*of]).unwrap();
                self.live[*of] = false;
            }
            Ask::Barrier => self.journal.barrier().unwrap(),
            Ask::Tidy => self.journal.tidy().unwrap(),
        }
    }

    /// Whether a run that nothing was added to is listed, is left to the journal.
    fn holds(&self, runs: &Runs) {
        let with_events = runs.0.iter().zip(&self.ids).filter(|((events, _), _)| !events.is_empty());
        let listed = self.journal.runs().unwrap();
        let listed: Vec<_> =
            listed.iter().filter(|it| it.events > 0).map(|it| (it.id, it.events, it.last_seq)).collect();
        let mut expected = Vec::new();
        for ((events, _), id) in with_events {
            let (count, last) = (events.len() as u64, events.last().map_or(0, |event| event.seq));
            expected.push((*id, count, last));
            let kept = self.journal.read(*id).unwrap();
            assert_eq!(&kept.events, events);
            let missing = last - events[0].seq + 1 - count;
            assert_eq!((kept.unreadable, kept.missing), (0, missing));
        }
        assert_eq!(listed, expected);
    }
}

/// One test an adapter: they differ in how they are made.
macro_rules! keeps_what_a_list_would {
    ($test:ident, $adapter:ident, $make:expr) => {
        struct $adapter;

        impl StateMachineTest for $adapter {
            type SystemUnderTest = Kept;
            type Reference = Model;

            fn init_test(_: &Runs) -> Kept {
                Kept::new($make)
            }

            fn apply(mut kept: Kept, runs: &Runs, ask: Ask) -> Kept {
                kept.ask(runs, &ask);
                kept
            }

            fn check_invariants(kept: &Kept, runs: &Runs) {
                kept.holds(runs);
            }
        }

        prop_state_machine! {
            #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
            #[test]
            fn $test(sequential 1..40 => $adapter);
        }
    };
}

keeps_what_a_list_would!(in_memory, InMemory, |_| Box::new(MemoryJournal::default()));
keeps_what_a_list_would!(on_disk, OnDisk, |folder| Box::new(
    SledJournal::open(folder, Bounds::default()).unwrap()
));
keeps_what_a_list_would!(one_a_process, OneAProcess, |folder| {
    Box::new(ProcessJournal::new(folder, Bounds::default()).unwrap())
});
