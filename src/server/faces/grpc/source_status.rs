//! The limits and cool-downs of a source as `GetLimits` shows them. The command line shows the same rows.

use toolwire_contract::{
    convert,
    proto::v1::{LimitPolicy, SourceLimit},
};
use toolwire_sources::upstream::{limiter::Budget, source_status::SourceStatus};

pub fn row((source, status): (String, SourceStatus)) -> SourceLimit {
    SourceLimit {
        source,
        can_make_request: status.can_make_request(),
        wait_time: Some(convert::duration(status.wait_time)),
        policy: status.budget.map(policy),
        cool_down_until: status.cool_down_until.map(convert::timestamp),
        reason: status.reason.unwrap_or_default(),
    }
}

fn policy(budget: Budget) -> LimitPolicy {
    LimitPolicy {
        max_requests: budget.max_requests,
        window: Some(convert::duration(budget.window)),
        min_delay: Some(convert::duration(budget.min_delay)),
    }
}
