//! Applies edits of the files on disk, and reports the health of sources to the registry.

use std::{convert::Infallible, future::pending};

use tokio::time::MissedTickBehavior;

use super::{App, tree::RELOAD_INTERVAL};
use toolwire_base::files::Tree;

impl App {
    /// Takes over edits of the files on disk for as long as it is polled.
    pub(super) async fn watch_files(&self) -> Infallible {
        if matches!(self.tree, Tree::Embedded(_)) {
            return pending().await;
        }
        let mut interval = tokio::time::interval(RELOAD_INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let app = self.clone();
            // Reads files: not on the threads that carry calls.
            let _ = tokio::task::spawn_blocking(move || app.refresh()).await;
        }
    }

    /// Looks at the files on disk once.
    pub fn refresh(&self) {
        self.registry.reload();
        self.publish_health();
    }

    pub(super) fn publish_health(&self) {
        for source in &self.data {
            self.registry.set_source_health(source.name(), source.refresh());
        }
    }
}
