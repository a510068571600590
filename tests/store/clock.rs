//! One clock: what a state ends, forgets, leases or expires does not go by this machine's wall clock, which somebody
//! sets while it is in use.

use std::{
    sync::atomic::{AtomicI64, Ordering::SeqCst},
    time::{Duration, SystemTime},
};

use super::{SECOND, outcomes, provenance, user};
use crate::support::state;
use toolwire::{
    base::{clock, digest::Digest},
    contract::{ToolName, ToolResult},
    db::StoreError,
    state::{
        Store,
        calls::{CallState, RecordSelector},
        idempotency::{About, Beginning, Begun, Effect, Idempotency, Key},
        tasks::{LeaseRequest, LeaseTarget, Mutation, NewRoot},
    },
    tool::context::{CallId, RequestId, TaskId},
};

/// By how much this machine's wall clock is off, in seconds.
static OFF_BY: AtomicI64 = AtomicI64::new(0);

/// Both ways: a second, 11 minutes, 25 hours.
const OFF: [i64; 6] = [1, -1, 660, -660, 90_000, -90_000];

/// With a larger difference nothing begins.
const MAX: i64 = 10;

fn machine() -> SystemTime {
    let off = OFF_BY.load(SeqCst);
    let by = Duration::from_secs(off.unsigned_abs());
    if off < 0 { clock::wall() - by } else { clock::wall() + by }
}

fn tool() -> ToolName {
    "debug_write".parse().unwrap()
}

fn key() -> Key {
    Key { user: user("riley"), tool: tool(), request_id: RequestId::generate() }
}

async fn begin(store: &Store, key: &Key) -> (CallId, Begun) {
    let (call, digest) = (CallId::generate(), Digest::of_bytes(b"x"));
    let about = About::of(call, digest);
    (call, store.begin(Beginning { key, effect: Effect::Write, digest, about: &about }).await)
}

fn mutation() -> Mutation {
    Mutation { method: "CreateTask", request_id: RequestId::generate(), digest: Digest::of_bytes(b"x") }
}

fn root(timeout: Duration) -> NewRoot {
    NewRoot {
        id: TaskId::generate(),
        user: user("riley"),
        tool: "start_task".to_owned(),
        request: "Wait".to_owned(),
        role: String::new(),
        documents: Vec::new(),
        timeout,
        labels: [].into(),
    }
}

fn lease(task: &TaskId, holder: &str) -> LeaseRequest {
    LeaseRequest {
        target: LeaseTarget::Task(task.clone(), None),
        holder: holder.to_owned(),
        duration: 30 * SECOND,
    }
}

/// Everything that looks for what is over.
async fn sweep(store: &Store) {
    let _ = store.expire_confirmations().await;
    let _ = store.expire_tasks().await;
    let _ = store.sweep_audit_records().await;
    let _ = store.sweep_confirmations().await;
    let _ = store.sweep_tasks(Duration::ZERO).await;
    let _ = store.sweep_jobs().await;
    let _ = store.sweep_turns().await;
    let _ = store.sweep_kept_results().await;
    let _ = store.sweep_documents().await;
    let _ = store.sweep_blobs().await;
}

#[tokio::test]
async fn whatever_the_wall_clock_is_set_to_nothing_ends_early_and_far_off_nothing_begins() {
    let directory = tempfile::tempdir().unwrap();
    let store = state::at(directory.path()).with_wall_clock(machine);
    // Ends while the clock is wrong.
    let (ends, held) = (key(), key());
    for key in [&ends, &held] {
        assert!(matches!(begin(&store, key).await.1, Begun::New));
    }
    for (number, off) in OFF.into_iter().enumerate() {
        let done = key();
        let (call, begun) = begin(&store, &done).await;
        assert!(matches!(begun, Begun::New), "{begun:?}");
        let outcome = outcomes().remove(0);
        let result = ToolResult {
            tool: tool(),
            fetched_at: store.now(),
            outcome,
            provenance: provenance(),
            kept: None,
        };
        store.end(&done, &result).await.unwrap();
        let task = store.create_root_task(&root(Duration::from_hours(1)), mutation()).await.unwrap();
        let leased = store.lease_task(&task.user, &lease(&task.id, "first")).await.unwrap().unwrap();

        OFF_BY.store(off, SeqCst);
        sweep(&store).await;
        let shown = store.now().duration_since(clock::wall()).unwrap_or_else(|late| late.duration());
        assert!(shown < 2 * SECOND, "{off}: {shown:?}");
        let found = store.find_calls(RecordSelector::Call(call)).await.unwrap().remove(0);
        assert!(matches!(&found.standing, CallState::Ended(code) if code == "OK"), "{off}: {found:?}");
        let age = found.begun_at.duration_since(clock::wall()).unwrap_or_default();
        assert!(age < 2 * SECOND, "{off}: it is of the state's clock, {age:?}");
        let begun = begin(&store, &key()).await.1;
        let other = store.lease_task(&task.user, &lease(&task.id, "other")).await;
        assert!(other.is_err(), "{off}: {other:?}");
        if off.abs() > MAX {
            let Begun::Unavailable(error) = begun else { panic!("{off}: {begun:?}") };
            assert!(
                matches!(&error, StoreError::Refused { cause, .. } if cause.contains("clock")),
                "{error}"
            );
            assert!(matches!(&*store.last_error().borrow(), Some(StoreError::Refused { .. })), "{off}");
            assert!(store.probe().await.is_err(), "{off}");
            assert!(store.create_root_task(&root(SECOND), mutation()).await.is_err(), "{off}");
        } else {
            assert!(matches!(begun, Begun::New), "{off}: {begun:?}");
        }
        if number == 0 {
            // What has begun is recorded all the same.
            OFF_BY.store(660, SeqCst);
            store.end(&ends, &result).await.unwrap();
        }

        OFF_BY.store(0, SeqCst);
        state::until(async || store.probe().await.is_ok()).await;
        assert_eq!(*store.last_error().borrow(), None);
        for key in [&done, &ends] {
            assert!(matches!(begin(&store, key).await.1, Begun::Ended(_)), "{off}");
        }
        assert!(matches!(begin(&store, &held).await.1, Begun::Unfinished { .. }), "{off}");
        let renewal = LeaseRequest {
            target: LeaseTarget::Task(task.id.clone(), leased.task.lease.as_ref().map(|lease| lease.token)),
            ..lease(&task.id, "first")
        };
        store.lease_task(&task.user, &renewal).await.unwrap().unwrap();
        let lasts = leased.task.deadline.duration_since(clock::wall()).unwrap();
        assert!(lasts > Duration::from_mins(59), "{off}: {lasts:?}");
    }
}
