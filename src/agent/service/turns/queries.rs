//! Queries and cancels turns.

use std::time::SystemTime;

use super::{Begun, Turns, parse_id, pending, unknown};
use crate::TurnId;
use toolwire_contract::{Refusal, TurnRefusal};
use toolwire_server::service::unavailable::unavailable;
use toolwire_state::{
    cancellations::Subject,
    confirmations::CallRef,
    sessions::{State, StoredTurn},
};
use toolwire_tool::context::{SessionId, User, UserId};

/// Maximum number of turns per read.
const PAGE: u32 = 20;

/// A turn as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnView {
    Running {
        turn_id: TurnId,
        session: SessionId,
        /// The user's message; empty if the turn was resumed.
        message: String,
        since: SystemTime,
    },
    /// The turn ended or paused.
    Kept(Box<StoredTurn>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelTarget {
    Turn(String),
    /// Every turn that runs or waits in this session.
    Session(SessionId),
}

impl Turns {
    pub async fn get(&self, user: &User, id: &str) -> Result<TurnView, Refusal> {
        let turn_id = parse_id(id)?;
        if let Some(entry) = self.running.get(&user.id, turn_id) {
            let message = entry.said.map(|said| said.message).unwrap_or_default();
            return Ok(TurnView::Running { turn_id, session: entry.session, message, since: entry.since });
        }
        let kept = self.find_kept(user, turn_id).await?.ok_or_else(|| unknown(id))?;
        Ok(TurnView::Kept(Box::new(kept)))
    }

    /// The next turns of a session that are kept, after a position, the oldest first; and where those after them
    /// begin. The last page is empty.
    pub async fn page(
        &self,
        user: &User,
        session: &SessionId,
        after: i64,
    ) -> Result<(Vec<StoredTurn>, i64), Refusal> {
        let turns = self.parts.store.turns(&user.id, session, after, PAGE).await;
        let turns = turns.map_err(|error| unavailable(&error))?;
        let last = turns.last().map_or(after, |(position, _)| *position);
        Ok((turns.into_iter().map(|(_, turn)| turn).collect(), last))
    }

    /// The events of a running turn from the first on, or the end of one that ended or paused. A follower keeps the
    /// turn running.
    pub async fn follow(&self, user: &User, id: &str) -> Result<Begun, Refusal> {
        let turn_id = parse_id(id)?;
        if let Some(entry) = self.running.get(&user.id, turn_id) {
            return Ok(Begun::Runs(turn_id, entry.read()));
        }
        let kept = self.find_kept(user, turn_id).await?.ok_or_else(|| unknown(id))?;
        if kept.state == State::Cancelled {
            Err(TurnRefusal::Cancelled.into())
        } else {
            Ok(Begun::Kept(Box::new(kept)))
        }
    }

    /// The turns of a session that wait for persons, the oldest first.
    pub async fn waiting(&self, user: &User, session: &SessionId) -> Result<Vec<StoredTurn>, Refusal> {
        self.parts.store.paused_turns(&user.id, session).await.map_err(|error| unavailable(&error))
    }

    /// The turn of a session that runs.
    pub fn running_of(&self, user: &User, session: &SessionId) -> Option<TurnView> {
        let (turn_id, entry) = self.running.of_session(&user.id, session)?;
        let message = entry.said.map(|said| said.message).unwrap_or_default();
        Some(TurnView::Running { turn_id, session: entry.session, message, since: entry.since })
    }

    /// Cancels turns that run, with their calls, or wait, with their confirmations. Returns whether there were any.
    pub async fn cancel(&self, user: &User, which: &CancelTarget) -> Result<bool, Refusal> {
        match which {
            CancelTarget::Turn(id) => self.cancel_turn(user, id).await,
            CancelTarget::Session(session) => self.cancel_session(user, session).await,
        }
    }

    async fn cancel_turn(&self, user: &User, id: &str) -> Result<bool, Refusal> {
        let turn_id = parse_id(id)?;
        let was_running = self.cancel_running(user, &Subject::Turn(turn_id)).await?;
        match self.find_kept(user, turn_id).await? {
            Some(kept) if kept.state == State::Paused => {
                Ok(self.cancel_paused(user, &kept).await? || was_running)
            }
            Some(kept) => Ok(was_running || kept.state == State::Cancelled),
            None if was_running => Ok(true),
            None => Err(unknown(id)),
        }
    }

    async fn cancel_session(&self, user: &User, session: &SessionId) -> Result<bool, Refusal> {
        let mut cancelled = self.cancel_running(user, &Subject::Session(session.clone())).await?;
        let waiting = self.parts.store.paused_turns(&user.id, session).await;
        for turn in waiting.map_err(|error| unavailable(&error))? {
            cancelled |= self.cancel_paused(user, &turn).await?;
        }
        Ok(cancelled)
    }

    /// Cancels a turn that this process carries out, with its calls. Returns whether there was one.
    pub fn cancel_here(&self, user: &UserId, subject: &Subject) -> bool {
        let running = match subject {
            Subject::Turn(turn_id) => self.running.get(user, *turn_id),
            Subject::Session(session) => self.running.of_session(user, session).map(|(_, entry)| entry),
            Subject::Call(_) | Subject::Request(_) | Subject::Job(_) | Subject::ClientRequest(_) => None,
        };
        if let Some(entry) = &running {
            entry.cancel();
        }
        running.is_some()
    }

    /// Cancels a turn that runs in any process that shares the state. Returns whether there was one.
    async fn cancel_running(&self, user: &User, subject: &Subject) -> Result<bool, Refusal> {
        if self.cancel_here(&user.id, subject) {
            return Ok(true);
        }
        let cancelled = self.parts.store.cancel_elsewhere(&user.id, subject).await;
        cancelled.map_err(|error| unavailable(&error))
    }

    /// Cancels a paused turn, and withdraws the confirmations that it waits for.
    async fn cancel_paused(&self, user: &User, turn: &StoredTurn) -> Result<bool, Refusal> {
        let cancelled = self.parts.store.cancel_paused_turn(&user.id, turn.turn_id).await;
        let cancelled = cancelled.map_err(|error| unavailable(&error))?;
        for call in pending(turn) {
            if let Ok(request_id) = call.request_id.parse() {
                self.parts.confirmations.withdraw(user, CallRef::Request(request_id)).await?;
            }
        }
        Ok(cancelled)
    }
}
