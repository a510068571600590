//! Requests to sources in metrics and in the log: one function per event.
//!
//! Without users, addresses and contents: any of them may be secret, and labels must have few values.

use std::time::Duration;

use super::{Answer, Failure, FailureKind, Profile};
use crate::upstream::json::Faults;
use toolwire_telemetry::{metric, milliseconds};
use toolwire_tool::context::ToolContext;

/// An attempt has ended: with an answer, or with a kind of failure.
pub(super) fn request_ended(source: &'static str, end: &Result<Answer, Failure>, duration: Duration) {
    let kind = end.as_ref().err().map_or(metric::name::OK, |failure| failure.kind.into_str());
    metric::upstream_request(source, kind, duration);
    tracing::debug!(source, kind, duration_ms = milliseconds(duration), "asked");
}

/// An answer was read, and parts of it were lost.
pub(super) fn partly_read(source: &'static str, faults: &Faults, context: &ToolContext) {
    let Faults { items, values, texts, places } = faults;
    let (call_id, places) = (context.call_id, places.join(", "));
    tracing::warn!(source, items, values, texts, places, %call_id, "answer read in part");
}

/// A request has failed for good: the one line with the reason for operators, found by the call.
pub(super) fn record_failure(profile: &Profile, failure: &Failure, context: &ToolContext) {
    let (source, kind) = (profile.name, failure.kind.into_str());
    let (detail, attempts) = (&*failure.detail, failure.attempts);
    let call_id = context.call_id;
    match failure.kind {
        // Nothing is wrong with us or the source.
        FailureKind::NotFound | FailureKind::Cancelled => {
            tracing::info!(source, kind, detail, %call_id, attempts, "source gave no data");
        }
        _ => tracing::warn!(source, kind, detail, %call_id, attempts, "source failed"),
    }
}
