//! The statuses of requests that are not admitted.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use crate::quotas::{Bounds, Principal, QuotaExceeded};
use toolwire_base::{
    backlog::{self, Bound},
    clock,
};
use toolwire_contract::status;

const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// A quota is exceeded, that of the principal or the total.
pub(super) fn shed(
    full: QuotaExceeded,
    principal: Option<&Principal>,
    what: &str,
    bounds: Bounds,
    retry_after: Duration,
) -> Status {
    let mut status = match (full, principal) {
        (QuotaExceeded::Each, Some(principal)) => share_exhausted(principal, what, bounds.each, retry_after),
        _ => overloaded(retry_after),
    };
    let milliseconds = retry_after.as_millis().to_string();
    let milliseconds = milliseconds.parse().expect("digits are a valid header value");
    status.metadata_mut().insert(PUSHBACK, milliseconds);
    status
}

fn share_exhausted(principal: &Principal, what: &str, each: usize, retry_after: Duration) -> Status {
    let description = format!("at most {each} {what} at once");
    let message = format!("your share of this server is used up: {description}; let some end first");
    let mut details = ErrorDetails::with_quota_failure_violation(principal.to_string(), description);
    details.set_retry_info(Some(retry_after));
    status::status(Code::ResourceExhausted, "SHARE_EXHAUSTED", &message, details)
}

fn overloaded(retry_after: Duration) -> Status {
    let details = ErrorDetails::with_retry_info(Some(retry_after));
    let message = "the server has as many requests in flight as it takes; try again later";
    status::status(Code::Unavailable, "OVERLOADED", message, details)
}

/// Too much waits for readers, and this response would be the largest part of it.
pub(super) fn unread(bound: Bound, bounds: backlog::Bounds) -> Status {
    let (held, setting) = match bound {
        Bound::Connection => (bounds.connection, "on this connection (max_unread_per_connection)"),
        Bound::User => (bounds.user, "of one user (max_unread_per_user)"),
        Bound::All => (bounds.all, "of all users (max_unread)"),
    };
    let message = format!(
        "{held} bytes may wait to be read {setting}, which is exceeded, and this response is the largest part of it: \
         it is not sent, or not to its end. Read faster, or have fewer and smaller calls unread at once. A write may \
         be done: repeat it with the same request_id, or look at it by GetCall"
    );
    status::plain(Code::ResourceExhausted, "TOO_MUCH_UNREAD", &message)
}

/// The request was not complete in time.
pub(super) fn request_incomplete(bound: Duration) -> Status {
    let message = format!("the request was not complete within {}", clock::exact_in_words(bound));
    status::plain(Code::DeadlineExceeded, "REQUEST_INCOMPLETE", &message)
}

/// No message arrived on a client stream in time.
pub(super) fn stream_idle(bound: Duration) -> Status {
    let message = format!("nothing came on the stream for {}; begin another", clock::exact_in_words(bound));
    status::plain(Code::DeadlineExceeded, "STREAM_IDLE", &message)
}

/// The message exceeds the size limit.
pub(super) fn too_large(length: usize, most: usize) -> Status {
    let message = format!("the message has {length} bytes; this server takes at most {most}");
    status::plain(Code::ResourceExhausted, "MESSAGE_TOO_LARGE", &message)
}

/// The request does not have exactly the one message that its method takes.
pub(super) fn malformed(what: &str) -> Status {
    status::plain(Code::InvalidArgument, "MALFORMED_REQUEST", what)
}
