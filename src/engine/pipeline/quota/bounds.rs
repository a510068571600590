//! The limits that the quotas of a user set to a call, as the state counts them: one of the calls in a window, whose
//! reservations are at the time of each call, and one of the calls at once, whose are at the time by which each has
//! ended in any case.

use std::time::Duration;

use crate::pipeline::Call;
use toolwire_config::Quota;
use toolwire_contract::Refusal;
use toolwire_state::reservations::{Limit, QUOTA_PREFIX, Reached, nanos};

/// The time after which the permit of a lost process is free, once its call must have ended.
const MARGIN: Duration = Duration::from_secs(5);
/// The time after which a call may be tried again that got no permit: calls end at any time.
const NO_PERMIT: Duration = Duration::from_secs(1);

/// A limit, and what it limits.
pub(super) struct Bound {
    pub(super) limit: Limit,
    kind: Kind,
}

enum Kind {
    Calls { window: Duration },
    Permits,
}

impl Bound {
    /// Those of the quotas of the call's user, in their order. A call that is not counted needs permits alone.
    pub(super) fn all(quotas: &[Quota], call: &Call, is_counted: bool) -> Vec<Self> {
        let user = &call.context.user;
        let of_user = quotas.iter().filter(|quota| quota.is_of(user));
        of_user
            .flat_map(|quota| {
                // A user's counts are of no other, so that those of all are not read.
                let key = quota.key();
                let name = |of: &str| format!("{QUOTA_PREFIX}{key}:{of}:{}", user.id);
                let calls = quota.calls.filter(|_| is_counted).map(|(most, window)| Self {
                    limit: Limit { name: name("calls"), most, window: nanos(window), ahead: 0 },
                    kind: Kind::Calls { window },
                });
                let permits = quota.concurrent.map(|most| Self {
                    limit: Limit {
                        name: name("running"),
                        most,
                        window: 0,
                        ahead: nanos(longest(call) + MARGIN),
                    },
                    kind: Kind::Permits,
                });
                [calls, permits].into_iter().flatten()
            })
            .collect()
    }

    pub(super) fn is_of_permits(&self) -> bool {
        matches!(self.kind, Kind::Permits)
    }

    /// In words, such as `10 calls in 1m`.
    pub(super) fn quota(&self) -> String {
        let calls = calls(self.limit.most);
        match self.kind {
            Kind::Calls { window } => format!("{calls} in {}", toolwire_base::duration::format(window)),
            Kind::Permits => format!("{calls} at once"),
        }
    }

    /// The refusal of a call beyond it.
    pub(super) fn refusal(&self, call: &Call, reached: Reached) -> Refusal {
        let retry_after = match self.kind {
            Kind::Calls { .. } => Duration::from_nanos(reached.free_at.saturating_sub(reached.now)),
            Kind::Permits => NO_PERMIT,
        };
        Refusal::QuotaExhausted { user: call.context.user.id.to_string(), quota: self.quota(), retry_after }
    }
}

fn calls(most: u32) -> String {
    if most == 1 { "1 call".to_owned() } else { format!("{most} calls") }
}

/// The longest that the call may run. A write may outlive its caller.
fn longest(call: &Call) -> Duration {
    let deadline = call.context.deadline;
    let deadline = if call.runs_once() { deadline.of_detached_write() } else { deadline };
    deadline.remaining()
}
