//! The limits that quotas set to the calls of each user, as the state counts them: one of the calls in a window, whose
//! reservations are at the time of each call, and one of the calls at once, whose are at the time by which each has
//! ended in any case.

use std::time::Duration;

use crate::pipeline::Call;
use toolwire_config::Quota;
use toolwire_contract::Refusal;
use toolwire_state::reservations::{Limit, LimitOfEach, QUOTA_PREFIX, Reached, nanos};

/// The time after which the permit of a lost process is free, once its call must have ended.
const MARGIN: Duration = Duration::from_secs(5);
/// The time after which a call may be tried again that got no permit: calls end at any time.
const NO_PERMIT: Duration = Duration::from_secs(1);

/// What a quota allows each of its users: a number of calls in a window, or of calls at once.
pub(super) struct Allowance {
    pub(super) limit: LimitOfEach,
    kind: Kind,
}

/// An allowance as the limit of one user, whose call it bounds.
pub(super) struct Bound {
    pub(super) limit: Limit,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Calls { window: Duration },
    Permits,
}

impl Allowance {
    pub(super) fn all(quota: &Quota) -> impl Iterator<Item = Self> + use<> {
        let key = quota.key();
        let group = |of: &str| format!("{QUOTA_PREFIX}{key}:{of}");
        let calls = quota.calls.map(|(most, window)| Self {
            limit: LimitOfEach { group: group("calls"), most, window: nanos(window) },
            kind: Kind::Calls { window },
        });
        let permits = quota.concurrent.map(|most| Self {
            limit: LimitOfEach { group: group("running"), most, window: 0 },
            kind: Kind::Permits,
        });
        [calls, permits].into_iter().flatten()
    }

    /// In words, such as `10 calls in 1m`.
    pub(super) fn words(&self) -> String {
        self.kind.words(self.limit.most)
    }

    pub(super) fn is_of_permits(&self) -> bool {
        self.kind.is_of_permits()
    }
}

impl Kind {
    fn words(self, most: u32) -> String {
        let calls = if most == 1 { "1 call".to_owned() } else { format!("{most} calls") };
        match self {
            Self::Calls { window } => format!("{calls} in {}", toolwire_base::duration::format(window)),
            Self::Permits => format!("{calls} at once"),
        }
    }

    fn is_of_permits(self) -> bool {
        matches!(self, Self::Permits)
    }
}

impl Bound {
    /// Those of the quotas of the call's user, in their order. A call that is not counted needs permits alone.
    pub(super) fn all(quotas: &[Quota], call: &Call, is_counted: bool) -> Vec<Self> {
        let user = &call.context.user;
        let of_user = quotas.iter().filter(|quota| quota.is_of(user)).flat_map(Allowance::all);
        let of_call = of_user.filter(|allowance| is_counted || allowance.is_of_permits());
        of_call
            .map(|Allowance { limit, kind }| {
                // A user's counts are of no other, so that those of all are not read.
                let name = limit.name_of(&user.id);
                let ahead = if kind.is_of_permits() { nanos(longest(call) + MARGIN) } else { 0 };
                Self { limit: Limit { name, most: limit.most, window: limit.window, ahead }, kind }
            })
            .collect()
    }

    pub(super) fn is_of_permits(&self) -> bool {
        self.kind.is_of_permits()
    }

    /// The refusal of a call beyond it.
    pub(super) fn refusal(&self, call: &Call, reached: Reached) -> Refusal {
        let retry_after = match self.kind {
            Kind::Calls { .. } => Duration::from_nanos(reached.free_at.saturating_sub(reached.now)),
            Kind::Permits => NO_PERMIT,
        };
        let quota = self.kind.words(self.limit.most);
        Refusal::QuotaExhausted { user: call.context.user.id.to_string(), quota, retry_after }
    }
}

/// The longest that the call may run. A write may outlive its caller.
fn longest(call: &Call) -> Duration {
    let deadline = call.context.deadline;
    let deadline = if call.runs_once() { deadline.of_detached_write() } else { deadline };
    deadline.remaining()
}
