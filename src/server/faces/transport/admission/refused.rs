//! What a request is told for which there is no room, or that was not completed in time.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use crate::faces::transport::quotas::{Bounds, Full, Principal};
use toolwire_base::clock;
use toolwire_contract::status;

const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// There is no room, for this holder or for anybody.
pub(super) fn shed(
    full: Full,
    holder: Option<&Principal>,
    what: &str,
    bounds: Bounds,
    retry_after: Duration,
) -> Status {
    let mut status = match (full, holder) {
        (Full::Each, Some(holder)) => own_share(holder, what, bounds.each, retry_after),
        _ => overloaded(retry_after),
    };
    let milliseconds = retry_after.as_millis().to_string();
    let milliseconds = milliseconds.parse().expect("digits are a valid header value");
    status.metadata_mut().insert(PUSHBACK, milliseconds);
    status
}

fn own_share(holder: &Principal, what: &str, each: usize, retry_after: Duration) -> Status {
    let description = format!("at most {each} {what} at once");
    let message = format!("your share of this server is used up: {description}; let some end first");
    let mut details = ErrorDetails::with_quota_failure_violation(holder.to_string(), description);
    details.set_retry_info(Some(retry_after));
    status::status(Code::ResourceExhausted, "SHARE_EXHAUSTED", &message, details)
}

fn overloaded(retry_after: Duration) -> Status {
    let details = ErrorDetails::with_retry_info(Some(retry_after));
    let message = "the server has as many requests in flight as it takes; try again later";
    status::status(Code::Unavailable, "OVERLOADED", message, details)
}

/// The rest of the request did not come.
pub(super) fn late(bound: Duration) -> Status {
    let message = format!("the request was not complete within {}", clock::exact_in_words(bound));
    status::plain(Code::DeadlineExceeded, "REQUEST_INCOMPLETE", &message)
}

/// Nothing more came on a client stream.
pub(super) fn idle(bound: Duration) -> Status {
    let message = format!("nothing came on the stream for {}; begin another", clock::exact_in_words(bound));
    status::plain(Code::DeadlineExceeded, "STREAM_IDLE", &message)
}

/// The message is longer than the server takes.
pub(super) fn too_large(length: usize, most: usize) -> Status {
    let message = format!("the message has {length} bytes; this server takes at most {most}");
    status::plain(Code::ResourceExhausted, "MESSAGE_TOO_LARGE", &message)
}

/// The request has not the one message that its method takes.
pub(super) fn malformed(what: &str) -> Status {
    status::plain(Code::InvalidArgument, "MALFORMED_REQUEST", what)
}
