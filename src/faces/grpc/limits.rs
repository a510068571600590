//! What sources would do with requests, as `GetLimits` tells it. The command line shows the same rows.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    context::UserId,
    contract::{
        convert,
        proto::v1::{LimitPolicy, SourceLimit},
    },
    registry::RegisteredTool,
    upstream::{
        limiter::Policy,
        limits::{SourceLimits, Standing},
    },
};

/// The sources that tools read from.
pub fn sources<'a>(tools: impl IntoIterator<Item = &'a Arc<RegisteredTool>>) -> BTreeSet<&'a str> {
    let sources = tools.into_iter().filter_map(|tool| tool.definition.source.as_ref());
    sources.map(|source| source.name.as_str()).collect()
}

/// One row for each source, in their order.
pub async fn rows(
    limits: &dyn SourceLimits,
    user: &UserId,
    sources: impl IntoIterator<Item = &str>,
) -> Vec<SourceLimit> {
    let mut rows = Vec::new();
    for source in sources {
        rows.push(row(source, limits.limits(user, source).await));
    }
    rows
}

fn row(source: &str, standing: Standing) -> SourceLimit {
    SourceLimit {
        source: source.to_owned(),
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
