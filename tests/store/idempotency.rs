//! Calls with a `request_id`.

use std::{sync::Arc, time::SystemTime};

use futures_util::future::join_all;
use tempfile::TempDir;
use toolwire::{
    context::RequestId,
    contract::{Payload, ToolName, ToolResult},
    digest::Digest,
    domains::diagnostics::proto::v1::DebugWriteOutput,
    store::{
        MemoryIdempotency, Sqlite,
        idempotency::{Begun, Idempotency, Key, RETENTION, USER_BYTES, USER_CAPACITY},
    },
};

use super::{SECOND, assert_same, in_file, now, outcomes, output, provenance, user};

type Store = Arc<dyn Idempotency>;

/// Every implementation, and what it stands on.
fn stores() -> (Vec<Store>, TempDir) {
    let (file, directory) = in_file();
    (vec![Arc::new(MemoryIdempotency::default()), Arc::new(Sqlite::in_memory()), file], directory)
}

fn digest(of: &str) -> Digest {
    Digest::of_bytes(of.as_bytes())
}

fn tool(name: &str) -> ToolName {
    name.parse().expect("a name")
}

fn key(name: &str) -> Key {
    Key { user: user(name), tool: tool("debug_write"), request_id: RequestId::generate() }
}

fn result() -> ToolResult {
    let outcome = outcomes().remove(0);
    ToolResult { tool: tool("debug_write"), fetched_at: now(), outcome, provenance: provenance() }
}

async fn begin(store: &Store, key: &Key) -> Begun {
    begin_at(store, key, now()).await
}

async fn begin_at(store: &Store, key: &Key, now: SystemTime) -> Begun {
    store.begin(key, digest("1"), now).await
}

#[tokio::test]
async fn a_repeat_meets_the_outcome_and_other_arguments_a_conflict() {
    let (stores, _directory) = stores();
    for store in stores {
        let key = key("a");
        assert!(matches!(begin(&store, &key).await, Begun::New), "{store:?}");
        assert!(matches!(begin(&store, &key).await, Begun::Unfinished), "{store:?}");
        assert!(matches!(store.begin(&key, digest("2"), now()).await, Begun::Conflict), "{store:?}");
        store.end(&key, &result()).await.unwrap();
        assert!(matches!(begin(&store, &key).await, Begun::Ended(_)), "{store:?}");
        assert!(matches!(store.begin(&key, digest("2"), now()).await, Begun::Conflict), "{store:?}");
    }
}

#[tokio::test]
async fn other_users_and_other_tools_never_meet_a_record() {
    let (stores, _directory) = stores();
    for store in stores {
        let key = key("a");
        begin(&store, &key).await;
        store.end(&key, &result()).await.unwrap();
        let of_other_user = Key { user: user("b"), ..key.clone() };
        store.forget(&of_other_user).await.unwrap();
        assert!(matches!(begin(&store, &of_other_user).await, Begun::New), "{store:?}");
        let of_other_tool = Key { tool: tool("debug_sleep"), ..key.clone() };
        assert!(matches!(begin(&store, &of_other_tool).await, Begun::New), "{store:?}");
        assert!(matches!(begin(&store, &key).await, Begun::Ended(_)), "{store:?}");
    }
}

#[tokio::test]
async fn an_outcome_comes_back_whole() {
    let (stores, _directory) = stores();
    for store in stores {
        for outcome in outcomes() {
            let key = key("a");
            begin(&store, &key).await;
            store.end(&key, &ToolResult { outcome: outcome.clone(), ..result() }).await.unwrap();
            let Begun::Ended(found) = begin(&store, &key).await else { panic!("{store:?}") };
            let found = found.read(Some(&output())).unwrap();
            assert_same(&found.outcome, &outcome);
            assert_eq!(found.provenance, provenance());
            assert_eq!((found.tool.as_str(), found.fetched_at), ("debug_write", now()));
        }
    }
}

#[tokio::test]
async fn a_record_is_kept_for_a_day() {
    let (stores, _directory) = stores();
    for store in stores {
        let key = key("a");
        begin(&store, &key).await;
        store.end(&key, &result()).await.unwrap();
        let end = now() + RETENTION;
        assert!(matches!(begin_at(&store, &key, end - SECOND).await, Begun::Ended(_)), "{store:?}");
        assert!(matches!(begin_at(&store, &key, end).await, Begun::New), "{store:?}");
    }
}

#[tokio::test]
async fn what_is_forgotten_can_be_tried_again() {
    let (stores, _directory) = stores();
    for store in stores {
        let key = key("a");
        for _ in 0..3 {
            assert!(matches!(begin(&store, &key).await, Begun::New), "{store:?}");
            store.forget(&key).await.unwrap();
        }
        // An end that comes after all is of no call.
        store.end(&key, &result()).await.unwrap();
        assert!(matches!(begin(&store, &key).await, Begun::New), "{store:?}");
    }
}

#[tokio::test]
async fn a_user_who_used_up_its_share_leaves_room_for_others_and_gets_it_back() {
    // Ten thousand waits for a disk would show nothing more.
    let stores: [Store; 2] = [Arc::new(MemoryIdempotency::default()), Arc::new(Sqlite::in_memory())];
    for store in stores {
        let first = key("a");
        begin(&store, &first).await;
        for _ in 1..USER_CAPACITY {
            assert!(matches!(begin(&store, &key("a")).await, Begun::New));
        }
        assert!(matches!(begin(&store, &key("a")).await, Begun::Full), "{store:?}");
        assert!(matches!(begin(&store, &first).await, Begun::Unfinished), "{store:?}");
        assert!(matches!(begin(&store, &key("b")).await, Begun::New), "{store:?}");
        store.forget(&first).await.unwrap();
        assert!(matches!(begin(&store, &key("a")).await, Begun::New), "{store:?}");
        let later = now() + RETENTION;
        assert!(matches!(begin_at(&store, &key("a"), later).await, Begun::New), "{store:?}");
    }
}

#[tokio::test]
async fn large_outcomes_use_up_a_share_too() {
    let (stores, _directory) = stores();
    for store in stores {
        let key_of_large = key("a");
        let value = "x".repeat(USER_BYTES);
        let large = Payload::from_message(&DebugWriteOutput { value, ..DebugWriteOutput::default() });
        begin(&store, &key_of_large).await;
        store.end(&key_of_large, &ToolResult { outcome: Ok(large), ..result() }).await.unwrap();
        assert!(matches!(begin(&store, &key("a")).await, Begun::Full), "{store:?}");
        assert!(matches!(begin(&store, &key("b")).await, Begun::New), "{store:?}");
        assert!(matches!(begin(&store, &key_of_large).await, Begun::Ended(_)), "{store:?}");
        store.forget(&key_of_large).await.unwrap();
        assert!(matches!(begin(&store, &key("a")).await, Begun::New), "{store:?}");
    }
}

/// How many of the answers say that the call is new; the others must say that it has begun.
#[track_caller]
fn count_new(answers: &[Begun]) -> usize {
    let is_known = |begun: &Begun| matches!(begun, Begun::New | Begun::Unfinished);
    assert!(answers.iter().all(is_known), "{answers:?}");
    answers.iter().filter(|begun| matches!(begun, Begun::New)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_at_the_same_instant_one_is_new() {
    let (stores, _directory) = stores();
    for store in stores {
        let key = key("a");
        let begin = || {
            let (store, key) = (Arc::clone(&store), key.clone());
            tokio::spawn(async move { begin(&store, &key).await })
        };
        let answers: Vec<_> = join_all((0..20).map(|_| begin())).await;
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(count_new(&answers), 1, "{store:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_processes_at_the_same_instant_one_begins() {
    let directory = tempfile::tempdir().unwrap();
    let handle = || Arc::new(Sqlite::at(directory.path())) as Store;
    let (one, other) = (handle(), handle());
    for _ in 0..20 {
        let key = key("a");
        let answers = tokio::join!(begin(&one, &key), begin(&other, &key));
        assert_eq!(count_new(&[answers.0, answers.1]), 1);
    }
}

#[tokio::test]
async fn what_is_recorded_outlives_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let reopened = || Arc::new(Sqlite::at(directory.path())) as Store;
    let (ended, begun) = (key("a"), key("a"));
    let store = reopened();
    begin(&store, &ended).await;
    begin(&store, &begun).await;
    store.end(&ended, &result()).await.unwrap();
    drop(store);
    let store = reopened();
    let Begun::Ended(found) = begin(&store, &ended).await else { panic!("it ended") };
    assert_same(&found.read(Some(&output())).unwrap().outcome, &result().outcome);
    assert!(matches!(begin(&store, &begun).await, Begun::Unfinished));
}

#[tokio::test]
async fn a_store_without_a_place_records_nothing_and_says_so() {
    let store: Store = Arc::new(Sqlite::nowhere("no home"));
    let Begun::Unavailable(error) = begin(&store, &key("a")).await else { panic!("it has no place") };
    assert_eq!(error.to_string(), "no home");
    assert!(store.end(&key("a"), &result()).await.is_err());
}
