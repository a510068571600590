//! Writes whose connection broke before their answer, so that it is not known whether they were made.

use std::{error::Error, iter::successors};

use rmcp::model::CallToolResult;
use tonic::{Code, ConnectError, Status};
use tonic_types::StatusExt;

use super::{CallFacts, DOMAIN, failure::Failure, of_failure};

/// Whether a request that ended with this status may have reached its server: not if no connection was made. An answer
/// of a gateway, such as 503, does not say.
pub(in crate::server) fn may_have_been_sent(status: &Status) -> bool {
    let breaks =
        matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled);
    let mut causes = successors(status.source(), |cause| (*cause).source());
    breaks && !causes.any(<dyn Error>::is::<ConnectError>)
}

/// The answer for a write whose stream of events broke off after it had begun, or may have. `None` if the status is its
/// refusal, or its deadline.
pub(in crate::server) fn broken_off(status: &Status, facts: &CallFacts) -> Option<CallToolResult> {
    let details = status.get_error_details();
    let is_ours = details.error_info().is_some_and(|info| info.domain == DOMAIN);
    if is_ours || is_deadline(status) {
        return None;
    }
    Some(of_failure(&Failure::broken_off(facts), facts))
}

/// Whether the channel to a server has noticed the time-out: it calls its own timer a cancellation.
pub(super) fn is_deadline(status: &Status) -> bool {
    status.code() == Code::Cancelled && status.message() == "Timeout expired"
}
