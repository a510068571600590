//! Callers, a server and its source in a network that breaks, on a clock of its own: what is promised holds whatever
//! the seed does to the links.
//!
//! The server is the product's: transport, faces, pipeline, and the stack of requests to sources. In memory are the
//! stores, since SQLite's thread knows no simulated time; and requests reach the source over the simulated network from
//! above reqwest, which takes no foreign connector. Not here: what callers make of a status (`wire`).
//!
//! `TOOLWIRE_SIMULATION_SEED=7 cargo test --test simulation` runs one seed and prints what it does;
//! `TOOLWIRE_SIMULATION_SEEDS=1000` runs so many, as `.ci/long` does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "which seed it was, for whoever runs it again")]

mod caller;
mod client;
mod ledger;
#[path = "../support/memory_idempotency.rs"]
#[allow(dead_code, unreachable_pub, reason = "a part is used here")]
mod memory_idempotency;
mod network;
mod no_hosts;
mod plan;
mod promises;
#[path = "../support/raw.rs"]
#[allow(dead_code, unreachable_pub, reason = "a part is used here")]
mod raw;
mod run;
mod server;
mod source;
mod tools;

use std::{
    env,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread::{self, available_parallelism},
};

use self::{promises::Applied, run::run};

/// How many seeds a plain `cargo test` runs.
const SEEDS: u64 = 50;

/// A number in the environment.
fn number(variable: &str) -> Option<u64> {
    Some(env::var(variable).ok()?.parse().expect("a number"))
}

#[test]
fn whatever_breaks_the_promises_hold() {
    if let Some(seed) = number("TOOLWIRE_SIMULATION_SEED") {
        let end = run(seed);
        println!("{:#?}\n{}\n{:?}", end.plan, end.kept, end.applied);
        assert!(end.broken.is_empty(), "{}", end.describe());
        return;
    }
    let (next, seeds) = (AtomicU64::new(0), number("TOOLWIRE_SIMULATION_SEEDS").unwrap_or(SEEDS));
    let work = || {
        let seeds = || Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < seeds);
        std::iter::from_fn(seeds)
            .map(run)
            .fold((Applied::default(), String::new()), |(applied, said), end| {
                (applied.and(end.applied), said + &end.describe())
            })
    };
    let (applied, said) = thread::scope(|scope| {
        let threads = available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a seed panicked; it is named above"))
            .fold((Applied::default(), String::new()), |(applied, said), (more, too)| {
                (applied.and(more), said + &too)
            })
    });
    println!("{seeds} seeds; {applied:?}");
    assert!(said.is_empty(), "{said}");
    assert_eq!(applied.missing(), [""; 0], "promises that no seed puts to the test");
}

#[test]
fn a_seed_does_the_same_each_time() {
    for seed in 0..3 {
        let (first, second) = (run(seed), run(seed));
        assert_eq!(first.kept.to_string(), second.kept.to_string(), "seed {seed}");
    }
}
