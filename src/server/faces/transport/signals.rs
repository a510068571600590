//! Signals from a server to all its connections.

use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The signals, and the count of the streams of all connections.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The drain has begun: calls are still taken, and who can is told to take the next one elsewhere.
    pub(super) draining: CancellationToken,
    /// Connections are to end their watches, say GOAWAY, and close when their calls are done.
    pub(super) go_away: CancellationToken,
    /// Connections are to be dropped.
    pub(super) forced: CancellationToken,
    pub(super) streams: TaskTracker,
}
