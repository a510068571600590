//! Cached results.

use std::sync::Arc;

use crate::support::state;
use tempfile::TempDir;
use toolwire::{
    contract::Payload,
    state::{
        MemoryResults, Store,
        results::{Results, StoredResult},
    },
};

use super::{SECOND, assert_same, in_file, now, outcomes, output, provenance};

const KEY: [u8; 32] = [1; 32];

fn stores() -> (Vec<Arc<dyn Results>>, TempDir) {
    let (file, directory) = in_file();
    (vec![Arc::new(MemoryResults::default()), Arc::new(state::fresh()), file], directory)
}

fn result() -> StoredResult<Payload> {
    StoredResult {
        output_message: Some("toolwire.diagnostics.v1.DebugWriteOutput".to_owned()),
        outcome: outcomes().remove(0),
        provenance: provenance(),
        stored_at: now(),
        ttl: 60 * SECOND,
    }
}

#[tokio::test]
async fn a_result_comes_back_whole() {
    let (stores, _directory) = stores();
    for store in stores {
        for (number, outcome) in (0..).zip(outcomes()) {
            let expected = StoredResult { outcome, ..result() };
            store.put(&[number; 32], &expected).await.unwrap();
            let found =
                store.get(&[number; 32], now()).await.unwrap().unwrap().read(Some(&output())).unwrap();
            assert_same(&found.outcome, &expected.outcome);
            assert_eq!(found.provenance, expected.provenance);
            assert_eq!(found.output_message, expected.output_message);
            assert_eq!((found.stored_at, found.ttl), (expected.stored_at, expected.ttl));
        }
        assert!(store.get(&[99; 32], now()).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_result_is_fresh_until_its_end_and_a_later_one_takes_its_place() {
    let (stores, _directory) = stores();
    for store in stores {
        store.put(&KEY, &result()).await.unwrap();
        let end = now() + result().ttl;
        assert!(store.get(&KEY, end - SECOND).await.unwrap().is_some(), "{store:?}");
        assert!(store.get(&KEY, end).await.unwrap().is_none(), "{store:?}");
        let later = StoredResult { stored_at: end, outcome: outcomes().remove(3), ..result() };
        store.put(&KEY, &later).await.unwrap();
        let found = store.get(&KEY, end + SECOND).await.unwrap().unwrap().read(None).unwrap();
        assert_same(&found.outcome, &later.outcome);
    }
}

#[tokio::test]
async fn a_result_that_is_larger_than_everything_is_not_kept() {
    let stores: [Arc<dyn Results>; 2] =
        [Arc::new(MemoryResults::new(10_000)), Arc::new(state::fresh().with_results_bytes(10_000))];
    for store in stores {
        store.put(&KEY, &result()).await.unwrap();
        let large = Ok(Payload::from_json("x".repeat(20_000).into()));
        store.put(&[2; 32], &StoredResult { outcome: large, ..result() }).await.unwrap();
        assert!(store.get(&KEY, now()).await.unwrap().is_some(), "{store:?}");
    }
}

fn of_bytes(bytes: usize, stored_at: std::time::SystemTime) -> StoredResult<Payload> {
    StoredResult { outcome: Ok(Payload::from_json("x".repeat(bytes).into())), stored_at, ..result() }
}

async fn are_kept(store: &Store, keys: std::ops::Range<u8>, now: std::time::SystemTime) -> Vec<u8> {
    let mut kept = Vec::new();
    for key in keys {
        kept.extend(store.get(&[key; 32], now).await.unwrap().map(|_| key));
    }
    kept
}

#[tokio::test]
async fn the_oldest_make_room() {
    let store = state::fresh().with_results_bytes(100_000);
    for number in 0..60 {
        let stored_at = now() + u32::from(number) * SECOND / 10;
        store.put(&[number; 32], &of_bytes(2_000, stored_at)).await.unwrap();
    }
    let kept = are_kept(&store, 0..60, now()).await;
    assert!(kept.len() * 2_000 <= 100_000 && kept.len() > 20, "{kept:?}");
    assert_eq!(kept, (60 - u8::try_from(kept.len()).unwrap()..60).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_is_no_longer_fresh_makes_room_before_what_is() {
    let store = state::fresh().with_results_bytes(100_000);
    let brief = StoredResult { ttl: SECOND, ..of_bytes(2_000, now() + SECOND) };
    for number in 0..20 {
        store.put(&[number; 32], &of_bytes(2_000, now())).await.unwrap();
        store.put(&[100 + number; 32], &brief).await.unwrap();
    }
    let later = now() + 10 * SECOND;
    for number in 20..30 {
        store.put(&[number; 32], &of_bytes(2_000, later)).await.unwrap();
    }
    assert_eq!(are_kept(&store, 0..30, later).await, (0..30).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_kept_result_outlives_the_process_and_is_shared_with_others() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (state::at(directory.path()), state::at(directory.path()));
    one.put(&KEY, &result()).await.unwrap();
    assert!(other.get(&KEY, now()).await.unwrap().is_some());
    drop((one, other));
    assert!(state::at(directory.path()).get(&KEY, now()).await.unwrap().is_some());
}
