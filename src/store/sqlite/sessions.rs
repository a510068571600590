//! Turns of conversations in SQLite: a row each.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    Durability, Failed, Sqlite, held_sessions,
    time::{instant, length, millis},
};
use crate::{
    StoreError,
    sessions::{Held, KEPT, KeptTurn, MOST_OF_SESSION, MOST_OF_USER, Remembered, Sessions},
};
use toolwire_tool::context::{RequestId, SessionId, UserId};

const KEEP: &str = "INSERT INTO turns (user_id, turn_id, session_id, account, message, state, created_at, ended_at, \
     answered, calls, tainted, reply, standing) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
     ON CONFLICT (user_id, turn_id) DO UPDATE SET session_id = ?3, account = ?4, message = ?5, state = ?6, ended_at = ?8, \
     answered = ?9, calls = ?10, tainted = ?11, reply = ?12, standing = ?13";

/// One statement, since each is a way to the thread of the database and back.
const TRIM: &str = "DELETE FROM turns WHERE position IN (\
     SELECT * FROM (SELECT position FROM turns WHERE user_id = ?1 AND session_id = ?2 \
     ORDER BY position DESC LIMIT -1 OFFSET ?3) UNION ALL \
     SELECT * FROM (SELECT position FROM turns WHERE user_id = ?1 ORDER BY position DESC LIMIT -1 OFFSET ?4))";

const FIND: &str = "SELECT * FROM turns WHERE user_id = ? AND turn_id = ?";

const LIST: &str =
    "SELECT * FROM turns WHERE user_id = ? AND session_id = ? AND position > ? ORDER BY position LIMIT ?";

const REMEMBERED: &str = "SELECT message, answered, calls, tainted FROM turns \
     WHERE user_id = ? AND session_id = ? AND state = 'ended' ORDER BY position DESC LIMIT ?";

const NEWEST: &str = "SELECT * FROM turns WHERE user_id = ? AND session_id = ? \
     ORDER BY ended_at DESC, position DESC LIMIT ?";

const PAUSED: &str =
    "SELECT * FROM turns WHERE user_id = ? AND session_id = ? AND state = 'paused' ORDER BY position";

const CANCEL: &str = "UPDATE turns SET state = 'cancelled', ended_at = ?, reply = x'', standing = '' \
     WHERE user_id = ? AND turn_id = ? AND state = 'paused'";

/// So many rows are forgotten at once, so that others change something meanwhile.
const SWEPT: u32 = 500;

const SWEEP: &str =
    "DELETE FROM turns WHERE position IN (SELECT position FROM turns WHERE ended_at <= ? LIMIT ?)";

impl Sessions for Sqlite {
    fn hold_session(
        &self,
        user: &UserId,
        session: &SessionId,
        turn_id: RequestId,
    ) -> Result<Held, StoreError> {
        // Others that are told of its turn can reach it from now on.
        self.replica.id(&self.place)?;
        held_sessions::hold(&self.place, user, session, turn_id)
    }

    fn keep_turn<'a>(&'a self, turn: &'a KeptTurn) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.kept_turn(turn).await) })
    }

    fn turn<'a>(
        &'a self,
        user: &'a UserId,
        turn_id: RequestId,
    ) -> BoxFuture<'a, Result<Option<KeptTurn>, StoreError>> {
        Box::pin(async move { self.explain(self.found_turn(user, turn_id).await) })
    }

    fn turns<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
        after: i64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<(i64, KeptTurn)>, StoreError>> {
        Box::pin(async move { self.explain(self.listed_turns(user, session, after, limit).await) })
    }

    fn remembered<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Remembered>, StoreError>> {
        Box::pin(async move { self.explain(self.remembered_turns(user, session, limit).await) })
    }

    fn newest_turns<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<KeptTurn>, StoreError>> {
        Box::pin(async move { self.explain(self.turns_by_end(user, session, limit).await) })
    }

    fn paused<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
    ) -> BoxFuture<'a, Result<Vec<KeptTurn>, StoreError>> {
        Box::pin(async move { self.explain(self.paused_turns(user, session).await) })
    }

    fn cancel_paused<'a>(
        &'a self,
        user: &'a UserId,
        turn_id: RequestId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { self.explain(self.cancelled_turn(user, turn_id, now).await) })
    }

    fn sweep_turns(&self, now: SystemTime) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move { self.explain(self.swept_turns(now).await) })
    }
}

impl Sqlite {
    async fn kept_turn(&self, turn: &KeptTurn) -> Result<(), Failed> {
        let mut change = self.change(Durability::Power).await?;
        sqlx::query(KEEP)
            .bind(turn.user.as_str())
            .bind(turn.turn_id.as_bytes().as_slice())
            .bind(turn.session.as_str())
            .bind(&turn.account)
            .bind(&turn.message)
            .bind(turn.state.into_str())
            .bind(millis(turn.created_at))
            .bind(millis(turn.ended_at))
            .bind(&turn.answered)
            .bind(&turn.calls)
            .bind(turn.tainted)
            .bind(&turn.reply)
            .bind(&turn.standing)
            .execute(&mut *change)
            .await?;
        let beyond = sqlx::query(TRIM).bind(turn.user.as_str()).bind(turn.session.as_str());
        beyond.bind(MOST_OF_SESSION).bind(MOST_OF_USER).execute(&mut *change).await?;
        change.commit().await
    }

    async fn found_turn(&self, user: &UserId, turn_id: RequestId) -> Result<Option<KeptTurn>, Failed> {
        let query = sqlx::query(FIND).bind(user.as_str()).bind(turn_id.as_bytes().as_slice());
        query.fetch_optional(self.readers().await?).await?.as_ref().map(turn).transpose()
    }

    async fn listed_turns(
        &self,
        user: &UserId,
        session: &SessionId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, KeptTurn)>, Failed> {
        let query = sqlx::query(LIST).bind(user.as_str()).bind(session.as_str()).bind(after).bind(limit);
        let rows = query.fetch_all(self.readers().await?).await?;
        rows.iter().map(|row| Ok((row.try_get("position")?, turn(row)?))).collect()
    }

    async fn remembered_turns(
        &self,
        user: &UserId,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<Remembered>, Failed> {
        let query = sqlx::query(REMEMBERED).bind(user.as_str()).bind(session.as_str()).bind(limit);
        let rows = query.fetch_all(self.readers().await?).await?;
        let of = |row: &SqliteRow| {
            Ok(Remembered {
                message: row.try_get("message")?,
                answered: row.try_get("answered")?,
                calls: row.try_get("calls")?,
                tainted: row.try_get("tainted")?,
            })
        };
        rows.iter().rev().map(of).collect()
    }

    async fn turns_by_end(
        &self,
        user: &UserId,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<KeptTurn>, Failed> {
        let query = sqlx::query(NEWEST).bind(user.as_str()).bind(session.as_str()).bind(limit);
        query.fetch_all(self.readers().await?).await?.iter().map(turn).collect()
    }

    async fn paused_turns(&self, user: &UserId, session: &SessionId) -> Result<Vec<KeptTurn>, Failed> {
        let query = sqlx::query(PAUSED).bind(user.as_str()).bind(session.as_str());
        query.fetch_all(self.readers().await?).await?.iter().map(turn).collect()
    }

    async fn cancelled_turn(
        &self,
        user: &UserId,
        turn_id: RequestId,
        now: SystemTime,
    ) -> Result<bool, Failed> {
        let mut change = self.change(Durability::Power).await?;
        let cancelled = sqlx::query(CANCEL)
            .bind(millis(now))
            .bind(user.as_str())
            .bind(turn_id.as_bytes().as_slice())
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(cancelled.rows_affected() > 0)
    }

    async fn swept_turns(&self, now: SystemTime) -> Result<bool, Failed> {
        let mut change = self.change(Durability::Process).await?;
        let before = millis(now).saturating_sub(length(KEPT));
        let swept = sqlx::query(SWEEP).bind(before).bind(SWEPT).execute(&mut *change).await?;
        change.commit().await?;
        Ok(swept.rows_affected() >= u64::from(SWEPT))
    }
}

fn turn(row: &SqliteRow) -> Result<KeptTurn, Failed> {
    let state: String = row.try_get("state")?;
    let id: Vec<u8> = row.try_get("turn_id")?;
    Ok(KeptTurn {
        user: row.try_get::<String, _>("user_id")?.parse().map_err(|_| unreadable("user_id"))?,
        turn_id: id.try_into().map(RequestId::from_bytes).map_err(|_| unreadable("turn_id"))?,
        session: row.try_get::<String, _>("session_id")?.parse().map_err(|_| unreadable("session_id"))?,
        account: row.try_get("account")?,
        message: row.try_get("message")?,
        state: state.parse().map_err(|_| unreadable("state"))?,
        created_at: instant(row.try_get("created_at")?),
        ended_at: instant(row.try_get("ended_at")?),
        answered: row.try_get("answered")?,
        calls: row.try_get("calls")?,
        tainted: row.try_get("tainted")?,
        reply: row.try_get("reply")?,
        standing: row.try_get("standing")?,
    })
}

fn unreadable(column: &str) -> Failed {
    Failed::Store(StoreError::Unreadable { what: "turn", cause: format!("its column {column}") })
}
