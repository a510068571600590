//! Work in the background, which the server ends with itself.

use std::fmt;

use futures_util::future::BoxFuture;

/// Work that goes on beside calls and requests.
pub trait Drain: Send + Sync + fmt::Debug {
    /// Ends what runs, and lets nothing begin any more.
    fn begin(&self);

    /// Waits until nothing runs.
    fn wait_empty(&self) -> BoxFuture<'_, ()>;
}
