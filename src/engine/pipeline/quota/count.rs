//! Counts a call by reservations in the state: one at the time of the call, and one for its permit, at the time by
//! which it has ended in any case.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::Excess;
use crate::pipeline::{Call, call::Permits};
use toolwire_config::Quota;
use toolwire_db::StoreError;
use toolwire_state::{
    Store,
    reservations::{Nanos, QUOTA_PREFIX, Reservation},
};
use toolwire_tool::context::UserId;

/// The time after which the permit of a lost process is free, once its call must have ended.
const MARGIN: Duration = Duration::from_secs(5);

/// What a call has taken of its user's quotas.
pub(super) struct Counts {
    store: Arc<Store>,
    user: UserId,
    /// The longest that the call may run.
    longest: Duration,
    calls: Vec<i64>,
    permits: Vec<i64>,
}

impl Counts {
    pub(super) fn new(store: &Arc<Store>, call: &Call) -> Self {
        let deadline = call.context.deadline;
        // A write may outlive its caller.
        let deadline = if call.runs_once() { deadline.of_detached_write() } else { deadline };
        Self {
            store: Arc::clone(store),
            user: call.context.user.id.clone(),
            longest: deadline.remaining(),
            calls: Vec::new(),
            permits: Vec::new(),
        }
    }

    /// Counts the call against a quota. Returns the part of it that is used up, if one is.
    pub(super) async fn add(
        &mut self,
        quota: &Quota,
        is_counted: bool,
    ) -> Result<Option<Excess>, StoreError> {
        if let Some((most, window)) = quota.calls.filter(|_| is_counted) {
            let wait = AtomicU64::new(0);
            let choose = |earlier: &[Reservation], now| match wait_of(earlier, now, most, nanos(window)) {
                0 => Some(now),
                longer => {
                    wait.store(longer, Ordering::Relaxed);
                    None
                }
            };
            let name = self.name("calls", quota);
            let Some(number) = self.store.reserve(&name, &self.user, nanos(window), &choose).await? else {
                let retry_after = Duration::from_nanos(wait.into_inner());
                return Ok(Some(Excess::Calls { most, window, retry_after }));
            };
            self.calls.push(number);
        }
        let Some(most) = quota.concurrent else { return Ok(None) };
        let until = nanos(self.longest + MARGIN);
        // Those whose time has come are forgotten.
        let choose = |running: &[Reservation], now: Nanos| {
            (running.len() < most as usize).then(|| now.saturating_add(until))
        };
        match self.store.reserve(&self.name("running", quota), &self.user, 0, &choose).await? {
            Some(number) => self.permits.push(number),
            None => return Ok(Some(Excess::Concurrent { most })),
        }
        Ok(None)
    }

    /// Takes the call back.
    pub(super) async fn give_back(self) {
        for number in self.calls.into_iter().chain(self.permits) {
            // What cannot be taken back passes.
            let _ = self.store.cancel_reservation(number).await;
        }
    }

    pub(super) fn into_permits(self) -> Permits {
        Permits::new(self.store, self.permits)
    }

    /// A user's counts are of no other, so that those of all are not read.
    fn name(&self, of: &str, quota: &Quota) -> String {
        format!("{QUOTA_PREFIX}{}:{of}:{}", quota.key(), self.user)
    }
}

/// How long a call must wait behind the earlier ones in the window before it, which are in order of time; 0 if it need
/// not.
fn wait_of(earlier: &[Reservation], now: Nanos, most: u32, window: Nanos) -> Nanos {
    // The newest of those that must have left the window.
    let Some(last) = earlier.len().checked_sub(most as usize) else { return 0 };
    earlier.get(last).map_or(0, |it| (it.at + window + 1).saturating_sub(now).max(1))
}

fn nanos(length: Duration) -> Nanos {
    length.as_nanos().try_into().unwrap_or(Nanos::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Nanos = 1_000;

    fn reserved(at: &[Nanos]) -> Vec<Reservation> {
        at.iter().map(|at| Reservation { user: "riley".parse().expect("valid"), at: *at }).collect()
    }

    #[test]
    fn a_call_waits_until_enough_of_the_earlier_ones_have_left_the_window() {
        let wait = |at: &[Nanos], most| wait_of(&reserved(at), 5_000, most, WINDOW);
        assert_eq!((wait(&[], 1), wait(&[4_500], 2), wait(&[4_400, 4_900], 3)), (0, 0, 0));
        assert_eq!(wait(&[4_500], 1), 501);
        assert_eq!(wait(&[4_400, 4_900], 2), 401);
        // The limit was lowered meanwhile.
        assert_eq!(wait(&[4_100, 4_400, 4_900], 1), 901);
    }

    proptest! {
        #[test]
        fn no_window_ever_has_more_calls_than_the_quota(
            gaps in prop::collection::vec(0..700_u64, 1..60),
            most in 1..5_u32,
        ) {
            let (mut now, mut made) = (10_000, Vec::new());
            for gap in gaps {
                now += gap;
                let earlier: Vec<_> = made.iter().copied().filter(|at| *at >= now - WINDOW).collect();
                let wait = wait_of(&reserved(&earlier), now, most, WINDOW);
                if wait == 0 {
                    made.push(now);
                } else {
                    // After the wait it is admitted, and not a moment before.
                    let at = |now: Nanos| {
                        let earlier: Vec<_> = made.iter().copied().filter(|at| *at >= now - WINDOW).collect();
                        wait_of(&reserved(&earlier), now, most, WINDOW)
                    };
                    prop_assert_eq!(at(now + wait), 0);
                    prop_assert!(at(now + wait - 1) > 0);
                }
                let in_window = made.iter().filter(|at| **at >= now - WINDOW).count();
                prop_assert!(in_window <= most as usize);
            }
        }
    }
}
