//! Requests to sources in metrics and in the log: one function per event.
//!
//! Without users, addresses and contents: any of them may be secret, and labels must have few values.

use std::time::Duration;

use super::{Answer, Failure, FailureKind, Profile};
use crate::upstream::json::Faults;
use toolwire_contract::ErrorCode;
use toolwire_telemetry::{metric, milliseconds};
use toolwire_tool::context::{ToolContext, UserId};

/// An attempt has ended: with an answer, or with a kind of failure.
pub(super) fn request_ended(source: &'static str, end: &Result<Answer, Failure>, duration: Duration) {
    let kind = end.as_ref().err().map_or(metric::name::OK, |failure| failure.kind.into_str());
    metric::upstream_request(source, kind, duration);
    tracing::debug!(source, kind, duration_ms = milliseconds(duration), "asked");
}

/// A request waited for the limiter, whether it was admitted or left.
pub(super) fn limiter_waited(source: &'static str, duration: Duration) {
    metric::limiter_wait(source, duration);
    tracing::debug!(source, duration_ms = milliseconds(duration), "waited for the limiter");
}

/// A request was rejected by the limiter: the wait would pass its deadline.
pub(super) fn limiter_refused(source: &'static str) {
    metric::limiter_refusal(source);
    tracing::debug!(source, "refused by the limiter");
}

/// A cool-down begins: of the source for all users, or for one user.
pub(super) fn cool_down_began(
    source: &'static str,
    code: ErrorCode,
    user: Option<&UserId>,
    length: Duration,
) {
    metric::cool_down_began(source, code.into_str());
    let user_id = user.map(tracing::field::display);
    tracing::warn!(source, code = code.into_str(), user_id, length_s = length.as_secs(), "cool-down began");
}

/// A source, or a part of one, asked for a pause.
pub(super) fn hold_off_began(name: &'static str, length: Duration) {
    tracing::info!(source = name, length_s = length.as_secs(), "hold-off began");
}

/// An answer was read, and parts of it were lost.
pub(super) fn partly_read(source: &'static str, faults: &Faults, context: &ToolContext) {
    let Faults { items, values, texts, places } = faults;
    let (call_id, places) = (context.call_id, places.join(", "));
    tracing::warn!(source, items, values, texts, places, %call_id, "answer read in part");
}

/// A request has failed for good. The one line that tells operators why, found by the call.
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
