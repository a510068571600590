//! The rows of a domain, which it keeps in order as the platform does its own.

use std::fmt;

use futures_util::future::BoxFuture;

/// What is done to rows of the state while the server runs. What fails is done at the next time.
pub trait Upkeep: Send + Sync + fmt::Debug {
    /// Ends what processes that are gone have left open.
    fn recover(&self) -> BoxFuture<'_, ()>;

    /// Deletes what is past its retention.
    fn sweep(&self) -> BoxFuture<'_, ()>;
}
