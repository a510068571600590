//! Calls with a `request_id`.

use std::{fs, sync::Arc, time::SystemTime};

use crate::support::state;
use futures_util::future::join_all;
use serde_json::json;
use tempfile::TempDir;
use toolwire::{
    base::digest::Digest,
    contract::{Payload, ToolName, ToolResult},
    domains::diagnostics::proto::v1::DebugWriteOutput,
    state::{
        Store,
        idempotency::{About, Beginning, Begun, Bound, Effect, Idempotency, Key, Quota},
        results::{Results, StoredResult},
    },
    tool::context::{CallId, RequestId},
};

use crate::support::MemoryIdempotency;

use super::{SECOND, assert_same, in_file, now, outcomes, output, provenance, user};

type AnyStore = Arc<dyn Timed>;

/// A store whose clock a test stops.
trait Timed: Idempotency {
    fn stop_at(&self, time: SystemTime);
}

impl Timed for Store {
    fn stop_at(&self, time: SystemTime) {
        self.at_time(time);
    }
}

impl Timed for MemoryIdempotency {
    fn stop_at(&self, time: SystemTime) {
        Self::stop_at(self, time);
    }
}

/// Every implementation, and what it stands on.
fn stores() -> (Vec<AnyStore>, TempDir) {
    let (file, directory) = in_file();
    (vec![Arc::new(MemoryIdempotency::default()), Arc::new(state::fresh()), file], directory)
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
    ToolResult { tool: tool("debug_write"), fetched_at: now(), outcome, provenance: provenance(), kept: None }
}

async fn begin(store: &AnyStore, key: &Key) -> Begun {
    begin_at(store, key, now()).await
}

async fn begin_at(store: &AnyStore, key: &Key, now: SystemTime) -> Begun {
    begin_as(store, key, Effect::Write, "1", now).await
}

async fn begin_as(store: &AnyStore, key: &Key, effect: Effect, arguments: &str, now: SystemTime) -> Begun {
    let about = About::of(CallId::generate(), digest("definition"));
    store.stop_at(now);
    store.begin(Beginning { key, effect, digest: digest(arguments), about: &about }).await
}

#[tokio::test]
async fn a_repeat_meets_the_outcome_and_other_arguments_a_conflict() {
    let (stores, _directory) = stores();
    for store in stores {
        let key = key("a");
        assert!(matches!(begin(&store, &key).await, Begun::New), "{store:?}");
        assert!(matches!(begin(&store, &key).await, Begun::Unfinished { .. }), "{store:?}");
        assert!(
            matches!(begin_as(&store, &key, Effect::Write, "2", now()).await, Begun::Conflict),
            "{store:?}"
        );
        store.end(&key, &result()).await.unwrap();
        assert!(matches!(begin(&store, &key).await, Begun::Ended(_)), "{store:?}");
        assert!(
            matches!(begin_as(&store, &key, Effect::Write, "2", now()).await, Begun::Conflict),
            "{store:?}"
        );
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
        store.forget(&of_other_user, "UNAVAILABLE").await.unwrap();
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
async fn a_write_is_kept_for_a_day_and_a_read_for_minutes() {
    let (stores, _directory) = stores();
    for store in stores {
        for effect in [Effect::Write, Effect::Read] {
            let key = key("a");
            begin_as(&store, &key, effect, "1", now()).await;
            store.end(&key, &result()).await.unwrap();
            let end = now() + effect.retention();
            assert!(matches!(begin_at(&store, &key, end - SECOND).await, Begun::Ended(_)), "{store:?}");
            assert!(matches!(begin_at(&store, &key, end).await, Begun::New), "{store:?}");
        }
        assert!(Effect::Read.retention() < SECOND * 3_600);
    }
}

#[tokio::test]
async fn what_is_forgotten_can_be_tried_again() {
    let (stores, _directory) = stores();
    for store in stores {
        let key = key("a");
        for _ in 0..3 {
            assert!(matches!(begin(&store, &key).await, Begun::New), "{store:?}");
            store.forget(&key, "UNAVAILABLE").await.unwrap();
        }
        // An end that comes after all is of no call.
        store.end(&key, &result()).await.unwrap();
        assert!(matches!(begin(&store, &key).await, Begun::New), "{store:?}");
    }
}

fn store_of(room: Quota) -> AnyStore {
    Arc::new(state::fresh().with_calls_quota(room))
}

/// One that remembers little of each user.
fn small_store() -> AnyStore {
    store_of(Quota { of_user: 4_000, of_all: u64::MAX })
}

/// Begins calls of a user until there is no room: the first one, and until when.
async fn fill(store: &AnyStore, name: &str, now: SystemTime) -> (Key, SystemTime) {
    let first = key(name);
    assert!(matches!(begin_at(store, &first, now).await, Begun::New));
    loop {
        match begin_at(store, &key(name), now + SECOND).await {
            Begun::New => {}
            Begun::Full { until, .. } => return (first, until),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_full_share_is_of_one_user_and_says_when_it_has_room() {
    let store = small_store();
    let (first, until) = fill(&store, "a", now()).await;
    assert_eq!(until, now() + Effect::Write.retention(), "{store:?}");
    assert!(matches!(begin(&store, &first).await, Begun::Unfinished { .. }), "{store:?}");
    // As many others as there may be.
    for name in ["b", "c", "d"] {
        fill(&store, name, now()).await;
    }
    assert!(matches!(begin_at(&store, &key("a"), until - SECOND).await, Begun::Full { .. }), "{store:?}");
    assert!(matches!(begin_at(&store, &key("a"), until).await, Begun::New), "{store:?}");
}

#[tokio::test]
async fn reads_make_room_for_other_calls_of_their_user() {
    let store = small_store();
    let write = key("a");
    assert!(matches!(begin(&store, &write).await, Begun::New));
    for _ in 0..100 {
        let read = begin_as(&store, &key("a"), Effect::Read, "1", now()).await;
        assert!(matches!(read, Begun::New), "{store:?}: {read:?}");
    }
    assert!(matches!(begin(&store, &key("a")).await, Begun::New), "{store:?}");
    assert!(matches!(begin(&store, &write).await, Begun::Unfinished { .. }), "{store:?}");
}

#[tokio::test]
async fn large_data_of_a_read_stands_beside_the_database_and_comes_back_whole_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let store: AnyStore = Arc::new(Store::at(directory.path()));
    let read = key("a");
    let data = Payload::from_json(json!({"text": "x".repeat(1 << 20)}));
    let begin = async |store: &AnyStore| begin_as(store, &read, Effect::Read, "1", now()).await;
    let ended = async |store: &AnyStore| match begin(store).await {
        Begun::Ended(kept) => kept.read(None).map(|kept| kept.outcome.expect("data").json().clone()),
        other => panic!("{other:?}"),
    };
    assert!(matches!(begin(&store).await, Begun::New));
    store.end_read(&read, &ToolResult { outcome: Ok(data.clone()), ..result() }).await.unwrap();
    let length = |file: &str| fs::metadata(directory.path().join(file)).map_or(0, |it| it.len());
    assert!(length("toolwire.db") + length("toolwire.db-wal") < 1 << 20);
    drop(store);
    let store: AnyStore = Arc::new(Store::at(directory.path()));
    assert_eq!(ended(&store).await.expect("whole"), *data.json());
    fs::remove_dir_all(directory.path().join("reads")).unwrap();
    assert!(ended(&store).await.is_err(), "it cannot be read, and so the read is made again");
}

#[tokio::test]
async fn outcomes_use_up_a_share_too() {
    let store = small_store();
    let key_of_large = key("a");
    let value = "x".repeat(4_000);
    let large = Payload::from_message(&DebugWriteOutput { value, ..DebugWriteOutput::default() });
    begin(&store, &key_of_large).await;
    store.end(&key_of_large, &ToolResult { outcome: Ok(large), ..result() }).await.unwrap();
    assert!(matches!(begin(&store, &key("a")).await, Begun::Full { .. }), "{store:?}");
    assert!(matches!(begin(&store, &key("b")).await, Begun::New), "{store:?}");
    assert!(matches!(begin(&store, &key_of_large).await, Begun::Ended(_)), "{store:?}");
    store.forget(&key_of_large, "UNAVAILABLE").await.unwrap();
    assert!(matches!(begin(&store, &key("a")).await, Begun::New), "{store:?}");
}

#[tokio::test]
async fn beyond_half_of_all_the_room_a_user_below_a_fair_share_still_finds_some() {
    // Some thirty records of one user, and some sixty of all in the first half. A fair share is less than one: it is
    // looked at before a record.
    let room = Quota { of_user: 20_000, of_all: 80_000 };
    let store = store_of(room);
    for name in ["a", "b", "c"] {
        fill(&store, name, now()).await;
    }
    // As many more users as the second half has records for: each finds room for its first one.
    let mut admitted = 0;
    while let Begun::New = begin_at(&store, &key(&format!("late-{admitted}")), now() + SECOND).await {
        admitted += 1;
    }
    assert!((30..100).contains(&admitted), "{store:?}: {admitted}");
    let last = begin_at(&store, &key("last"), now() + SECOND).await;
    assert!(matches!(last, Begun::Full { bound: Bound::All, .. }), "all of it is taken: {last:?}");
}

#[tokio::test]
async fn a_user_above_a_fair_share_is_told_when_all_have_room_again() {
    let room = Quota { of_user: 30_000, of_all: 80_000 };
    let store = store_of(room);
    fill(&store, "a", now()).await;
    let (_, until) = fill(&store, "b", now() + 60 * SECOND).await;
    let refused = begin_at(&store, &key("b"), now() + 61 * SECOND).await;
    assert!(matches!(refused, Begun::Full { bound: Bound::All, .. }), "{store:?}: {refused:?}");
    // The first of the other user's is forgotten first, and is enough.
    assert_eq!(until, now() + Effect::Write.retention(), "{store:?}");
    assert!(matches!(begin_at(&store, &key("b"), until).await, Begun::New), "{store:?}");
}

#[tokio::test]
async fn what_all_users_have_is_counted_as_it_comes_and_goes() {
    let room = Quota { of_user: u64::MAX, of_all: 40_000 };
    let store = store_of(room);
    for round in 0..100 {
        let key = key(&format!("user-{round}"));
        assert!(matches!(begin(&store, &key).await, Begun::New), "{store:?}: {round}");
        store.end(&key, &result()).await.unwrap();
        store.forget(&key, "UNAVAILABLE").await.unwrap();
    }
}

#[tokio::test]
async fn counts_are_right_after_whatever_becomes_of_calls_and_results() {
    let directory = tempfile::tempdir().unwrap();
    let room = Quota { of_user: 20_000, of_all: u64::MAX };
    let state = Arc::new(state::at(directory.path()).with_calls_quota(room).with_results_bytes(20_000));
    let store = Arc::clone(&state) as AnyStore;
    let large = Payload::from_json("x".repeat(2_000).into());
    for round in 0..30_u8 {
        let at = now() + u32::from(round) * Effect::Read.retention() / 20;
        for name in ["a", "b"] {
            // Reads are deleted to make room, and as they expire.
            begin_as(&store, &key(name), Effect::Read, "1", at).await;
            let write = key(name);
            begin_at(&store, &write, at).await;
            store.end(&write, &result()).await.unwrap();
            // As a person who resolves an unknown outcome.
            store.end(&write, &ToolResult { outcome: Ok(large.clone()), ..result() }).await.unwrap();
            if round % 3 != 0 {
                store.forget(&write, "UNAVAILABLE").await.unwrap();
            }
            // Not recorded any more.
            store.end(&key(name), &result()).await.unwrap();
        }
        let stored = StoredResult {
            output_message: None,
            outcome: Ok(large.clone()),
            provenance: provenance(),
            stored_at: at,
            ttl: 10 * SECOND,
        };
        state.put(&[round % 20; 32], &stored).await.unwrap();
    }
    let end = now() + 2 * Effect::Write.retention();
    begin_at(&store, &key("c"), end).await;
    assert_eq!(state::problems(directory.path()).await, Vec::<String>::new());
}

/// How many of the answers say that the call is new; the others must say that it has begun.
#[track_caller]
fn count_new(answers: &[Begun]) -> usize {
    let is_known = |begun: &Begun| matches!(begun, Begun::New | Begun::Unfinished { .. });
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
    let handle = || Arc::new(state::at(directory.path())) as AnyStore;
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
    let reopened = || Arc::new(state::at(directory.path())) as AnyStore;
    let (ended, begun) = (key("a"), key("a"));
    let store = reopened();
    begin(&store, &ended).await;
    begin(&store, &begun).await;
    store.end(&ended, &result()).await.unwrap();
    drop(store);
    let store = reopened();
    let Begun::Ended(found) = begin(&store, &ended).await else { panic!("it ended") };
    assert_same(&found.read(Some(&output())).unwrap().outcome, &result().outcome);
    state::until(async || matches!(begin(&store, &begun).await, Begun::Unfinished { .. })).await;
}

#[tokio::test]
async fn a_store_without_a_place_records_nothing_and_says_so() {
    let store: AnyStore = Arc::new(Store::unavailable("no home"));
    let Begun::Unavailable(error) = begin(&store, &key("a")).await else { panic!("it has no place") };
    assert_eq!(error.to_string(), "no home");
    assert!(store.end(&key("a"), &result()).await.is_err());
}
