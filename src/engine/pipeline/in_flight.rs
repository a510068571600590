//! The running calls, for `CancelCall` and drains, and the calls that ended last, for queries.

mod call_info;
mod changes;
mod ended_calls;
mod state;
mod stats;

use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use futures_util::future::{Either, pending};
use tokio::sync::Notify;

use self::{
    call_info::Outcome,
    state::{Entry, State},
};
pub use self::{
    call_info::{CallEnd, CallInfo, EndedCall, RunningCall},
    changes::{CallChange, Changes},
    stats::{Counts, KEPT_SECONDS, LATENCY_BOUNDS, StatsBucket, Steps},
};
use super::{Call, CallResult, Facts};
use toolwire_base::clock;
use toolwire_tool::context::{CallId, Cancellation, Pins, RequestId, StopCause, UserId};

/// The running calls. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    state: Arc<Mutex<State>>,
    emptied: Arc<Notify>,
    changed: Arc<Notify>,
}

/// The part of a call that an entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The call, until its caller has the result.
    Call,
    /// Its work, which may outlive the call.
    Work,
}

/// Whether a call, or one that it made, may have requested a confirmation.
#[derive(Debug, Default)]
pub(super) struct ConfirmationFlag(AtomicBool);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelOutcome {
    /// Whether one of the cancelled calls may have requested a confirmation, which must then be withdrawn.
    pub may_have_requested_confirmation: bool,
}

/// Keeps a call in the list while it runs.
#[derive(Debug)]
pub struct Guard {
    in_flight: InFlight,
    key: u64,
    /// `None` until the call has ended.
    outcome: Option<Outcome>,
}

/// Selects the call to cancel.
#[derive(Clone, Copy, Debug)]
pub enum CallSelector {
    Call(CallId),
    /// The call that was made with this `request_id`.
    Request(RequestId),
}

impl InFlight {
    /// Lists a call until the guard is dropped.
    pub fn enter(&self, call: &Call, cancellation: Cancellation, part: Part) -> Guard {
        let (pins, call) = (call.context.pins.clone(), RunningCall::of(call));
        let mut state = self.lock();
        let key = state.take_number();
        state.entries.insert(key, Entry { call, cancellation, pins, part });
        self.notify(&mut state);
        Guard { in_flight: self.clone(), key, outcome: None }
    }

    /// The running calls, and those that ended last, that pass the filter.
    pub fn list(&self, passes: impl Fn(&CallInfo) -> bool) -> (Vec<RunningCall>, Vec<EndedCall>) {
        let state = self.lock();
        // A call and its work are one call: they have the same id, and the work may outlive the call.
        let running: HashMap<_, _> = state
            .entries
            .values()
            .map(|it| (it.call.info.call_id, &it.call))
            .filter(|it| passes(&it.1.info))
            .collect();
        let ended = state.ended.iter().filter(|it| passes(&it.info)).cloned().collect();
        (running.into_values().cloned().collect(), ended)
    }

    /// The calls of a user, or of all users, that ended in each of the last steps, the oldest first; and how many of
    /// them run.
    pub fn stats(&self, user: Option<&UserId>, steps: Steps) -> (Vec<StatsBucket>, usize) {
        let state = self.lock();
        let is_counted = |entry: &&Entry| {
            let info = &entry.call.info;
            entry.part == Part::Call && info.is_from_outside() && user.is_none_or(|user| *user == info.user)
        };
        let running = state.entries.values().filter(is_counted).count();
        (state.stats.buckets(user, steps), running)
    }

    /// Whether the call of this id, or its work, is running here.
    pub fn is_running(&self, call_id: CallId) -> bool {
        self.lock().is_running(call_id)
    }

    /// Waits until the call of this id ends. Never completes if the call does not run in this process.
    pub async fn wait_for_end(&self, call_id: CallId) {
        let notify;
        let ended;
        {
            let mut state = self.lock();
            if state.is_running(call_id) {
                notify = Arc::clone(state.waiting.entry(call_id).or_default());
                // Created under the lock: from here on it receives the notification, although it is not polled yet.
                ended = Either::Left(notify.notified());
            } else {
                ended = Either::Right(pending());
            }
        }
        ended.await;
    }

    /// Cancels a user's own call; `None` if there is none.
    pub fn cancel(&self, user: &UserId, selector: CallSelector) -> Option<CancelOutcome> {
        let state = self.lock();
        let is_selected =
            |entry: &&Entry| entry.call.info.user == *user && selector.selects(&entry.call.info);
        let flags = state.entries.values().filter(is_selected).map(|entry| {
            // Cancel before the flag is read: a call that is about to request a confirmation sets the flag before it
            // checks for cancellation, so one of the two sees the other.
            entry.cancellation.cancel(StopCause::Cancelled);
            ConfirmationFlag::of(&entry.pins).0.load(SeqCst)
        });
        let may_have_requested_confirmation = flags.reduce(|one, other| one | other)?;
        Some(CancelOutcome { may_have_requested_confirmation })
    }

    /// Cancels the calls of these ids, of any user: their tasks have ended.
    pub fn cancel_calls(&self, calls: &[CallId]) {
        // Most tasks end without running calls.
        if calls.is_empty() {
            return;
        }
        let state = self.lock();
        for entry in state.entries.values().filter(|it| calls.contains(&it.call.info.call_id)) {
            entry.cancellation.cancel(StopCause::Cancelled);
        }
    }

    /// Cancels every call because the server is forced to stop.
    pub fn shut_down(&self) {
        for entry in self.lock().entries.values() {
            entry.cancellation.cancel(StopCause::Shutdown);
        }
    }

    pub async fn wait_until_empty(&self) {
        loop {
            // Before the check: a call that ends between the two has then notified this wait already.
            let emptied = self.emptied.notified();
            if self.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// The number of running calls, where a call and its detached work count separately.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Notifies the watches of a change, if any waits.
    fn notify(&self, state: &mut State) {
        if mem::take(&mut state.is_watched) {
            self.changed.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfirmationFlag {
    /// The flag that a call shares with all calls that it makes.
    pub(super) fn of(pins: &Pins) -> Arc<Self> {
        pins.get_or_pin(Arc::default)
    }

    /// Called before a confirmation is requested.
    pub(super) fn mark(&self) {
        self.0.store(true, SeqCst);
    }
}

impl CallSelector {
    pub fn selects(self, call: &CallInfo) -> bool {
        match self {
            Self::Call(call_id) => call.call_id == call_id,
            Self::Request(request_id) => call.request_id == Some(request_id),
        }
    }
}

impl Guard {
    pub(super) fn end(mut self, end: &CallResult, facts: &Facts) {
        self.outcome = Some(Outcome::of(end, facts));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut state = self.in_flight.lock();
        let Some(entry) = state.entries.remove(&self.key) else { return };
        let call_id = entry.call.info.call_id;
        if entry.part == Part::Call {
            // A call that is dropped before its end was abandoned by its caller.
            let outcome = self.outcome.take().unwrap_or_else(Outcome::abandoned);
            state.remember(entry.call, outcome, clock::now());
            self.in_flight.notify(&mut state);
        }
        // After the call is remembered as ended, since the waiters look it up.
        if !state.waiting.is_empty()
            && !state.is_running(call_id)
            && let Some(notify) = state.waiting.remove(&call_id)
        {
            notify.notify_waiters();
        }
        if state.entries.is_empty() {
            self.in_flight.emptied.notify_waiters();
        }
    }
}
