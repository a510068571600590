//! The calls that are running now, so that `CancelCall` finds them, and those that ended last, so that others can look
//! at them.

mod known;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use futures_util::future::{Either, pending};
use tokio::sync::Notify;

pub use self::known::{End, EndedCall, RunningCall, Seen};
use super::{Call, CallResult};
use toolwire_contract::ErrorCode;
use toolwire_tool::context::{CallId, Cancellation, Pins, RequestId, StopCause, UserId};

/// So many calls that ended are remembered.
const MOST_ENDED: usize = 10_000;

/// The running calls. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    running: Arc<Mutex<Running>>,
    emptied: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    entries: HashMap<u64, Entry>,
    ended: VecDeque<EndedCall>,
    /// Those who wait for the end of a call.
    waiting: HashMap<CallId, Arc<Notify>>,
}

#[derive(Debug)]
struct Entry {
    call: RunningCall,
    cancellation: Cancellation,
    pins: Pins,
    part: Part,
}

/// What of a call is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The call, until its caller has its end.
    Call,
    /// Its work, which may outlive the call.
    Work,
}

/// Whether a call, or one that it made, may have asked a person.
#[derive(Debug, Default)]
pub(super) struct Asked(AtomicBool);

/// Calls that were cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// Whether one of them may have asked a person, who need not decide any more.
    pub may_have_asked: bool,
}

/// Keeps a call in the list for as long as it runs.
#[derive(Debug)]
pub struct Guard {
    in_flight: InFlight,
    key: u64,
    /// How it ended, once it has.
    end: Option<End>,
}

/// Which call to cancel.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    Call(CallId),
    /// The call that was made with this identifier.
    Request(RequestId),
}

impl InFlight {
    /// Lists a call until the guard is dropped.
    pub fn enter(&self, call: &Call, cancellation: Cancellation, part: Part) -> Guard {
        let (pins, call) = (call.context.pins.clone(), RunningCall::of(call));
        let mut running = self.lock();
        let key = running.next;
        running.next += 1;
        running.entries.insert(key, Entry { call, cancellation, pins, part });
        Guard { in_flight: self.clone(), key, end: None }
    }

    /// The running calls that pass, and of those that ended last the ones that do.
    pub fn known(&self, passes: impl Fn(&Seen) -> bool) -> (Vec<RunningCall>, Vec<EndedCall>) {
        let running = self.lock();
        // The work of a call is known by the call's id, and its caller may be gone.
        let now: HashMap<_, _> = running
            .entries
            .values()
            .map(|it| (it.call.seen.call_id, &it.call))
            .filter(|it| passes(&it.1.seen))
            .collect();
        let ended = running.ended.iter().filter(|it| passes(&it.seen)).cloned().collect();
        (now.into_values().cloned().collect(), ended)
    }

    /// Whether the call of this id, or its work, is running here.
    pub fn is_running(&self, call_id: CallId) -> bool {
        self.lock().is_running(call_id)
    }

    /// Waits until the call of this id ends here: for ever if it does not run here.
    pub async fn ended(&self, call_id: CallId) {
        let notify;
        let ended;
        {
            let mut running = self.lock();
            if running.is_running(call_id) {
                notify = Arc::clone(running.waiting.entry(call_id).or_default());
                // From now on it is told, although it does not wait yet.
                ended = Either::Left(notify.notified());
            } else {
                ended = Either::Right(pending());
            }
        }
        ended.await;
    }

    /// Cancels a user's own call; `None` if there is none.
    pub fn cancel(&self, user: &UserId, which: Which) -> Option<Cancelled> {
        let running = self.lock();
        let is_meant = |entry: &&Entry| entry.call.seen.user == *user && entry.is(which);
        let asked = running.entries.values().filter(is_meant).map(|entry| {
            // First: whoever is about to ask marks that first, and then looks whether it is cancelled.
            entry.cancellation.cancel(StopCause::Cancelled);
            Asked::of(&entry.pins).0.load(SeqCst)
        });
        let may_have_asked = asked.reduce(|one, other| one | other)?;
        Some(Cancelled { may_have_asked })
    }

    /// Cancels the calls of these ids, whoever made them: their tasks have ended.
    pub fn cancel_calls(&self, calls: &[CallId]) {
        // Most ends stop nothing.
        if calls.is_empty() {
            return;
        }
        let running = self.lock();
        for entry in running.entries.values().filter(|it| calls.contains(&it.call.seen.call_id)) {
            entry.cancellation.cancel(StopCause::Cancelled);
        }
    }

    /// Tells every call that the server is forced to end.
    pub fn shut_down(&self) {
        for entry in self.lock().entries.values() {
            entry.cancellation.cancel(StopCause::Shutdown);
        }
    }

    /// Waits until no call is running.
    pub async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// How many calls are running.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether no call is running.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// That of the call of these pins and of all that it makes.
    pub(super) fn of(pins: &Pins) -> Arc<Self> {
        pins.get_or_pin(Arc::default)
    }

    /// A person is about to be asked.
    pub(super) fn mark(&self) {
        self.0.store(true, SeqCst);
    }
}

impl Entry {
    fn is(&self, which: Which) -> bool {
        match which {
            Which::Call(call_id) => self.call.seen.call_id == call_id,
            Which::Request(request_id) => self.call.seen.request_id == Some(request_id),
        }
    }
}

impl Guard {
    pub(super) fn end(mut self, end: &CallResult) {
        self.end = Some(End::from(end));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut running = self.in_flight.lock();
        let Some(entry) = running.entries.remove(&self.key) else { return };
        let call_id = entry.call.seen.call_id;
        if entry.part == Part::Call {
            // Whoever drops a call that has not ended is gone.
            running.remember(entry.call, self.end.unwrap_or(End::Error(ErrorCode::Cancelled)));
        }
        if !running.waiting.is_empty()
            && !running.is_running(call_id)
            && let Some(notify) = running.waiting.remove(&call_id)
        {
            notify.notify_waiters();
        }
        if running.entries.is_empty() {
            self.in_flight.emptied.notify_waiters();
        }
    }
}

impl Running {
    fn is_running(&self, call_id: CallId) -> bool {
        self.entries.values().any(|entry| entry.call.seen.call_id == call_id)
    }

    /// Calls that were refused before their tool was known are in the log only.
    fn remember(&mut self, call: RunningCall, end: End) {
        let Some(ended) = call.ended(end) else { return };
        if self.ended.len() >= MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(ended);
    }
}
