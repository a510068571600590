//! Every store keeps the same promises: one suite a trait, run against each implementation.

mod audit;
mod backup;
mod calls;
mod clock;
mod cluster;
mod confirmations;
mod cool_downs;
mod domains;
mod earlier_file;
mod earlier_state;
mod equal_writes;
mod full;
mod hold_offs;
mod idempotency;
mod jobs;
mod kept_results;
mod opening;
mod postgres;
mod postgres_away;
mod postgres_clock;
mod postgres_move;
mod postgres_pooler;
mod postgres_tls;
mod quota_uses;
mod recordings;
mod replaced_files;
mod results;
mod sessions;
mod tasks;
mod wal;

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::support::state;
use prost_reflect::{MessageDescriptor, ReflectMessage};
use serde_json::json;
use tempfile::TempDir;
use toolwire::{
    contract::{ErrorCode, Origin, Outcome, Payload, Provenance, ToolError, Violation, transcode::Renderer},
    domains::diagnostics::proto::v1::DebugWriteOutput,
    state::Store,
    tool::context::UserId,
};

const SECOND: Duration = Duration::from_secs(1);

/// An instant that every store can keep exactly.
fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_768_557_600_123)
}

fn user(name: &str) -> UserId {
    name.parse().unwrap()
}

/// A state of its own, which lives as long as the guard.
fn in_file() -> (Arc<Store>, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    (Arc::new(state::at(directory.path())), directory)
}

/// The same in SQLite in any case, for a test that is about its file.
fn in_sqlite() -> (Arc<Store>, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    (Arc::new(Store::at(directory.path())), directory)
}

fn provenance() -> Provenance {
    Provenance {
        cached_for: Some(Duration::from_millis(1_500)),
        warnings: vec!["Totals do not add up".to_owned()],
        untrusted_nonce: Some("n0nce".to_owned()),
        ..Provenance::of("tool:yahoo:v1", "2026-01-16")
    }
}

/// An outcome of each kind.
fn outcomes() -> Vec<Outcome> {
    let message = DebugWriteOutput { value: "naïve ₹".to_owned(), writes: i64::MAX, written_at: None };
    let renderer = Renderer::new(&message.descriptor(), ["written_at".to_owned()].into());
    vec![
        Ok(Payload::from_message(&message)),
        Ok(Payload::from_message(&message).with_renderer(&Arc::new(renderer))),
        Ok(Payload::from_json(json!({"logged": true, "n": [1, null]}))),
        Err(ToolError {
            violations: vec![Violation {
                pointer: "/symbol".to_owned(),
                rule: "required".to_owned(),
                description: "name a symbol".to_owned(),
            }],
            attempts: 3,
            ..ToolError::new(ErrorCode::NotFound, "No such symbol")
                .with_retry_after(Duration::from_millis(2_500))
                .with_origin(Origin::Source)
        }),
    ]
}

/// The message of the outcomes that are messages.
fn output() -> MessageDescriptor {
    DebugWriteOutput::default().descriptor()
}

#[track_caller]
fn assert_same(found: &Outcome, expected: &Outcome) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found.encode(), expected.encode());
            assert_eq!(found.json(), expected.json());
        }
        (found, expected) => assert_eq!(found.as_ref().err(), expected.as_ref().err()),
    }
}
