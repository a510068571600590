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
    /// Requests of one user in each window, if it is set.
    pub max_requests: Option<u32>,
    /// The user's window.
    pub window: Duration,
    /// The least time between two requests of one user, if it is set.
    pub min_delay: Option<Duration>,
    /// Requests of all users in each window, if it is set.
    pub ceiling_max_requests: Option<u32>,
    /// The window of all users.
    pub ceiling_window: Duration,
    /// The least time between two requests of any users, if it is set.
    pub ceiling_min_delay: Option<Duration>,
    /// The bound on one attempt, if it is set; else the connector's own.
    pub timeout: Option<Duration>,
    /// Requests in each window where none are set and the source is live.
    pub usual_requests: u32,
    /// The least time between two requests where none is set and the source is live.
    pub usual_delay: Duration,
}

/// How many times more may be asked of an embedded source: nobody can be banned, and nobody trying it out should wait.
const EMBEDDED_ROOM: u32 = 10;

impl Budget {
    pub(super) fn policy(self, mode: Mode) -> SourcePolicy {
        let (requests, delay) = match mode {
            Mode::Live => (self.usual_requests, self.usual_delay),
            Mode::Embedded => (self.usual_requests * EMBEDDED_ROOM, Duration::ZERO),
        };
        let per_user = Policy {
            max_requests: self.max_requests.unwrap_or(requests),
            window: self.window,
            min_delay: self.min_delay.unwrap_or(delay),
        };
        let ceiling = Policy {
            max_requests: self.ceiling_max_requests.unwrap_or(requests),
            window: self.ceiling_window,
            min_delay: self.ceiling_min_delay.unwrap_or(delay),
        };
        SourcePolicy { per_user, ceiling }
    }

    pub(super) fn problems(self, source: Upstream) -> impl Iterator<Item = Problem> {
        let is_zero = [
            ("max_requests", self.max_requests == Some(0)),
            ("window", self.window.is_zero()),
            ("ceiling_max_requests", self.ceiling_max_requests == Some(0)),
            ("ceiling_window", self.ceiling_window.is_zero()),
            ("timeout", self.timeout.is_some_and(|timeout| timeout.is_zero())),
        ];
        is_zero.into_iter().filter(|(_, is_broken)| *is_broken).map(move |(name, _)| {
            let key = format!("sources.{}.{name}", source.name());
            Problem::new(key, "must be more than zero: nothing could be asked")
        })
    }
}
