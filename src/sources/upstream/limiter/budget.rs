//! The rate limit of one source, per user and over all users.

use std::time::Duration;

/// A budget: maximum number of requests in a window, and the minimum gap between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Requests allowed in each window; at least one.
    pub max_requests: u32,
    pub window: Duration,
    /// The least time between two requests.
    pub min_delay: Duration,
}

impl Budget {
    /// No limit at all.
    pub const UNLIMITED: Self =
        Self { max_requests: u32::MAX, window: Duration::from_nanos(1), min_delay: Duration::ZERO };
}

/// A source's two budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    pub per_user: Budget,
    /// The budget of all users together, since a ban affects everyone.
    pub ceiling: Budget,
}
