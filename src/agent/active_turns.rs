//! The turns that run now: one a session, with bounds per user and in all.
//!
//! A repeat of a running turn reads the same events. Not here: turns that ended, which a store keeps.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use tokio_util::sync::CancellationToken;

use super::{
    TurnId,
    log::{Log, Reader},
};
use toolwire_contract::{Refusal, TurnRefusal};
use toolwire_tool::context::{SessionId, UserId};

/// The wait suggested to a caller whose turn is refused for a bound.
const RETRY_AFTER: Duration = Duration::from_secs(1);

type Turns = HashMap<(UserId, TurnId), Entry>;

/// The turns that run. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct ActiveTurns {
    turns: Arc<Mutex<Turns>>,
    most: usize,
    most_of_user: usize,
}

/// A turn that runs.
#[derive(Clone, Debug)]
pub struct Entry {
    pub session: SessionId,
    /// The content; `None` if the turn goes on from a pause.
    pub said: Option<TurnContent>,
    pub since: SystemTime,
    log: Arc<Log>,
    cancelled: CancellationToken,
}

/// The content of a turn: a repeat must have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnContent {
    pub message: String,
    /// The account; empty if none.
    pub account: String,
}

#[derive(Debug)]
pub enum Admission {
    /// The turn may begin.
    New(RunningTurn, Reader),
    Runs(Reader),
}

/// A running turn's entry, which is removed when this is dropped.
#[derive(Debug)]
pub struct RunningTurn {
    running: ActiveTurns,
    /// `None` once the entry is removed.
    key: Option<(UserId, TurnId)>,
    /// The events of the turn.
    pub log: Arc<Log>,
    /// Cancelled when the turn is no longer wanted.
    pub cancelled: CancellationToken,
}

impl ActiveTurns {
    /// At most this many turns at once, and at most this many of one user.
    pub fn new(most: u32, most_of_user: u32) -> Self {
        Self { turns: Arc::default(), most: most as usize, most_of_user: most_of_user as usize }
    }

    /// Adds a turn, or joins it if it runs already.
    pub fn enter(
        &self,
        user: &UserId,
        turn_id: TurnId,
        session: &SessionId,
        said: Option<TurnContent>,
        since: SystemTime,
    ) -> Result<Admission, Refusal> {
        // One lock over check and insertion: two equal requests must not both begin.
        let mut turns = self.lock();
        let key = (user.clone(), turn_id);
        if let Some(entry) = turns.get(&key) {
            return if entry.said == said {
                Ok(Admission::Runs(entry.log.read()))
            } else {
                Err(Refusal::RequestIdReused { request_id: turn_id.to_string() })
            };
        }
        // Only below the repeat, which joins even when a bound is reached.
        self.check_bounds(&turns, user, session)?;
        let (log, reader) = Log::new(turn_id.to_string());
        let cancelled = CancellationToken::new();
        let place = RunningTurn {
            running: self.clone(),
            key: Some(key.clone()),
            log: Arc::clone(&log),
            cancelled: cancelled.clone(),
        };
        turns.insert(key, Entry { session: session.clone(), said, since, log, cancelled });
        Ok(Admission::New(place, reader))
    }

    /// Refuses a second turn of a session, and turns beyond the bounds.
    fn check_bounds(&self, turns: &Turns, user: &UserId, session: &SessionId) -> Result<(), Refusal> {
        let own = turns.iter().filter(|((of, _), _)| of == user);
        if let Some(((_, other), _)) = own.clone().find(|(_, entry)| entry.session == *session) {
            return Err(TurnRefusal::Running { turn_id: other.to_string() }.into());
        }
        let is_own = own.count() >= self.most_of_user;
        if is_own || turns.len() >= self.most {
            return Err(TurnRefusal::TooMany { own: is_own, retry_after: RETRY_AFTER }.into());
        }
        Ok(())
    }

    /// A running turn of a user.
    pub fn get(&self, user: &UserId, turn_id: TurnId) -> Option<Entry> {
        self.lock().get(&(user.clone(), turn_id)).cloned()
    }

    /// The running turn of a user's session.
    pub fn of_session(&self, user: &UserId, session: &SessionId) -> Option<(TurnId, Entry)> {
        let turns = self.lock();
        let found = turns.iter().find(|((of, _), entry)| of == user && entry.session == *session);
        found.map(|((_, turn_id), entry)| (*turn_id, entry.clone()))
    }

    /// How many turns run.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no turn runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Reads what it says, from the first event on.
    pub fn read(&self) -> Reader {
        self.log.read()
    }

    pub fn cancel(&self) {
        self.cancelled.cancel();
    }
}

impl RunningTurn {
    /// Removes the turn, and returns its log for the last event: a reader that has seen the end can start another turn.
    pub fn leave(mut self) -> Arc<Log> {
        self.remove();
        Arc::clone(&self.log)
    }

    fn remove(&mut self) -> Option<TurnId> {
        let key = self.key.take()?;
        self.running.lock().remove(&key);
        Some(key.1)
    }
}

impl Drop for RunningTurn {
    fn drop(&mut self) {
        // Dropped without `leave`: the turn panicked.
        if let Some(turn_id) = self.remove() {
            self.log.refuse(Refusal::Internal { call_id: turn_id.to_string() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_tool::context::RequestId;

    fn said(message: &str) -> TurnContent {
        TurnContent { message: message.to_owned(), account: String::new() }
    }

    fn enter(
        running: &ActiveTurns,
        user: &str,
        turn: TurnId,
        session: &str,
        message: &str,
    ) -> Result<Admission, Refusal> {
        let (user, session) = (user.parse().unwrap(), session.parse().unwrap());
        running.enter(&user, turn, &session, Some(said(message)), SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn a_session_has_one_turn_at_a_time_and_a_repeat_joins_it() {
        let running = ActiveTurns::new(9, 9);
        let id = RequestId::generate();
        let Ok(Admission::New(place, _reader)) = enter(&running, "riley", id, "s", "a") else { panic!() };
        assert!(matches!(enter(&running, "riley", id, "s", "a"), Ok(Admission::Runs(_))));
        let reused = enter(&running, "riley", id, "s", "b").unwrap_err();
        assert!(matches!(reused, Refusal::RequestIdReused { .. }));
        let other = enter(&running, "riley", RequestId::generate(), "s", "a").unwrap_err();
        assert_eq!(other, TurnRefusal::Running { turn_id: id.to_string() }.into());
        // Another user's session of that name, and another user's turn of that name, are others.
        assert!(matches!(enter(&running, "sam", id, "s", "b"), Ok(Admission::New(..))));
        drop(place);
        assert!(matches!(enter(&running, "riley", RequestId::generate(), "s", "a"), Ok(Admission::New(..))));
    }

    #[test]
    fn one_user_leaves_room_for_others_and_all_have_a_bound() {
        let running = ActiveTurns::new(3, 2);
        let new = |user, session| enter(&running, user, RequestId::generate(), session, "a");
        let places: Vec<_> = ["s", "t"].map(|session| new("riley", session).unwrap()).into();
        let refused = |own| Err(Refusal::Turn(TurnRefusal::TooMany { own, retry_after: RETRY_AFTER }));
        assert_eq!(new("riley", "u").map(|_| ()), refused(true));
        let third = new("sam", "s").unwrap();
        assert_eq!(new("kim", "s").map(|_| ()), refused(false));
        drop((places, third));
        assert!(running.is_empty());
    }
}
