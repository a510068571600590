//! Equal writes: which one lends its `request_id`, and until when.

use std::{collections::HashSet, sync::Arc, time::SystemTime};

use crate::support::state;
use bytes::Bytes;
use futures_util::future::join_all;
use tempfile::TempDir;
use toolwire::{
    base::digest::Digest,
    contract::{ConfirmationCause, ErrorCode, ToolError, ToolResult, proto::v1},
    state::{
        Store,
        confirmations::{Admission, ConfirmationRequest, Decided, Decision, Verdict},
        equal_writes::{Claim, EqualWrite, UNDELIVERED},
        idempotency::{About, Beginning, Effect, Idempotency, Key},
    },
    tool::context::{CallId, KnownBy, Outermost, RequestId},
};

use super::{SECOND, in_file, now, outcomes, provenance, user};

/// The longest that a write of these tests runs.
const CAP: std::time::Duration = std::time::Duration::from_mins(2);

fn write(name: &str) -> EqualWrite {
    EqualWrite {
        user: user(name),
        tool: "pay".parse().unwrap(),
        arguments_digest: Digest::of_bytes(b"amount 50"),
        definition_digest: Digest::of_bytes(b"definition"),
        task_id: None,
    }
}

fn key(write: &EqualWrite, request_id: RequestId) -> Key {
    Key { user: write.user.clone(), tool: write.tool.clone(), request_id }
}

async fn claim_unless(
    store: &Store,
    write: &EqualWrite,
    at: SystemTime,
    delivered: &[RequestId],
) -> RequestId {
    let request_id = RequestId::generate();
    let is_delivered = |id: RequestId| delivered.contains(&id);
    let claim =
        Claim { write, request_id, is_delivered: &is_delivered, longest: CAP, lends_for: 3_600 * SECOND };
    store.at_time(at).claim_equal_write(claim).await.unwrap()
}

async fn claim(store: &Store, write: &EqualWrite, at: SystemTime) -> RequestId {
    claim_unless(store, write, at, &[]).await
}

async fn begin(store: &Store, write: &EqualWrite, request_id: RequestId, at: SystemTime) {
    let about = About::of(CallId::generate(), write.definition_digest);
    let (key, digest) = (key(write, request_id), write.arguments_digest);
    store.at_time(at).begin(Beginning { key: &key, effect: Effect::Write, digest, about: &about }).await;
}

async fn end(store: &Store, write: &EqualWrite, request_id: RequestId, error: Option<ErrorCode>) {
    let outcome = error.map_or_else(|| outcomes().remove(0), |code| Err(ToolError::new(code, "no")));
    let result = ToolResult {
        tool: write.tool.clone(),
        fetched_at: now(),
        outcome,
        provenance: provenance(),
        kept: None,
    };
    store.end(&key(write, request_id), &result).await.unwrap();
}

async fn ask(store: &Store, write: &EqualWrite, request_id: RequestId, at: SystemTime) -> Admission {
    let asked = ConfirmationRequest {
        user_email: None,
        face: "grpc".to_owned(),
        client: String::new(),
        path: vec![write.tool.clone()],
        summary: "Pay".to_owned(),
        arguments: None,
        definition_digest: write.definition_digest,
        definition: Bytes::new(),
        category: v1::ToolCategory::Write,
        consequence_level: v1::ConsequenceLevel::Low,
        cause: ConfirmationCause::Manifest,
        task_id: None,
        session_id: None,
        outermost: Outermost { call_id: CallId::generate(), request_id, is_repeatable: true },
    };
    let about = About::of(asked.outermost.call_id, write.definition_digest);
    let key = key(write, request_id);
    let begins =
        Beginning { key: &key, effect: Effect::Write, digest: write.arguments_digest, about: &about };
    store.at_time(at).begin_confirmed(begins, &asked, 600 * SECOND).await
}

async fn count(store: &Store) -> i64 {
    state::row(store, "SELECT count(*) FROM equal_writes").await
}

#[tokio::test]
async fn an_equal_write_of_the_same_user_is_lent_the_request_id_and_no_other() {
    let store = state::fresh();
    let first = claim(&store, &write("riley"), now()).await;
    assert_eq!(claim(&store, &write("riley"), now()).await, first);
    let others = [
        write("sam"),
        EqualWrite { tool: "refund".parse().unwrap(), ..write("riley") },
        EqualWrite { arguments_digest: Digest::of_bytes(b"amount 51"), ..write("riley") },
        EqualWrite { definition_digest: Digest::of_bytes(b"another"), ..write("riley") },
        EqualWrite { task_id: Some("task-1".parse().unwrap()), ..write("riley") },
    ];
    for other in others {
        assert_ne!(claim(&store, &other, now()).await, first, "{other:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_equal_writes_at_the_same_instant_one_lends_to_all() {
    let (one, directory): (Arc<Store>, TempDir) = in_file();
    let other = Arc::new(state::at(directory.path()));
    one.open().await.unwrap();
    let claims = (0..64).map(|number| {
        let store = Arc::clone(if number % 2 == 0 { &one } else { &other });
        tokio::spawn(async move { claim(&store, &write("riley"), now()).await })
    });
    let ids: HashSet<_> = join_all(claims).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(ids.len(), 1);
}

#[tokio::test]
async fn what_was_delivered_lends_no_longer_even_before_its_row_is_deleted() {
    let store = state::fresh();
    let first = claim(&store, &write("riley"), now()).await;
    let second = claim_unless(&store, &write("riley"), now(), &[first]).await;
    assert_ne!(second, first);
    store.release_equal_write(&write("riley"), first).await.unwrap();
    assert_eq!(claim(&store, &write("riley"), now()).await, second, "the row is that of the second");
    store.release_equal_write(&write("riley"), second).await.unwrap();
    assert_eq!(count(&store).await, 0);
}

#[tokio::test]
async fn a_write_lends_while_it_may_run_and_for_ten_minutes_after_its_end() {
    let store = state::fresh();
    let write = write("riley");
    let first = claim(&store, &write, now()).await;
    assert_eq!(claim(&store, &write, now() + UNDELIVERED - SECOND).await, first, "it has not begun");
    begin(&store, &write, first, now()).await;
    assert_eq!(claim(&store, &write, now() + CAP + UNDELIVERED - SECOND).await, first, "it may run");
    let second = claim(&store, &write, now() + CAP + UNDELIVERED).await;
    assert_ne!(second, first);

    // Its end is recorded by the clock.
    let begun = toolwire::base::clock::wall();
    let third = claim_unless(&store, &write, begun, &[second]).await;
    begin(&store, &write, third, begun).await;
    end(&store, &write, third, None).await;
    let ended = toolwire::base::clock::wall();
    assert_eq!(claim(&store, &write, ended + UNDELIVERED - 5 * SECOND).await, third);
    assert_ne!(claim(&store, &write, ended + UNDELIVERED).await, third);
}

#[tokio::test]
async fn a_cancelled_write_lends_nothing() {
    let store = state::fresh();
    let write = write("riley");
    let first = claim(&store, &write, now()).await;
    begin(&store, &write, first, now()).await;
    end(&store, &write, first, Some(ErrorCode::Cancelled)).await;
    assert_ne!(claim(&store, &write, now()).await, first);
}

#[tokio::test]
async fn a_write_lends_as_long_as_its_confirmation_is_open_and_ten_minutes_longer() {
    let store = state::fresh();
    let write = write("riley");
    let first = claim(&store, &write, now()).await;
    assert!(matches!(ask(&store, &write, first, now()).await, Admission::Asks(_)));
    let until = now() + 600 * SECOND + UNDELIVERED;
    assert_eq!(claim(&store, &write, until - SECOND).await, first);
    assert_ne!(claim(&store, &write, until).await, first);
}

#[tokio::test]
async fn a_denied_write_lends_for_ten_minutes_so_that_its_user_learns_of_it() {
    let store = state::fresh();
    let write = write("riley");
    let first = claim(&store, &write, now()).await;
    let Admission::Asks(asked) = ask(&store, &write, first, now()).await else { panic!("not asked") };
    let decision = Decision {
        verdict: Verdict::Deny,
        reason: "no".to_owned(),
        decided: Decided {
            at: now() + SECOND,
            by: user("alex"),
            via: "grpc".to_owned(),
            on_behalf_of: String::new(),
        },
        known_by: KnownBy::Process,
        peer: None,
        workload: None,
    };
    store.at_time(now() + SECOND).decide_confirmation(&asked.id, &decision).await.unwrap();
    assert_eq!(claim(&store, &write, now() + UNDELIVERED).await, first);
    assert_ne!(claim(&store, &write, now() + SECOND + UNDELIVERED).await, first);
}

#[tokio::test]
async fn rows_that_can_no_longer_matter_are_deleted_by_later_claims() {
    let store = state::fresh();
    for name in ["a", "b", "c"] {
        claim(&store, &write(name), now()).await;
    }
    assert_eq!(count(&store).await, 3);
    claim(&store, &write("d"), now() + 3_600 * SECOND).await;
    assert_eq!(count(&store).await, 1);
}
