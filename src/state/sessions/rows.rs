//! The table `turns`.

use std::time::SystemTime;

use crate::sessions::{PastTurn, State, StoredTurn};
use toolwire_db::sql::{Statement, insert, record, select, sql, words};
use toolwire_tool::context::{RequestId, SessionId, UserId};

words!(State);

record!(StoredTurn, "turn", {
    user: "user_id", turn_id, session: "session_id", account, message, state, created_at, ended_at, answered, calls,
    tainted, reply, standing,
});

record!(PastTurn, "turn", { message, answered, calls, tainted });

/// A turn, and its position among all turns.
#[derive(Debug)]
pub(crate) struct Positioned {
    pub(crate) position: i64,
    pub(crate) turn: StoredTurn,
}

record!(Positioned, "turn", { position, turn: .. });

/// Inserts a turn, or replaces the one of its `turn_id`, which keeps its position and its beginning.
pub(crate) fn put(turn: &StoredTurn) -> Statement {
    let insert = insert! { turns:
        user_id = &turn.user, turn_id = turn.turn_id, session_id = &turn.session, account = &turn.account,
        message = &turn.message, state = turn.state, created_at = turn.created_at, ended_at = turn.ended_at,
        answered = &turn.answered, calls = &turn.calls, tainted = turn.tainted, reply = &turn.reply,
        standing = &turn.standing,
    };
    insert.and(
        " ON CONFLICT (user_id, turn_id) DO UPDATE SET session_id = excluded.session_id, account = excluded.account,
          message = excluded.message, state = excluded.state, ended_at = excluded.ended_at,
          answered = excluded.answered, calls = excluded.calls, tainted = excluded.tainted, reply = excluded.reply,
          standing = excluded.standing",
    )
}

/// Deletes the oldest turns beyond the newest of a session, and beyond the newest of its user.
pub(crate) fn trim(user: &UserId, session: &SessionId, (of_session, of_user): (u32, u32)) -> Statement {
    // One statement, since each costs a round trip to the thread of the database.
    sql!(
        "DELETE FROM turns WHERE position IN
          (SELECT position FROM turns WHERE user_id = {user} AND session_id = {session}
           ORDER BY position DESC LIMIT {i64::MAX} OFFSET {of_session})
         OR position IN (SELECT position FROM turns WHERE user_id = {user}
                         ORDER BY position DESC LIMIT {i64::MAX} OFFSET {of_user})"
    )
}

pub(crate) fn find(user: &UserId, id: RequestId) -> Statement<StoredTurn> {
    select!(StoredTurn, "FROM turns WHERE user_id = {user} AND turn_id = {id}")
}

/// The turns of a session that come after a position, the oldest first.
pub(crate) fn list(user: &UserId, session: &SessionId, after: i64, limit: u32) -> Statement<Positioned> {
    select!(
        Positioned,
        "FROM turns WHERE user_id = {user} AND session_id = {session} AND position > {after}
         ORDER BY position LIMIT {limit}"
    )
}

/// The turns of a session that ended, as context for later ones, the newest first.
pub(crate) fn list_past(user: &UserId, session: &SessionId, limit: u32) -> Statement<PastTurn> {
    select!(
        PastTurn,
        "FROM turns WHERE user_id = {user} AND session_id = {session} AND state = {State::Ended}
         ORDER BY position DESC LIMIT {limit}"
    )
}

/// The turns of a session, the one that ended last first.
pub(crate) fn list_by_end(user: &UserId, session: &SessionId, limit: u32) -> Statement<StoredTurn> {
    select!(
        StoredTurn,
        "FROM turns WHERE user_id = {user} AND session_id = {session}
         ORDER BY ended_at DESC, position DESC LIMIT {limit}"
    )
}

/// The paused turns of a session, the oldest first.
pub(crate) fn list_paused(user: &UserId, session: &SessionId) -> Statement<StoredTurn> {
    select!(
        StoredTurn,
        "FROM turns WHERE user_id = {user} AND session_id = {session} AND state = {State::Paused} ORDER BY position"
    )
}

/// Cancels a turn, if it is paused.
pub(crate) fn cancel_paused(user: &UserId, id: RequestId, now: SystemTime) -> Statement {
    sql!(
        "UPDATE turns SET state = {State::Cancelled}, ended_at = {now}, reply = {Vec::new()}, standing = ''
         WHERE user_id = {user} AND turn_id = {id} AND state = {State::Paused}"
    )
}

/// Deletes turns that ended at or before an instant.
pub(crate) fn delete_ended(before: SystemTime, limit: u32) -> Statement {
    sql!(
        "DELETE FROM turns WHERE position IN
         (SELECT position FROM turns WHERE ended_at <= {before} LIMIT {limit})"
    )
}
