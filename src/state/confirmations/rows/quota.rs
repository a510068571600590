//! Counts of confirmations for their quotas, and the instants at which a quota is released.

use std::time::{Duration, SystemTime};

use toolwire_db::{
    Error,
    sql::{Connection, Statement, sql},
};
use toolwire_tool::context::UserId;

/// The number of pending confirmations: those of a user, and all.
pub(crate) fn count_pending(user: &UserId) -> Statement<(u32, u32)> {
    sql!(
        "SELECT (SELECT count(*) FROM confirmations WHERE state = 'pending' AND user_id = {user}),
                (SELECT count(*) FROM confirmations WHERE state = 'pending')"
    )
}

/// When the first pending confirmation expires, of a user or of all users.
pub(crate) fn earliest_expiry(user: Option<&UserId>) -> Statement<Option<SystemTime>> {
    sql!("SELECT min(expires_at) FROM confirmations WHERE state = 'pending'").when(" AND user_id = ", user)
}

/// The instant at which bytes are released next, of a user or of all users: when the first open confirmation expires;
/// without one, when the confirmation that ended first is deleted, `retention` after its end.
pub(crate) async fn next_release(
    db: &mut Connection,
    user: Option<&UserId>,
    retention: Duration,
) -> Result<Option<SystemTime>, Error> {
    let of_user = || Statement::default().when(" AND user_id = ", user);
    let release: Statement<(Option<SystemTime>, Option<SystemTime>)> = sql!(
        "SELECT (SELECT min(expires_at) FROM confirmations WHERE state IN ('pending', 'approved'){..of_user()}),
                (SELECT min(ended_at) FROM confirmations WHERE ended_at IS NOT NULL{..of_user()})"
    );
    let (expiry, end) = release.one(db).await?;
    Ok(expiry.or(end.map(|end| end + retention)))
}
