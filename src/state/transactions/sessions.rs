//! Turns of conversations: stored when they end or pause, recalled by later turns, cancelled while they are paused.

mod files;
mod rows;

use crate::{
    Store,
    sessions::{
        MAX_TURNS_PER_SESSION, MAX_TURNS_PER_USER, PastTurn, RETENTION, SessionLock, StoredTurn,
        rows as turns,
    },
};
use toolwire_db::{Durability, Lane, StoreError, scoped};
use toolwire_tool::context::{RequestId, SessionId, UserId};

/// Maximum number of turns deleted by one transaction, so that other transactions run in between.
const DELETED_AT_ONCE: u32 = 500;

impl Store {
    /// Acquires a session for one turn, unless another process holds it.
    pub async fn hold_session(
        &self,
        user: &UserId,
        session: &SessionId,
        turn_id: RequestId,
    ) -> Result<SessionLock, StoreError> {
        // First: a process that learns the name of the turn may ask this one to cancel it.
        let name = self.own_name().await?;
        match self.autocommit().await? {
            Some(connections) => {
                rows::hold((&self.database, &connections), &name, (user, session), turn_id).await
            }
            None => files::hold(self.directory(), user, session, turn_id),
        }
    }

    /// Inserts or replaces a turn, and deletes the oldest ones beyond the limits of the session and of the user.
    pub async fn keep_turn(&self, turn: &StoredTurn) -> Result<(), StoreError> {
        transact_without_clock!(self, Lane::User(&turn.user), Durability::Power, |tx| {
            turns::put(turn).run(tx).await?;
            turns::trim(&turn.user, &turn.session, (MAX_TURNS_PER_SESSION, MAX_TURNS_PER_USER)).run(tx).await
        })
    }

    pub async fn turn(&self, user: &UserId, id: RequestId) -> Result<Option<StoredTurn>, StoreError> {
        self.fetch_optional(turns::find(user, id)).await
    }

    /// The turns of a session after a position, in ascending order, each with its position.
    pub async fn turns(
        &self,
        user: &UserId,
        session: &SessionId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, StoredTurn)>, StoreError> {
        let turns = self.fetch_all(turns::list(user, session, after, limit)).await?;
        Ok(turns.into_iter().map(|it| (it.position, it.turn)).collect())
    }

    /// The newest answered turns of a session as context for a later one, in ascending order.
    pub async fn recall_turns(
        &self,
        user: &UserId,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<PastTurn>, StoreError> {
        let mut turns = self.fetch_all(turns::list_past(user, session, limit)).await?;
        turns.reverse();
        Ok(turns)
    }

    /// The turns of a session in any state, in descending order of their ends.
    pub async fn newest_turns(
        &self,
        user: &UserId,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<StoredTurn>, StoreError> {
        self.fetch_all(turns::list_by_end(user, session, limit)).await
    }

    /// The paused turns of a session, in ascending order.
    pub async fn paused_turns(
        &self,
        user: &UserId,
        session: &SessionId,
    ) -> Result<Vec<StoredTurn>, StoreError> {
        self.fetch_all(turns::list_paused(user, session)).await
    }

    /// Cancels a paused turn, and returns whether it was paused.
    pub async fn cancel_paused_turn(&self, user: &UserId, id: RequestId) -> Result<bool, StoreError> {
        let cancelled = self.transact(Lane::User(user), Durability::Power, |tx| {
            let cancel = turns::cancel_paused(user, id, tx.now());
            scoped(cancel.execute(tx))
        });
        Ok(cancelled.await? > 0)
    }

    /// Deletes some of the turns whose retention ([`RETENTION`]) is over, and returns whether there may be more.
    pub async fn sweep_turns(&self) -> Result<bool, StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            let delete = turns::delete_ended(tx.now() - RETENTION, DELETED_AT_ONCE);
            let deleted = delete.execute(tx).await?;
            Ok(deleted >= u64::from(DELETED_AT_ONCE))
        })
    }
}
