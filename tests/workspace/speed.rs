//! How long a search takes among 10,000 documents, and the writing of a large text. Run by hand, in release:
//! `cargo test --release --test suite -- --ignored --nocapture workspace::speed`.

use std::{sync::Arc, time::Duration};

use crate::support::state;
use bytes::Bytes;
use toolwire::{
    base::clock,
    state::{
        documents::Criteria,
        workspace::{Header, Workspace},
    },
};

use super::root;

const DOCUMENTS: usize = 10_000;
const WORDS: usize = 380;
const VOCABULARY: usize = 20_000;

/// Numbers that look like chance, the same each time.
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[allow(clippy::cast_precision_loss, reason = "53 bits")]
        let share = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        share
    }

    /// A word as often as Zipf says: the first ones most.
    fn word(&mut self) -> String {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "small"
        )]
        let rank = (VOCABULARY as f64).powf(self.next()) as usize;
        format!("w{rank}q")
    }
}

#[tokio::test]
#[ignore = "measures; nothing else should run meanwhile"]
async fn a_search_among_10_000_documents_takes_at_most_20_ms() {
    let directory = tempfile::tempdir().unwrap();
    let state = Arc::new(state::at(directory.path()));
    let task = root(&state, "riley", false).await.parse().unwrap();
    let user = toolwire::tool::context::User::new("riley".parse().unwrap());
    let room = Workspace::new(&state).of_task(&user, &task).await.unwrap();
    let (mut seed, begun) = (Seed(7), clock::now());
    for number in 0..DOCUMENTS {
        let text: Vec<_> = (0..WORDS).map(|_| seed.word()).collect();
        let path = format!("folder-{}/document-{number}.txt", number % 100);
        room.put(Header { path, ..Header::default() }, Bytes::from(text.join(" "))).await.unwrap();
    }
    println!("{DOCUMENTS} documents in {:?}", begun.elapsed());
    let mut times = Vec::new();
    for round in 0..200 {
        let query = match round % 4 {
            0 => "w1q w2q".to_owned(),
            1 => "w1q w2q w3q".to_owned(),
            2 => format!("{} {}", seed.word(), seed.word()),
            _ => "\"w1q w2q\" -w3q".to_owned(),
        };
        let begun = clock::now();
        let found = room.search(&query, &Criteria::default(), 20).await.unwrap();
        times.push(begun.elapsed());
        assert!(found.hits.len() <= 20);
    }
    times.sort();
    println!("p50 {:?}, p99 {:?}, most {:?}", times[100], times[197], times[199]);
    assert!(times[197] <= Duration::from_millis(20), "{:?}", times[197]);
}

#[tokio::test]
#[ignore = "measures; nothing else should run meanwhile"]
async fn a_document_of_64_kib_is_written_in_at_most_50_ms() {
    let directory = tempfile::tempdir().unwrap();
    let state = Arc::new(state::at(directory.path()));
    let task = root(&state, "riley", false).await.parse().unwrap();
    let user = toolwire::tool::context::User::new("riley".parse().unwrap());
    let workspace = Workspace::new(&state).of_task(&user, &task).await.unwrap();
    let mut seed = Seed(7);
    for round in ["new", "written again"] {
        let mut times = Vec::new();
        for number in 0..60 {
            let text: Vec<_> = (0..10_900).map(|_| seed.word()).collect();
            let header = Header { path: format!("document-{number}.txt"), ..Header::default() };
            let begun = clock::now();
            workspace.put(header, Bytes::from(text.join(" "))).await.unwrap();
            times.push(begun.elapsed());
        }
        times.sort();
        println!("{round}: p50 {:?}, most {:?}", times[30], times[59]);
        assert!(times[30] <= Duration::from_millis(50), "{:?}", times[30]);
    }
}
