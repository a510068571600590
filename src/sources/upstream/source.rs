//! The specification of a source, by its domain: its addresses and its budget.
//!
//! Data only. How a source is asked, and what its answers mean, its connector knows.

use std::time::Duration;

use super::limiter::Budget;

/// A source that is asked over HTTP.
#[derive(Clone, Copy, Debug)]
pub struct SourceSpec {
    /// Its name in manifests, limits, metrics and settings, such as `forum`: the table `[sources.forum]`.
    pub name: &'static str,
    /// What guidance calls it, such as `The Forum`.
    pub title: &'static str,
    pub addresses: &'static [Address],
    /// The budget of each user, and of all together, where the source is live and nothing is set.
    pub budget: Budget,
    /// The bound on one attempt where none is set.
    pub timeout: Duration,
    /// Whether its connector sets its own `User-Agent`, so that `sources.user_agent` does not reach it.
    pub names_itself: bool,
    /// Whether each user gives credentials for it. A call of a task that it refuses for them waits for others.
    pub takes_users_credentials: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// Its key, such as `base_url`.
    pub key: &'static str,
    /// Where it is unless something else is set.
    pub default: &'static str,
}

impl Address {
    /// An address with its key and where it is.
    pub const fn new(key: &'static str, default: &'static str) -> Self {
        Self { key, default }
    }
}
