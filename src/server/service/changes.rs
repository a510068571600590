//! The waits of watches of the state, between two reads.

use std::time::Duration;

use tokio::{
    select,
    sync::watch::Receiver,
    time::{Instant, sleep_until},
};

use toolwire_base::clock;

/// The interval at which a silent watch sends a heartbeat.
pub const HEARTBEAT: Duration = Duration::from_secs(20);

/// The longest that a watch does not read the state: a lost notification delays its events by no more than this.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Waits until the state may have changed, for at most [`POLL_INTERVAL`] and not beyond `until`.
pub async fn wait_for_change(changed: &mut Receiver<u64>, until: Instant) {
    let until = until.min(clock::now() + POLL_INTERVAL);
    select! {
        // Without a sender it returns an error immediately, and the watch would read in a loop.
        result = changed.changed() => if result.is_err() { sleep_until(until).await },
        () = sleep_until(until) => {}
    }
}
