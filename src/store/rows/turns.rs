//! The table `turns`.

use std::time::SystemTime;

use crate::{
    Error, select,
    sessions::{KeptTurn, Remembered, State},
    sql,
    sql::{Connection, Statement, record, words},
};
use toolwire_tool::context::{RequestId, SessionId, UserId};

words!(State);

record!(KeptTurn, "turn", {
    user: "user_id", turn_id, session: "session_id", account, message, state, created_at, ended_at, answered, calls,
    tainted, reply, standing,
});

record!(Remembered, "turn", { message, answered, calls, tainted });

/// A turn and its place in the order of all.
#[derive(Debug)]
pub(crate) struct Positioned {
    pub(crate) position: i64,
    pub(crate) turn: KeptTurn,
}

record!(Positioned, "turn", { position, turn: .. });

/// Inserts a turn, or replaces the one of its name, whose position and beginning stay.
pub(crate) async fn put(connection: &mut Connection, turn: &KeptTurn) -> Result<(), Error> {
    let columns = [
        ("user_id", (&turn.user).into()),
        ("turn_id", turn.turn_id.into()),
        ("session_id", (&turn.session).into()),
        ("account", (&turn.account).into()),
        ("message", (&turn.message).into()),
        ("state", turn.state.into()),
        ("created_at", turn.created_at.into()),
        ("ended_at", turn.ended_at.into()),
        ("answered", (&turn.answered).into()),
        ("calls", (&turn.calls).into()),
        ("tainted", turn.tainted.into()),
        ("reply", (&turn.reply).into()),
        ("standing", (&turn.standing).into()),
    ];
    let mut put = Statement::insert("turns", columns);
    put.push(
        " ON CONFLICT (user_id, turn_id) DO UPDATE SET session_id = excluded.session_id, \
         account = excluded.account, message = excluded.message, state = excluded.state, \
         ended_at = excluded.ended_at, answered = excluded.answered, calls = excluded.calls, \
         tainted = excluded.tainted, reply = excluded.reply, standing = excluded.standing",
    );
    put.execute(connection).await?;
    Ok(())
}

/// Deletes the oldest turns beyond the newest of a session, and beyond the newest of its user.
pub(crate) async fn trim(
    connection: &mut Connection,
    user: &UserId,
    session: &SessionId,
    (of_session, of_user): (u32, u32),
) -> Result<(), Error> {
    // One statement, since each is a trip to the thread of the database and back.
    let trim = sql! {
        "DELETE FROM turns WHERE position IN (SELECT position FROM turns WHERE user_id = ", user,
        " AND session_id = ", session,
        " ORDER BY position DESC LIMIT ", i64::MAX,
        " OFFSET ", of_session,
        ") OR position IN (SELECT position FROM turns WHERE user_id = ", user,
        " ORDER BY position DESC LIMIT ", i64::MAX,
        " OFFSET ", of_user,
        ")"
    };
    trim.execute(connection).await?;
    Ok(())
}

pub(crate) async fn find(
    connection: &mut Connection,
    user: &UserId,
    id: RequestId,
) -> Result<Option<KeptTurn>, Error> {
    select!(KeptTurn, "FROM turns WHERE user_id = ", user, " AND turn_id = ", id).optional(connection).await
}

/// The turns of a session that come after a position, the oldest first.
pub(crate) async fn list(
    connection: &mut Connection,
    user: &UserId,
    session: &SessionId,
    after: i64,
    limit: u32,
) -> Result<Vec<Positioned>, Error> {
    let list = select! {
        Positioned, "FROM turns WHERE user_id = ", user,
        " AND session_id = ", session,
        " AND position > ", after,
        " ORDER BY position LIMIT ", limit
    };
    list.all(connection).await
}

/// What is remembered of the turns of a session that ended, the newest first.
pub(crate) async fn list_remembered(
    connection: &mut Connection,
    user: &UserId,
    session: &SessionId,
    limit: u32,
) -> Result<Vec<Remembered>, Error> {
    let list = select! {
        Remembered, "FROM turns WHERE user_id = ", user,
        " AND session_id = ", session,
        " AND state = ", State::Ended,
        " ORDER BY position DESC LIMIT ", limit
    };
    list.all(connection).await
}

/// The turns of a session, the one that ended last first.
pub(crate) async fn list_by_end(
    connection: &mut Connection,
    user: &UserId,
    session: &SessionId,
    limit: u32,
) -> Result<Vec<KeptTurn>, Error> {
    let list = select! {
        KeptTurn, "FROM turns WHERE user_id = ", user,
        " AND session_id = ", session,
        " ORDER BY ended_at DESC, position DESC LIMIT ", limit
    };
    list.all(connection).await
}

/// The paused turns of a session, the oldest first.
pub(crate) async fn list_paused(
    connection: &mut Connection,
    user: &UserId,
    session: &SessionId,
) -> Result<Vec<KeptTurn>, Error> {
    let list = select! {
        KeptTurn, "FROM turns WHERE user_id = ", user,
        " AND session_id = ", session,
        " AND state = ", State::Paused,
        " ORDER BY position"
    };
    list.all(connection).await
}

/// Cancels a turn that is paused, and returns whether it was.
pub(crate) async fn cancel_paused(
    connection: &mut Connection,
    user: &UserId,
    id: RequestId,
    now: SystemTime,
) -> Result<bool, Error> {
    let cancel = sql! {
        "UPDATE turns SET state = ", State::Cancelled,
        ", ended_at = ", now,
        ", reply = ", Vec::new(),
        ", standing = '' WHERE user_id = ", user,
        " AND turn_id = ", id,
        " AND state = ", State::Paused
    };
    Ok(cancel.execute(connection).await? > 0)
}

/// Deletes turns that ended at or before an instant, and returns how many.
pub(crate) async fn delete_ended(
    connection: &mut Connection,
    before: SystemTime,
    limit: u32,
) -> Result<u64, Error> {
    let delete = sql! {
        "DELETE FROM turns WHERE position IN (SELECT position FROM turns WHERE ended_at <= ", before,
        " LIMIT ", limit,
        ")"
    };
    delete.execute(connection).await
}
