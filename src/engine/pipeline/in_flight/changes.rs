//! Changes of the running calls, for watches: which calls have started and which have ended since a number.
//!
//! Each start and each end has a number. What is kept of them is the running calls and those that ended last; of a call
//! that has started and ended since a number, only the end is a change.

use tokio::time::Instant;

use super::{CallInfo, EndedCall, InFlight, Part, RunningCall};

#[derive(Clone, Debug)]
pub enum CallChange {
    Started(RunningCall),
    Ended(EndedCall),
}

/// A part of the changes, in their order.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Each with its number.
    pub changes: Vec<(u64, CallChange)>,
    /// The number from which the next part goes on.
    pub next: u64,
}

/// A change that is not copied yet.
enum Found<'a> {
    Started(&'a RunningCall),
    Ended(&'a EndedCall),
}

impl InFlight {
    /// The number that the next change will have.
    pub fn next_change(&self) -> u64 {
        self.lock().next
    }

    /// The changes from a number on that pass, at most `most`. `None` if some of them are not known any more.
    pub fn changes(&self, from: u64, most: usize, passes: impl Fn(&CallInfo) -> bool) -> Option<Changes> {
        let state = self.lock();
        if !(state.forgotten..=state.next).contains(&from) {
            return None;
        }
        let (mut found, mut next) = (Vec::new(), state.next);
        for (number, entry) in state.entries_from(from) {
            if entry.part != Part::Call {
                continue;
            }
            if entry.call.facts.tool().is_none() {
                // Whether it has a tool, and so an end that is kept, will be known in a moment.
                next = next.min(number);
            } else if passes(&entry.call.info) {
                found.push((number, Found::Started(&entry.call)));
            }
        }
        let ended = state.ended.range(from..).filter(|ended| passes(&ended.info));
        found.extend(ended.map(|ended| (ended.number, Found::Ended(ended))));
        found.sort_unstable_by_key(|(number, _)| *number);
        if let Some((number, _)) = found.get(most) {
            next = next.min(*number);
        }
        let change = |(number, found): &(u64, Found<'_>)| {
            let change = match found {
                Found::Started(call) => CallChange::Started((*call).clone()),
                Found::Ended(call) => CallChange::Ended((*call).clone()),
            };
            (*number, change)
        };
        let changes = found.iter().take_while(|(number, _)| *number < next).map(change).collect();
        Some(Changes { changes, next })
    }

    /// Waits until there is a change of this number, or until an instant.
    pub async fn wait_for_change(&self, number: u64, until: Instant) {
        // Created before the look: from here on it receives the notification.
        let changed = self.changed.notified();
        {
            let mut state = self.lock();
            if state.next > number {
                return;
            }
            state.is_watched = true;
        }
        tokio::select! {
            () = changed => {}
            () = tokio::time::sleep_until(until) => {}
        }
    }
}
