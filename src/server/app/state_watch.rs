//! Watches whether the state can be written: while it cannot, the process is degraded or not ready, and a write is
//! retried.

use std::{convert::Infallible, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use crate::faces::readiness::Readiness;
use toolwire_base::clock;
use toolwire_db::StoreError;
use toolwire_state::Store;

/// Between two attempts to write again.
const INTERVAL: Duration = Duration::from_secs(1);

/// A disk that was full has room once no write has failed for this long: one that finds the room of a deleted row says
/// nothing of the others.
const ROOM_AFTER: Duration = Duration::from_secs(5);

/// Reports whether calls that need the state can be served.
#[derive(Debug)]
pub(super) struct Watch {
    state: Arc<Store>,
    readiness: watch::Sender<Readiness>,
}

impl Watch {
    pub(super) fn new(state: &Arc<Store>) -> Self {
        Self { state: Arc::clone(state), readiness: watch::Sender::new(Readiness::Ready) }
    }

    /// The readiness, by the last attempt.
    pub(super) fn readiness(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }

    /// Watches for as long as it is polled.
    pub(super) async fn run(self) -> Infallible {
        let mut last_error = self.state.last_error();
        loop {
            let begun = last_error.wait_for(Option::is_some).await.map(|error| error.clone());
            let error = begun.ok().flatten().expect("its sender is in the state, and it was waited for");
            self.wait_until_usable(&mut last_error, error).await;
            tracing::info!("ready: the state can be used again");
            self.readiness.send_replace(Readiness::Ready);
        }
    }

    /// Tries until a write succeeds, and says each cause that is another one.
    async fn wait_until_usable(
        &self,
        last_error: &mut watch::Receiver<Option<StoreError>>,
        first: StoreError,
    ) {
        self.report(&first);
        let (mut reported, mut room_at) = (first.clone(), earliest_room(&first));
        loop {
            sleep(INTERVAL).await;
            if last_error.has_changed().unwrap_or_default()
                && let Some(error) = last_error.borrow_and_update().clone()
            {
                room_at = earliest_room(&error).or(room_at);
                if error != reported {
                    self.report(&error);
                    reported = error;
                }
            }
            let is_written = self.state.probe().await.is_ok();
            if is_written && room_at.is_none_or(|at| clock::now() >= at) {
                return;
            }
        }
    }

    fn report(&self, error: &StoreError) {
        if self.state.is_shared(error) {
            tracing::error!(%error, "degraded: the state cannot be used");
            self.readiness.send_replace(Readiness::Degraded);
        } else {
            tracing::error!(%error, "not ready: the state cannot be used");
            self.readiness.send_replace(Readiness::NotReady);
        }
    }
}

/// When a disk that is full now counts as having room, if no write fails until then.
fn earliest_room(error: &StoreError) -> Option<Instant> {
    matches!(error, StoreError::Full { .. }).then(|| clock::now() + ROOM_AFTER)
}
