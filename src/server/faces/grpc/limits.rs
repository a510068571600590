//! Limits of sources as messages.

use toolwire_contract::{convert, proto::v1};
use toolwire_sources::upstream::{limiter::Budget, source_status::SourceStatus};

/// The limits and cool-downs of a source.
pub(super) fn render((source, status): (String, SourceStatus)) -> v1::SourceLimit {
    v1::SourceLimit {
        source,
        can_make_request: status.can_make_request(),
        wait_time: Some(convert::duration(status.wait_time)),
        policy: status.budget.map(policy),
        cool_down_until: status.cool_down_until.map(convert::timestamp),
        reason: status.reason.unwrap_or_default(),
        used: status.used,
        ceiling: status.ceiling.map(|(budget, _)| policy(budget)),
        ceiling_used: status.ceiling.map_or(0, |(_, used)| used),
    }
}

fn policy(budget: Budget) -> v1::LimitPolicy {
    v1::LimitPolicy {
        max_requests: budget.max_requests,
        window: Some(convert::duration(budget.window)),
        min_delay: Some(convert::duration(budget.min_delay)),
    }
}
