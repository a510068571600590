//! The keys of one signer, as a task of their own keeps them: renewed in time, and fetched when a token names a key
//! that is not among them. One fetch is under way at a time, and every token that waits for keys waits for it.
//!
//! Not here: how keys are fetched, and what they verify.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{
    select,
    sync::{Notify, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{Refusal, fetch::FetchError, jwk::KeySet};
use toolwire_base::clock;
use toolwire_telemetry::metric;

/// How long a fetch may take, the metadata included.
const FETCH: Duration = Duration::from_secs(5);
/// How old keys become before they are renewed.
const RENEWAL: Duration = Duration::from_mins(10);
/// How often tokens may cause a fetch.
pub(crate) const TURN: Duration = Duration::from_secs(30);
/// The same for keys of a file.
pub(crate) const TURN_OF_FILE: Duration = Duration::from_secs(1);
/// How long after a failure the next renewal is.
const RETRY: Duration = Duration::from_secs(30);
/// How long keys serve while their issuer is away.
const USABLE: Duration = Duration::from_hours(24);

/// Fetches keys once.
pub(crate) type Fetch = Box<dyn Fn() -> BoxFuture<'static, Result<KeySet, FetchError>> + Send + Sync>;

/// The keys of a signer. Dropped, they are fetched no more.
#[derive(Debug)]
pub(crate) struct Keys {
    state: watch::Sender<State>,
    wanted: Arc<Notify>,
    /// Demands a fetch whose turn it need not be.
    due: Arc<Notify>,
    _task: AbortOnDropHandle<()>,
}

/// The keys, and how current they are. Fetches are counted, so that "began after" does not depend on a clock.
#[derive(Clone, Debug)]
struct State {
    keys: Arc<KeySet>,
    /// Until when the keys may be used.
    usable_until: Instant,
    begun: u64,
    ended: u64,
    /// The keys at hand serve once this one has ended.
    needed: u64,
    has_failed: bool,
    /// From when on a token may cause a fetch.
    next_turn: Instant,
}

/// The keys at a moment, and how many fetches had begun by then.
pub(crate) struct Snapshot {
    pub(crate) keys: Arc<KeySet>,
    begun: u64,
}

impl Keys {
    /// Fetches keys from now on, under this name in logs and metrics. Tokens may cause a fetch once a turn.
    pub(crate) fn start(name: Arc<str>, turn: Duration, fetch: Fetch) -> Self {
        let now = clock::now();
        let state = watch::Sender::new(State::before_any_fetch(now));
        let (wanted, due) = (Arc::<Notify>::default(), Arc::<Notify>::default());
        let keeper = Keeper {
            name,
            turn,
            fetch,
            state: state.clone(),
            wanted: Arc::clone(&wanted),
            due: Arc::clone(&due),
            shown: None,
            fetched: now,
        };
        Self { state, wanted, due, _task: AbortOnDropHandle::new(tokio::spawn(keeper.run())) }
    }

    /// Has the keys fetched again now. Until then no token is verified; if that fails, those at hand serve.
    pub(crate) fn fetch_again(&self) {
        self.state.send_modify(|state| state.needed = state.begun + 1);
        self.due.notify_one();
    }

    /// The keys that may be used now.
    pub(crate) fn now(&self) -> Snapshot {
        self.state.borrow().snapshot()
    }

    /// The keys, once they have one of this name. A key is unknown if a fetch that began after the token came lacks
    /// it.
    pub(crate) async fn with_key(&self, kid: &str, at_arrival: &Snapshot) -> Result<Arc<KeySet>, Refusal> {
        let mut state = self.state.subscribe();
        loop {
            if let Some(outcome) = self.look(&state.borrow_and_update(), kid, at_arrival) {
                return outcome;
            }
            if state.changed().await.is_err() {
                return Err(Refusal::KeysUnavailable { retry_after: RETRY });
            }
        }
    }

    /// What the state means for a token; `None` if that is known after the fetch that is under way, or is wanted now.
    fn look(&self, state: &State, kid: &str, at_arrival: &Snapshot) -> Option<Result<Arc<KeySet>, Refusal>> {
        let keys = state.snapshot().keys;
        if keys.has(kid) {
            return Some(Ok(keys));
        }
        if state.is_under_way() {
            return None;
        }
        let wait = clock::remaining(state.next_turn);
        if state.begun > at_arrival.begun && !state.has_failed {
            return Some(Err(Refusal::UnknownKey));
        }
        // After a failure the issuer is asked no more for this token.
        if state.begun > at_arrival.begun || !wait.is_zero() {
            return Some(Err(Refusal::KeysUnavailable { retry_after: wait.max(Duration::from_secs(1)) }));
        }
        self.wanted.notify_one();
        None
    }
}

impl State {
    fn before_any_fetch(now: Instant) -> Self {
        Self {
            keys: Arc::default(),
            usable_until: now,
            begun: 0,
            ended: 0,
            // The first begins at once.
            needed: 1,
            has_failed: false,
            next_turn: now,
        }
    }

    fn is_under_way(&self) -> bool {
        self.ended < self.begun.max(self.needed)
    }

    fn snapshot(&self) -> Snapshot {
        let is_usable = self.ended >= self.needed && self.usable_until > clock::now();
        Snapshot { keys: if is_usable { Arc::clone(&self.keys) } else { Arc::default() }, begun: self.begun }
    }
}

/// The task that fetches.
struct Keeper {
    name: Arc<str>,
    turn: Duration,
    fetch: Fetch,
    state: watch::Sender<State>,
    wanted: Arc<Notify>,
    due: Arc<Notify>,
    /// The failure that the log shows last.
    shown: Option<FetchError>,
    /// When the keys that are at hand were fetched; before that, when the first fetch began.
    fetched: Instant,
}

impl Keeper {
    async fn run(mut self) {
        let mut renewal = clock::now();
        loop {
            let is_wanted = select! {
                biased;
                () = sleep_until(renewal) => false,
                () = self.due.notified() => false,
                () = self.wanted.notified() => true,
            };
            let now = clock::now();
            // Several tokens may have wanted the fetch that has ended meanwhile.
            if is_wanted && self.state.borrow().next_turn > now {
                continue;
            }
            self.state.send_modify(|state| {
                state.begun += 1;
                if is_wanted {
                    state.next_turn = now + self.turn;
                }
            });
            let fetched = timeout(FETCH, (self.fetch)()).await.unwrap_or(Err(FetchError::TimedOut));
            renewal = clock::now() + if fetched.is_ok() { RENEWAL } else { RETRY };
            if fetched.is_ok() {
                self.fetched = now;
            }
            metric::issuer_keys_age(&self.name, clock::now() - self.fetched);
            self.tell(fetched.as_ref().err());
            self.state.send_modify(|state| {
                state.ended = state.begun;
                state.has_failed = fetched.is_err();
                if let Ok(keys) = fetched {
                    state.keys = Arc::new(keys);
                    state.usable_until = now + USABLE;
                }
            });
        }
    }

    /// Logs what has changed since the last fetch.
    fn tell(&mut self, failure: Option<&FetchError>) {
        if self.shown.as_ref() == failure {
            return;
        }
        match failure {
            None => tracing::info!(issuer = &*self.name, "the keys of the issuer are fetched again"),
            Some(why) => tracing::warn!(
                issuer = &*self.name, %why,
                "the keys of the issuer cannot be fetched, which is tried each 30 s; those at hand serve for 24 h"
            ),
        }
        self.shown = failure.cloned();
    }
}

/// What is configured no longer is not old.
impl Drop for Keeper {
    fn drop(&mut self) {
        metric::issuer_keys_age(&self.name, Duration::ZERO);
    }
}
