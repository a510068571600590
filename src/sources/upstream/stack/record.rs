//! Waits and refusals in metrics and in the log: one function per event. Without users, but for the log, and contents.

use std::time::Duration;

use toolwire_contract::ErrorCode;
use toolwire_telemetry::{metric, milliseconds};
use toolwire_tool::context::UserId;

/// A request waited for the limiter, whether it was admitted or left.
pub(in crate::upstream) fn limiter_waited(source: &str, duration: Duration) {
    metric::limiter_wait(source, duration);
    tracing::debug!(source, duration_ms = milliseconds(duration), "waited for the limiter");
}

/// A request was rejected by the limiter: the wait would pass its deadline.
pub(in crate::upstream) fn limiter_refused(source: &str) {
    metric::limiter_refusal(source);
    tracing::debug!(source, "refused by the limiter");
}

/// A cool-down begins: of the source for all users, or for one user.
pub(in crate::upstream) fn cool_down_began(
    source: &str,
    code: ErrorCode,
    user: Option<&UserId>,
    length: Duration,
) {
    metric::cool_down_began(source, code.into_str());
    let user_id = user.map(tracing::field::display);
    tracing::warn!(source, code = code.into_str(), user_id, length_s = length.as_secs(), "cool-down began");
}

/// A source, or a part of one, asked for a pause.
pub(in crate::upstream) fn hold_off_began(name: &str, length: Duration) {
    tracing::info!(source = name, length_s = length.as_secs(), "hold-off began");
}
