//! Garbage collection of documents of trees that never began, and of unreferenced blobs: at start, and every hour.

use std::{convert::Infallible, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

use super::Workspace;

const INTERVAL: Duration = Duration::from_hours(1);

/// Sweeps until it is dropped. Errors are retried at the next interval; the monitor of the state reports their cause.
pub async fn run(workspace: &Workspace) -> Infallible {
    let mut interval = interval(INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        // In parts, so that other transactions run in between.
        while let Ok(true) = workspace.store().sweep_documents().await {}
        match workspace.store().sweep_blobs().await {
            Ok(swept) if swept != crate::blobs::Swept::default() => {
                let (unfinished, orphans, rows) = (swept.unfinished, swept.orphans, swept.rows);
                tracing::info!(unfinished, orphans, rows, "bytes that nothing names were taken away");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "bytes that nothing names could not be taken away"),
        }
    }
}
