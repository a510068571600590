//! Expires confirmations that were not decided, or used, in time, and fails overdue tasks; settles what a dead process
//! left open in tasks; and deletes what is past its retention. Rows of domains are kept in order at the same times. A
//! late request is refused even without this: it runs for those who list.

use std::{convert::Infallible, sync::Arc, time::Duration};

use futures_util::future::{join, join_all};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

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

/// Looks for as long as it is polled. What cannot be done now is done later; the state's own watch says why. A domain
/// that takes long holds up neither the platform nor another domain.
pub(super) async fn run(
    state: &Store,
    in_flight: &InFlight,
    keep: Duration,
    of_domains: &[Arc<dyn Upkeep>],
) -> Infallible {
    let of_domains = join_all(of_domains.iter().map(|rows| run_domain(state, rows.as_ref())));
    let (never, _) = join(run_platform(state, in_flight, keep), of_domains).await;
    never
}

async fn run_domain(state: &Store, rows: &dyn Upkeep) -> Infallible {
    let (mut interval, mut swept) = (ticks(RECOVER), None);
    loop {
        interval.tick().await;
        if state.check_clock().await.is_err() {
            continue;
        }
        rows.recover().await;
        if is_due(&mut swept, SWEEP) {
            rows.sweep().await;
        }
    }
}

fn ticks(every: Duration) -> Interval {
    let mut interval = interval(every);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

async fn run_platform(state: &Store, in_flight: &InFlight, keep: Duration) -> Infallible {
    let (mut interval, mut recovered, mut swept) = (ticks(INTERVAL), None, None);
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
        }
        if is_due(&mut swept, SWEEP) {
            let _ = state.sweep_confirmations().await;
            let _ = state.sweep_audit_records().await;
            let _ = state.sweep_refusals().await;
            let _ = state.sweep_quotas().await;
            // A part at a time: others change something meanwhile.
            while let Ok(true) = state.sweep_tasks(keep).await {}
            while let Ok(true) = state.sweep_kept_results().await {}
            while let Ok(true) = state.sweep_recordings().await {}
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

#[cfg(test)]
mod tests {
    use futures_util::future::{BoxFuture, pending};
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

    use super::*;

    #[derive(Debug)]
    struct Hangs;

    impl Upkeep for Hangs {
        fn recover(&self) -> BoxFuture<'_, ()> {
            Box::pin(pending())
        }

        fn sweep(&self) -> BoxFuture<'_, ()> {
            Box::pin(pending())
        }
    }

    /// Says when its turn comes.
    #[derive(Debug)]
    struct Tells(UnboundedSender<()>);

    impl Upkeep for Tells {
        fn recover(&self) -> BoxFuture<'_, ()> {
            Box::pin(async { self.0.send(()).unwrap() })
        }

        fn sweep(&self) -> BoxFuture<'_, ()> {
            Box::pin(async {})
        }
    }

    #[tokio::test]
    async fn a_domain_that_hangs_holds_up_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let state = Store::at(directory.path());
        let (tells, mut told) = unbounded_channel();
        let of_domains: [Arc<dyn Upkeep>; 2] = [Arc::new(Hangs), Arc::new(Tells(tells))];
        let in_flight = InFlight::default();
        tokio::select! {
            never = run(&state, &in_flight, SWEEP, &of_domains) => match never {},
            said = told.recv() => assert!(said.is_some()),
        }
    }
}
