//! Exclusive use of sessions across processes, as rows that name the process: that of one that has ended is free.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::sessions::{SessionGuard, SessionLock};
use toolwire_db::{
    Autocommit, Database, Error, StoreError,
    sql::{Statement, sql},
};
use toolwire_tool::context::{RequestId, SessionId, UserId};

/// A row, which is deleted when it is dropped.
#[derive(Debug)]
struct Row {
    connections: Autocommit,
    turn_id: String,
    session: String,
    user: String,
}

/// Acquires a session for one turn, unless a live process holds it.
pub(crate) async fn hold(
    (database, connections): (&Database, &Autocommit),
    replica: &Arc<str>,
    (user, session): (&UserId, &SessionId),
    turn_id: RequestId,
) -> Result<SessionLock, StoreError> {
    let held = take((database, connections), replica, (user.as_str(), session.as_str()), turn_id);
    connections.explain(Box::pin(held).await)
}

async fn take(
    (database, connections): (&Database, &Autocommit),
    replica: &Arc<str>,
    (user, session): (&str, &str),
    turn_id: RequestId,
) -> Result<SessionLock, Error> {
    let turn_id = turn_id.to_string();
    let mut ended = String::new();
    loop {
        // Unless a row names a process that has not ended.
        let take = sql!(
            "INSERT INTO held_sessions (user_id, session_id, turn_id, replica)
             VALUES ({user}, {session}, {&*turn_id}, {&**replica}) ON CONFLICT (user_id, session_id) DO UPDATE
             SET turn_id = excluded.turn_id, replica = excluded.replica WHERE held_sessions.replica = {&*ended}"
        );
        if take.execute(&mut connections.connection().await?).await? > 0 {
            let (user, session) = (user.to_owned(), session.to_owned());
            let row = Row { connections: connections.clone(), turn_id, session, user };
            return Ok(SessionLock::Acquired(SessionGuard { guard: Some(Box::new(row)) }));
        }
        let holder: Statement<(String, String)> = sql!(
            "SELECT turn_id, replica FROM held_sessions WHERE user_id = {user} AND session_id = {session}"
        );
        // Without a row it was released meanwhile.
        if let Some((holder, of)) = holder.optional(&mut connections.connection().await?).await? {
            if !database.is_gone(&of).await? {
                return Ok(SessionLock::HeldBy(holder));
            }
            ended = of;
        }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let Self { connections, turn_id, session, user } = self;
        let delete = sql!(
            "DELETE FROM held_sessions WHERE user_id = {&**user} AND session_id = {&**session}
             AND turn_id = {&**turn_id}"
        );
        let connections = connections.clone();
        runtime.spawn(async move {
            let deleted = async { delete.run(&mut connections.connection().await?).await };
            if let Err(error) = deleted.await {
                tracing::warn!(?error, "a session stays held until this process ends");
            }
        });
    }
}
