//! What is counted of confirmations for their bounds, and when something of it ends.

use std::time::{Duration, SystemTime};

use crate::{
    Error, sql,
    sql::{Connection, Scalar},
};
use toolwire_tool::context::UserId;

/// Pending confirmations: those of a user, and all.
pub(crate) async fn count_pending(connection: &mut Connection, user: &UserId) -> Result<(u32, u32), Error> {
    sql! {
        "SELECT (SELECT count(*) FROM confirmations WHERE state = 'pending' AND user_id = ", user,
        "), (SELECT count(*) FROM confirmations WHERE state = 'pending')"
    }
    .one(connection)
    .await
}

/// When the first pending confirmation expires, of one user or of all.
pub(crate) async fn earliest_expiry(
    connection: &mut Connection,
    user: Option<&UserId>,
) -> Result<Option<SystemTime>, Error> {
    let mut expiry = sql!("SELECT min(expires_at) FROM confirmations WHERE state = 'pending'");
    if let Some(user) = user {
        expiry.push(" AND user_id = ").bind(user);
    }
    Ok(expiry.one::<Scalar<Option<SystemTime>>>(connection).await?.0)
}

/// The instant at which bytes are released next, of one user or of all: when the first open confirmation expires, or else
/// when the one that ended first is deleted, `kept` after its end.
pub(crate) async fn next_release(
    connection: &mut Connection,
    user: Option<&UserId>,
    kept: Duration,
) -> Result<Option<SystemTime>, Error> {
    let mut release =
        sql!("SELECT (SELECT min(expires_at) FROM confirmations WHERE state IN ('pending', 'approved')");
    if let Some(user) = user {
        release.push(" AND user_id = ").bind(user);
    }
    release.push("), (SELECT min(ended_at) FROM confirmations WHERE ended_at IS NOT NULL");
    if let Some(user) = user {
        release.push(" AND user_id = ").bind(user);
    }
    release.push(")");
    let (expiry, end): (Option<SystemTime>, Option<SystemTime>) = release.one(connection).await?;
    Ok(expiry.or(end.map(|end| end + kept)))
}
