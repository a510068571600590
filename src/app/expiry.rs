//! Ends confirmations that nobody decided, or used, in time, and forgets what is kept no longer. A call that comes too
//! late is told so without this: here it is for those who look.

use std::{convert::Infallible, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::{
    clock,
    store::{Sqlite, audit::Audit, confirmations::Confirmations},
};

/// How often it looks, which is one read of an index.
const INTERVAL: Duration = Duration::from_secs(1);

/// How often it forgets.
const SWEEP: Duration = Duration::from_mins(10);

/// Looks for as long as it is polled. What cannot be done now is done later; the state's own watch says why.
pub(super) async fn run(state: &Sqlite) -> Infallible {
    let mut interval = interval(INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut swept: Option<Instant> = None;
    loop {
        interval.tick().await;
        let _ = state.expire(clock::wall()).await;
        if swept.is_none_or(|swept| clock::now() - swept >= SWEEP) {
            swept = Some(clock::now());
            let _ = state.sweep(clock::wall()).await;
            let _ = state.sweep_records(clock::wall()).await;
        }
    }
}
