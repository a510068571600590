//! Subscribers of a single test.

use std::sync::LazyLock;

use tracing::{Dispatch, dispatcher::DefaultGuard};

/// Makes a subscriber the default of this thread until the guard is dropped.
pub fn capture(subscriber: impl Into<Dispatch>) -> DefaultGuard {
    // While tracing knows a single subscriber, the thread that reaches a callsite first caches the interest in it
    // permanently; it may be a thread of another test, without a subscriber. With two subscribers, each is asked.
    static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));
    LazyLock::force(&OTHER);
    tracing::dispatcher::set_default(&subscriber.into())
}
