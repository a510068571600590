//! The rows of turns and jobs: those of jobs whose process is gone are ended, and old ones deleted.

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};

use toolwire_server::service::upkeep::Upkeep;
use toolwire_state::Store;

/// The state, of which these rows are a part.
#[derive(Debug)]
pub struct Rows(pub Arc<Store>);

impl Upkeep for Rows {
    fn recover(&self) -> BoxFuture<'_, ()> {
        async {
            match self.0.interrupt_jobs().await {
                Ok(0) | Err(_) => {}
                Ok(jobs) => tracing::warn!(jobs, "jobs whose process is gone are ended"),
            }
        }
        .boxed()
    }

    fn sweep(&self) -> BoxFuture<'_, ()> {
        async {
            // A part at a time: others change something meanwhile.
            while let Ok(true) = self.0.sweep_turns().await {}
            while let Ok(true) = self.0.sweep_jobs().await {}
        }
        .boxed()
    }
}
