//! The corpora of the fuzz targets, and mutations of them that are the same each time: what `fuzz/` does without an
//! end, done once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(unreachable_pub, reason = "the functions of the targets are a crate of their own")]

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::{
    fs, panic,
    path::Path,
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use self::targets::Target;
use proptest::{
    collection::vec,
    prelude::*,
    sample::Index,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

/// Fewer inputs than this are no corpus.
const FEWEST: usize = 12;
/// Mutations of each corpus.
const CASES: u32 = 400;

/// A corpus, by the names of its files.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> =
        files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect();
    files.sort();
    files
}

/// Panics so far, those too that the server would have survived: a connector takes one for a bad answer.
static PANICS: AtomicUsize = AtomicUsize::new(0);
static TURN: Mutex<()> = Mutex::new(());

/// Whether a target takes an input without a panic on any thread.
fn holds(run: Target, input: &[u8]) -> bool {
    static COUNT: Once = Once::new();
    COUNT.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            usual(info);
        }));
    });
    // The count is the process's.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = PANICS.load(Ordering::SeqCst);
    panic::catch_unwind(|| run(input)).is_ok() && PANICS.load(Ordering::SeqCst) == before
}

fn run(target: &str) -> Target {
    targets::TARGETS.iter().find(|(name, _)| *name == target).unwrap().1
}

#[track_caller]
fn assert_corpus_holds(target: &str) {
    let (run, corpus) = (run(target), corpus(target));
    assert!(corpus.len() >= FEWEST, "{target}: only {} inputs", corpus.len());
    for (file, input) in corpus {
        assert!(holds(run, &input), "fuzz/corpus/{target}/{file}");
    }
}

/// A change of an input.
#[derive(Clone, Debug)]
enum Mutation {
    /// It ends here.
    Cut(Index),
    /// This byte is another.
    Flip(Index, u8),
    /// From here on it is another input from there on.
    Splice(Index, Index, Index),
    /// This part of it stands there twice.
    Repeat(Index, Index),
}

fn mutations() -> impl Strategy<Value = (Index, Vec<Mutation>)> {
    let index = any::<Index>;
    let mutation = prop_oneof![
        1 => index().prop_map(Mutation::Cut),
        4 => (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::Flip(at, byte)),
        2 => (index(), index(), index()).prop_map(|(at, other, from)| Mutation::Splice(at, other, from)),
        1 => (index(), index()).prop_map(|(from, to)| Mutation::Repeat(from, to)),
    ];
    (index(), vec(mutation, 1..4))
}

impl Mutation {
    fn apply(&self, input: &mut Vec<u8>, corpus: &[(String, Vec<u8>)]) {
        // One more than there are bytes: the end is a place too.
        let place = |index: &Index, input: &[u8]| index.index(input.len() + 1);
        match self {
            Self::Cut(at) => input.truncate(place(at, input)),
            Self::Flip(at, byte) => {
                let at = place(at, input);
                input.iter_mut().skip(at).take(1).for_each(|old| *old = *byte);
            }
            Self::Splice(at, other, from) => {
                let other = &other.get(corpus).1;
                input.truncate(place(at, input));
                input.extend_from_slice(&other[place(from, other)..]);
            }
            Self::Repeat(from, to) => {
                let (one, other) = (place(from, input), place(to, input));
                let part = input[one.min(other)..one.max(other)].to_vec();
                input.splice(one..one, part);
            }
        }
    }
}

#[track_caller]
fn assert_mutations_hold(target: &str) {
    let (run, corpus) = (run(target), corpus(target));
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let held = TestRunner::new_with_rng(config, rng).run(&mutations(), |(begin, mutations)| {
        let mut input = begin.get(&corpus).1.clone();
        for mutation in &mutations {
            mutation.apply(&mut input, &corpus);
        }
        prop_assert!(holds(run, &input), "to be kept as a file: {}", input.escape_ascii());
        Ok(())
    });
    held.unwrap();
}

macro_rules! targets {
    ($($target:ident)*) => {
        /// Each input as it stands.
        mod corpora {
            $(#[test]
            fn $target() {
                super::assert_corpus_holds(stringify!($target));
            })*
        }

        /// As many mutations of each.
        mod mutations {
            $(#[test]
            fn $target() {
                super::assert_mutations_hold(stringify!($target));
            })*
        }

        #[test]
        fn every_target_is_tried() {
            let tried = [$(stringify!($target)),*];
            assert_eq!(targets::TARGETS.map(|(name, _)| name), tried);
        }
    };
}

targets! { arguments blocks grpc_timeout manifests paths queries sanitiser sources tables transcoders }
