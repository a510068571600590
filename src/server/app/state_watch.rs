//! Watches whether the state can be written: while it cannot, the process is not ready, and the write is retried.

use std::{convert::Infallible, sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};

use toolwire_store::Store;

/// Between two attempts to write again.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reports whether calls that need the state can be served.
#[derive(Debug)]
pub(super) struct Watch {
    state: Arc<Store>,
    ready: watch::Sender<bool>,
}

impl Watch {
    pub(super) fn new(state: &Arc<Store>) -> Self {
        Self { state: Arc::clone(state), ready: watch::Sender::new(true) }
    }

    /// Whether the state can be written, by the last attempt.
    pub(super) fn readiness(&self) -> watch::Receiver<bool> {
        self.ready.subscribe()
    }

    /// Watches for as long as it is polled.
    pub(super) async fn run(self) -> Infallible {
        let mut last_error = self.state.last_error();
        loop {
            let begun = last_error.wait_for(Option::is_some).await.map(|error| error.clone());
            let error = begun.ok().flatten().expect("its sender is in the state, and it was waited for");
            tracing::error!(%error, "not ready: the state cannot be used");
            self.ready.send_replace(false);
            while self.state.probe().await.is_err() {
                sleep(INTERVAL).await;
            }
            tracing::info!("ready: the state can be used again");
            self.ready.send_replace(true);
        }
    }
}
