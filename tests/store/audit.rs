//! Records of who did what: completed with the end, bounded, and forgotten in time.

use std::time::Duration;

use crate::support::state;
use sqlx::{Connection, SqliteConnection};
use toolwire::{
    base::digest::Digest,
    contract::{ErrorCode, ToolError, ToolResult},
    state::{
        Store,
        audit::{Criteria, Kind, RETENTION, Verdict},
        idempotency::{About, Beginning, Begun, Effect, Idempotency, Key},
    },
    tool::context::{CallId, KnownBy, Origin, RequestId},
};

use super::{now, outcomes, provenance, user};

fn key(name: &str) -> Key {
    Key { user: user(name), tool: "pay".parse().unwrap(), request_id: RequestId::generate() }
}

async fn begin(store: &Store, key: &Key, effect: Effect) -> CallId {
    let call_id = CallId::generate();
    let origin = Origin { face: "grpc", peer: Some("10.0.0.7".parse().unwrap()) };
    let about = About {
        origin,
        known_by: KnownBy::Token,
        workload: Some("spiffe://example.org/agent".into()),
        task_id: Some("t-1".parse().unwrap()),
        ..About::of(call_id, Digest::of_bytes(b"definition"))
    };
    let begins = Beginning { key, effect, digest: Digest::of_bytes(b"arguments"), about: &about };
    assert!(matches!(store.at_time(now()).begin(begins).await, Begun::New));
    call_id
}

fn result(outcome: Result<toolwire::contract::Payload, ToolError>) -> ToolResult {
    ToolResult {
        tool: "pay".parse().unwrap(),
        fetched_at: now(),
        outcome,
        provenance: provenance(),
        kept: None,
    }
}

async fn codes(store: &Store) -> Vec<String> {
    let records = store.audit_records(&Criteria::default(), None, 100).await.unwrap();
    records.into_iter().map(|record| record.code).collect()
}

#[tokio::test]
async fn how_a_write_ended_is_recorded_however_it_ended_and_reads_are_not() {
    let store = state::fresh();
    let keys: [_; 5] = std::array::from_fn(|_| key("riley"));
    let [ended, failed, forgotten, suspended, runs] = &keys;
    let mut ids = Vec::new();
    for key in &keys {
        ids.push(begin(&store, key, Effect::Write).await.to_string());
    }
    begin(&store, &key("riley"), Effect::Read).await;
    store.end(ended, &result(outcomes().remove(0))).await.unwrap();
    store.end(failed, &result(Err(ToolError::new(ErrorCode::NotFound, "no")))).await.unwrap();
    store.forget(forgotten, "UNAVAILABLE").await.unwrap();
    store.suspend(suspended).await.unwrap();
    assert_eq!(codes(&store).await, ["", "CONFIRMATION_REQUIRED", "UNAVAILABLE", "NOT_FOUND", "OK"]);
    // What begins again is another record, and the first stays as it was.
    begin(&store, suspended, Effect::Write).await;
    begin(&store, forgotten, Effect::Write).await;
    store.end(suspended, &result(outcomes().remove(0))).await.unwrap();
    assert_eq!(
        codes(&store).await,
        ["", "OK", "", "CONFIRMATION_REQUIRED", "UNAVAILABLE", "NOT_FOUND", "OK"]
    );
    let records = store.audit_records(&Criteria::default(), None, 100).await.unwrap();
    let of_runs = records.iter().find(|record| record.request_id == runs.request_id.to_string()).unwrap();
    assert_eq!((of_runs.ended_at, &of_runs.call_id, of_runs.kind), (None, &ids[4], Kind::Write));
    assert_eq!((of_runs.verdict, of_runs.peer.as_deref()), (Verdict::Allowed, Some("10.0.0.7")));
    assert_eq!((of_runs.known_by.as_str(), of_runs.task_id.as_str()), ("token", "t-1"));
    assert_eq!(of_runs.workload, "spiffe://example.org/agent");
    assert_eq!(
        (of_runs.arguments_digest, of_runs.definition_digest),
        (Digest::of_bytes(b"arguments"), Some(Digest::of_bytes(b"definition")))
    );
}

#[tokio::test]
async fn a_record_is_forgotten_after_its_time() {
    let store = state::fresh();
    begin(&store, &key("riley"), Effect::Write).await;
    store.at_time(now() + RETENTION - Duration::from_secs(1)).sweep_audit_records().await.unwrap();
    assert_eq!(codes(&store).await.len(), 1);
    store.at_time(now() + RETENTION).sweep_audit_records().await.unwrap();
    assert!(codes(&store).await.is_empty());
}

/// What one user does does not make the state grow without end, nor others' records go.
#[tokio::test]
async fn the_earliest_records_of_a_user_with_very_many_are_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::at(directory.path());
    begin(&store, &key("sam"), Effect::Write).await;
    begin(&store, &key("riley"), Effect::Write).await;
    let file = format!("sqlite://{}", directory.path().join("toolwire.db").display());
    let mut raw = SqliteConnection::connect(&file).await.unwrap();
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 199999) \
         INSERT INTO audit (kind, at, user_id, known_by, face, caller, tool, definition_digest, arguments_digest, verdict, \
         call_id, request_id, trace_id, task_id, confirmation_id, approver) \
         SELECT kind, at, user_id, known_by, face, caller, tool, definition_digest, arguments_digest, verdict, \
         'call-' || i, request_id, trace_id, task_id, confirmation_id, approver FROM audit, n WHERE user_id = 'riley'";
    sqlx::query(many).execute(&mut raw).await.unwrap();
    let counted = "UPDATE audit_usage SET records = records + 199999 WHERE user_id = 'riley'; \
         UPDATE audit_total SET records = records + 199999";
    sqlx::raw_sql(counted).execute(&mut raw).await.unwrap();
    for _ in 0..3 {
        begin(&store, &key("riley"), Effect::Write).await;
    }
    let count = "SELECT (SELECT count(*) FROM audit WHERE user_id = 'riley'), (SELECT records FROM audit_usage WHERE user_id = \
         'riley'), (SELECT count(*) FROM audit WHERE user_id = 'sam'), (SELECT count(*) FROM audit), (SELECT records FROM audit_total)";
    let (of_riley, counted, of_sam, all, total): (i64, i64, i64, i64, i64) =
        sqlx::query_as(count).fetch_one(&mut raw).await.unwrap();
    assert!(of_riley <= 200_000, "{of_riley}");
    assert_eq!((counted, of_sam, all, total), (of_riley, 1, of_riley + 1, all));
}
