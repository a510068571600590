//! What a source would do with a request, as `GetLimits` tells it. The command line shows the same rows.

use crate::{
    contract::{
        convert,
        proto::v1::{LimitPolicy, SourceLimit},
    },
    service::SourceStanding,
    upstream::limiter::Policy,
};

/// One source.
pub fn row(SourceStanding { source, standing }: SourceStanding) -> SourceLimit {
    SourceLimit {
        source,
        can_make_request: standing.can_make_request(),
        wait_time: Some(convert::duration(standing.wait_time)),
        policy: standing.policy.map(policy),
        cool_down_until: standing.cool_down_until.map(convert::timestamp),
    }
}

fn policy(policy: Policy) -> LimitPolicy {
    LimitPolicy {
        max_requests: policy.max_requests,
        window: Some(convert::duration(policy.window)),
        min_delay: Some(convert::duration(policy.min_delay)),
    }
}
