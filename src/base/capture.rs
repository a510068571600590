//! Subscribers of one test, which see what its thread records.

use std::sync::LazyLock;

use tracing::{Dispatch, dispatcher::DefaultGuard};

/// Sends what this thread records to a subscriber until the guard is dropped.
pub fn capture(subscriber: impl Into<Dispatch>) -> DefaultGuard {
    // While tracing knows one subscriber only, the thread that meets a callsite first decides whether anybody wants it,
    // for good, and a thread of another test has no subscriber. With two, all are asked.
    static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));
    LazyLock::force(&OTHER);
    tracing::dispatcher::set_default(&subscriber.into())
}
