//! Calls of other processes of the state, for watches: the stored records are looked at again and again while a watch
//! is open, once for all watches. Calls without a `request_id` have no record, and are known in their own process
//! alone.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

use super::{Calls, Record, State};
use toolwire_base::clock;
use toolwire_tool::context::CallId;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// How far back a look reads beginnings: the clocks that are in the ids of calls may differ by this.
const OVERLAP: Duration = Duration::from_secs(10);

/// Maximum number of records per look, and of calls that are known to run.
const AT_ONCE: u32 = 1_000;

/// Maximum number of changes that are kept.
const MAX_CHANGES: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct RemoteCalls {
    known: Mutex<Known>,
    /// When the records are looked at next; `None`: at once.
    next_look: tokio::sync::Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The number of the next change.
    next: u64,
    changes: VecDeque<(u64, Record)>,
    /// The calls that began lately or run, as they were sent last.
    told: BTreeMap<CallId, Record>,
}

impl RemoteCalls {
    /// The number of the next change.
    pub(super) fn next(&self) -> u64 {
        self.lock().next
    }

    /// The changes from a number on, and the number after the last one. Those that are forgotten are left out: the next
    /// list has them.
    pub(super) fn changes(&self, from: u64) -> (Vec<(u64, Record)>, u64) {
        let known = self.lock();
        let first = known.changes.partition_point(|(number, _)| *number < from);
        (known.changes.range(first..).cloned().collect(), known.next)
    }

    /// The calls that run.
    pub(super) fn running(&self) -> Vec<Record> {
        let is_running = |record: &&Record| record.state == State::Running;
        self.lock().told.values().filter(is_running).cloned().collect()
    }

    /// Looks at the records, unless that was done a moment ago. Returns when to look again.
    pub(super) async fn look(&self, calls: &Calls) -> Instant {
        let mut next_look = self.next_look.lock().await;
        let now = clock::now();
        if let Some(at) = next_look.filter(|at| *at > now) {
            return at;
        }
        let next = now + INTERVAL;
        *next_look = Some(next);
        // A process that is alone has nothing to look for.
        if calls.0.store.peers().await > 0
            && let Err(error) = self.read(calls).await
        {
            tracing::debug!(%error, "calls of other processes cannot be watched now");
        }
        next
    }

    async fn read(&self, calls: &Calls) -> Result<(), toolwire_db::StoreError> {
        let (store, cap) = (&calls.0.store, calls.0.cap);
        let (now, is_first) = (store.now(), self.lock().told.is_empty());
        // At first all that may still run; later what has begun since the last look.
        let back = if is_first { cap + OVERLAP } else { INTERVAL + OVERLAP };
        let running: Vec<_> = self.running().into_iter().map(|it| it.call_id).collect();
        let listed = store.list_calls_of_others(oldest_id(now, back), &running, AT_ONCE).await?;
        let records = listed.iter().map(|call| Record::of_recorded(call, false, cap, now));
        let mut known = self.lock();
        records.for_each(|record| known.add(record));
        let oldest = oldest_id(now, cap + 2 * OVERLAP);
        known.told.retain(|call_id, record| *call_id >= oldest || record.state == State::Running);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Adds a call, as a change if it is new or has another state.
    fn add(&mut self, record: Record) {
        if self.told.get(&record.call_id).is_some_and(|told| told.state == record.state) {
            return;
        }
        if self.changes.len() >= MAX_CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back((self.next, record.clone()));
        self.next += 1;
        self.told.insert(record.call_id, record);
    }
}

/// The least id of a call that was made at most this time ago: an id begins with its time in milliseconds.
fn oldest_id(now: SystemTime, back: Duration) -> CallId {
    let since = now.checked_sub(back).and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    CallId::from_bytes((since.as_millis() << 80).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_behind_the_least_one_of_its_time_and_not_behind_that_of_a_later_one() {
        let id = CallId::generate();
        assert!(oldest_id(clock::wall(), Duration::from_secs(1)) < id);
        assert!(oldest_id(clock::wall() + Duration::from_secs(2), Duration::from_secs(1)) > id);
    }
}
