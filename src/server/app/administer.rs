//! The admin endpoint, while the service runs.

use std::{convert::Infallible, future::pending};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::faces::{admin::Admin, readiness::Readiness};

/// Answers operators, if a listener for them is configured.
pub(super) async fn administer(
    admin: Option<Admin>,
    draining: CancellationToken,
    ready: watch::Receiver<Readiness>,
) -> Infallible {
    match admin {
        Some(admin) => admin.serve(draining, ready).await,
        None => pending().await,
    }
}
