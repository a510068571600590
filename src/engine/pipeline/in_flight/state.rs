//! The table behind the lock: the running calls, those that ended last, and their statistics.

use std::{collections::HashMap, sync::Arc};

use tokio::{sync::Notify, time::Instant};

use super::{Part, RunningCall, call_info::Outcome, ended_calls::EndedCalls, stats::Stats};
use toolwire_tool::context::{CallId, Cancellation, Pins};

#[derive(Debug, Default)]
pub(super) struct State {
    /// The number of the next start or end.
    pub(super) next: u64,
    /// The least number of which no change is forgotten.
    pub(super) forgotten: u64,
    /// Whether a watch waits for the next change.
    pub(super) is_watched: bool,
    /// The running calls by the number of their start.
    pub(super) entries: HashMap<u64, Entry, foldhash::fast::FixedState>,
    pub(super) ended: EndedCalls,
    pub(super) stats: Stats,
    /// The waiters for the end of a call.
    pub(super) waiting: HashMap<CallId, Arc<Notify>>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) call: RunningCall,
    pub(super) cancellation: Cancellation,
    pub(super) pins: Pins,
    pub(super) part: Part,
}

impl State {
    pub(super) fn is_running(&self, call_id: CallId) -> bool {
        self.entries.values().any(|entry| entry.call.info.call_id == call_id)
    }

    /// Counts an ended call, and remembers it. Calls of tools that are unknown to their user are in the log only.
    pub(super) fn remember(&mut self, call: RunningCall, outcome: Outcome, now: Instant) {
        if call.info.is_from_outside() {
            self.stats.count(now, &call.info.user, now - call.info.arrived.at, outcome.end);
        }
        let number = self.take_number();
        let Some(ended) = call.end(outcome, number, now) else { return };
        if let Some(displaced) = self.ended.push(ended) {
            self.forgotten = self.forgotten.max(displaced + 1);
        }
    }

    pub(super) fn take_number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// The entries from a number on, in no order.
    pub(super) fn entries_from(&self, from: u64) -> impl Iterator<Item = (u64, &Entry)> {
        // A watch that reads on looks up the few new ones.
        let is_short = usize::try_from(self.next - from).is_ok_and(|count| count < self.entries.len());
        let looked_up = (from..self.next).filter_map(|key| Some((key, self.entries.get(&key)?)));
        let all = self.entries.iter().map(|(key, entry)| (*key, entry)).filter(move |it| it.0 >= from);
        let (looked_up, all) = if is_short { (Some(looked_up), None) } else { (None, Some(all)) };
        looked_up.into_iter().flatten().chain(all.into_iter().flatten())
    }
}
