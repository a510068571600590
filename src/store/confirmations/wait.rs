//! Waiting for one confirmation, whichever process changes it.

use std::time::Duration;

use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use super::Confirmations;

/// Decisions that other processes make are seen this late at most.
const LOOK: Duration = Duration::from_millis(500);

/// Waits until a confirmation may have changed, whoever changes it, or until the given instant.
pub async fn may_have_changed(store: &dyn Confirmations, changes: &mut watch::Receiver<()>, until: Instant) {
    let looking = async {
        loop {
            sleep(LOOK).await;
            store.look().await;
        }
    };
    select! {
        _ = changes.changed() => {}
        () = sleep_until(until) => {}
        () = looking => {}
    }
}
