//! Exclusive use of sessions across processes, as rows that name the process: that of one that has ended is free.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::runtime::Handle;

use super::{connect::Database, error};
use crate::{
    StoreError,
    sessions::{SessionGuard, SessionLock},
};
use toolwire_tool::context::{RequestId, SessionId, UserId};

/// Takes the session unless a row names another process than `$5`, which has ended.
const TAKE: &str = "INSERT INTO held_sessions (user_id, session_id, turn_id, replica) VALUES ($1, $2, $3, $4) \
                    ON CONFLICT (user_id, session_id) DO UPDATE SET turn_id = excluded.turn_id, \
                    replica = excluded.replica \
                    WHERE held_sessions.replica = $5";

const HOLDER: &str = "SELECT turn_id, replica FROM held_sessions WHERE user_id = $1 AND session_id = $2";

/// A row, which is deleted when it is dropped.
#[derive(Debug)]
struct Row {
    pool: PgPool,
    turn_id: String,
    session: String,
    user: String,
}

/// Acquires a session for one turn, unless a live process holds it.
pub(crate) async fn hold(
    database: &Database,
    replica: &Arc<str>,
    (user, session): (&UserId, &SessionId),
    turn_id: RequestId,
) -> Result<SessionLock, StoreError> {
    let held = database.away().or(take(database, replica, (user.as_str(), session.as_str()), turn_id)).await;
    held.map_err(|error| error::unusable(database.address(), &error))
}

async fn take(
    database: &Database,
    replica: &Arc<str>,
    (user, session): (&str, &str),
    turn_id: RequestId,
) -> Result<SessionLock, sqlx::Error> {
    let pool = database.pool();
    let turn_id = turn_id.to_string();
    let mut ended = String::new();
    loop {
        let take = sqlx::query(TAKE).bind(user).bind(session).bind(&turn_id).bind(&**replica).bind(&ended);
        if take.execute(pool).await?.rows_affected() > 0 {
            let (user, session) = (user.to_owned(), session.to_owned());
            let row = Row { pool: pool.clone(), turn_id, session, user };
            return Ok(SessionLock::Acquired(SessionGuard { guard: Some(Box::new(row)) }));
        }
        let holder = sqlx::query_as::<_, (String, String)>(HOLDER).bind(user).bind(session);
        // Without a row it was released meanwhile.
        if let Some((holder, of)) = holder.fetch_optional(pool).await? {
            if !database.presence.is_gone(pool, &of).await? {
                return Ok(SessionLock::HeldBy(holder));
            }
            ended = of;
        }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let Self { pool, turn_id, session, user } = self;
        let delete =
            sqlx::query("DELETE FROM held_sessions WHERE user_id = $1 AND session_id = $2 AND turn_id = $3")
                .bind(std::mem::take(user))
                .bind(std::mem::take(session))
                .bind(std::mem::take(turn_id));
        let pool = pool.clone();
        runtime.spawn(async move {
            if let Err(error) = delete.execute(&pool).await {
                tracing::warn!(%error, "a session stays held until this process ends");
            }
        });
    }
}
