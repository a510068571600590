//! Takes away documents of trees that never began, and bytes that nothing names any more: at start, and each hour.

use std::{convert::Infallible, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

use super::Workspace;
use toolwire_base::clock;

/// How often it looks.
const INTERVAL: Duration = Duration::from_hours(1);

/// Sweeps for as long as it is polled. What cannot be done now is done later; the state's own watch says why.
pub async fn run(workspace: &Workspace) -> Infallible {
    let mut interval = interval(INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        // A part at a time: others change something meanwhile.
        while let Ok(true) = workspace.store().sweep_documents(clock::wall()).await {}
        match workspace.store().sweep_blobs(clock::wall()).await {
            Ok(swept) if swept != crate::blobs::Swept::default() => {
                let (unfinished, orphans, rows) = (swept.unfinished, swept.orphans, swept.rows);
                tracing::info!(unfinished, orphans, rows, "bytes that nothing names were taken away");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "bytes that nothing names could not be taken away"),
        }
    }
}
