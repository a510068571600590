//! Signals from a server to all its connections.

use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The signals, and the streams of all connections.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The drain has begun: calls are still accepted, and HTTP/1 clients are asked to use another connection.
    pub(super) draining: CancellationToken,
    /// Connections must end their watches, send GOAWAY, and close when their calls are done.
    pub(super) go_away: CancellationToken,
    /// Connections must be dropped.
    pub(super) forced: CancellationToken,
    pub(super) streams: TaskTracker,
}
