//! How much may be asked of one source, by one user and by all of them together.

use std::time::Duration;

use super::{Mode, Upstream};
use crate::config::Problem;

/// A budget: at most so many requests in every window, and so long between two (spec 004 §4.2 `RateLimitConfig`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Requests allowed in each window; at least one.
    pub max_requests: u32,
    /// The window.
    pub window: Duration,
    /// The least time between two requests.
    pub min_delay: Duration,
}

/// A source's two budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePolicy {
    /// Each user's own.
    pub per_user: Policy,
    /// That of all users together, since a ban hits everyone.
    pub ceiling: Policy,
}

/// What is set of one source's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Requests of one user in each window.
    pub max_requests: u32,
    /// The user's window.
    pub window: Duration,
    /// The least time between two requests of one user, if it is set.
    pub min_delay: Option<Duration>,
    /// Requests of all users in each window.
    pub ceiling_max_requests: u32,
    /// The window of all users.
    pub ceiling_window: Duration,
    /// The least time between two requests of any users, if it is set.
    pub ceiling_min_delay: Option<Duration>,
    /// The bound on one attempt, if it is set; else the connector's own.
    pub timeout: Option<Duration>,
    /// The least time between two requests where none is set and the source is live.
    pub usual_delay: Duration,
}

impl Budget {
    pub(super) fn policy(self, mode: Mode) -> SourcePolicy {
        let usual = match mode {
            Mode::Live => self.usual_delay,
            Mode::Embedded => Duration::ZERO,
        };
        let per_user = Policy {
            max_requests: self.max_requests,
            window: self.window,
            min_delay: self.min_delay.unwrap_or(usual),
        };
        let ceiling = Policy {
            max_requests: self.ceiling_max_requests,
            window: self.ceiling_window,
            min_delay: self.ceiling_min_delay.unwrap_or(usual),
        };
        SourcePolicy { per_user, ceiling }
    }

    pub(super) fn problems(self, source: Upstream) -> impl Iterator<Item = Problem> {
        let is_zero = [
            ("max_requests", self.max_requests == 0),
            ("window", self.window.is_zero()),
            ("ceiling_max_requests", self.ceiling_max_requests == 0),
            ("ceiling_window", self.ceiling_window.is_zero()),
            ("timeout", self.timeout.is_some_and(|timeout| timeout.is_zero())),
        ];
        is_zero.into_iter().filter(|(_, is_broken)| *is_broken).map(move |(name, _)| {
            let key = format!("sources.{}.{name}", source.name());
            Problem::new(key, "must be more than zero: nothing could be asked")
        })
    }
}
