//! Expires confirmations that were not decided, or used, in time, and fails overdue tasks; settles what a dead process
//! left open in tasks; and deletes what is past its retention. Rows of domains are kept in order at the same times. A
//! late request is refused even without this: it runs for those who list.

use std::{convert::Infallible, sync::Arc, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::service::upkeep::Upkeep;
use toolwire_base::clock;
use toolwire_engine::pipeline::InFlight;
use toolwire_state::{Store, tasks::Recovered};

/// How often it looks, which is one read of an index.
const INTERVAL: Duration = Duration::from_secs(1);

/// How often it looks for what others have left open.
const RECOVER: Duration = Duration::from_secs(5);

/// How often it forgets.
const SWEEP: Duration = Duration::from_mins(10);

/// Looks for as long as it is polled. What cannot be done now is done later; the state's own watch says why.
pub(super) async fn run(
    state: &Store,
    in_flight: &InFlight,
    keep: Duration,
    of_domains: &[Arc<dyn Upkeep>],
) -> Infallible {
    let mut interval = interval(INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut recovered, mut swept) = (None, None);
    loop {
        interval.tick().await;
        // By a clock that cannot be relied on nothing ends; the state's own watch says so.
        if state.check_clock().await.is_err() {
            continue;
        }
        let _ = state.expire_confirmations().await;
        if let Ok(stopped) = state.expire_tasks().await {
            in_flight.cancel_calls(&stopped.calls);
        }
        if is_due(&mut recovered, RECOVER) {
            recover(state).await;
            for rows in of_domains {
                rows.recover().await;
            }
        }
        if is_due(&mut swept, SWEEP) {
            let _ = state.sweep_confirmations().await;
            let _ = state.sweep_audit_records().await;
            // A part at a time: others change something meanwhile.
            while let Ok(true) = state.sweep_tasks(keep).await {}
            while let Ok(true) = state.sweep_kept_results().await {}
            for rows in of_domains {
                rows.sweep().await;
            }
        }
    }
}

/// Whether it is time again; from now on it has been done.
fn is_due(last: &mut Option<Instant>, every: Duration) -> bool {
    let now = clock::now();
    let is_due = last.is_none_or(|last| now - last >= every);
    if is_due {
        *last = Some(now);
    }
    is_due
}

async fn recover(state: &Store) {
    match state.recover_tasks().await {
        Ok(Recovered { reads: 0, settled: 0, unknown: 0 }) | Err(_) => {}
        Ok(Recovered { reads, settled, unknown }) => {
            tracing::warn!(
                reads,
                settled,
                unknown,
                "calls of tasks that a process had left open are settled"
            );
        }
    }
}
