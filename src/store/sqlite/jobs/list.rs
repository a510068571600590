//! Lists of jobs: a part at a time, the newest first.

use sqlx::{QueryBuilder, SqlitePool};

use super::rows;
use crate::{
    jobs::{Job, State},
    sqlite::Failed,
};
use toolwire_tool::context::UserId;

/// What is read of a job in a list. Its result stays where it is.
const COLUMNS: &str = "position, user_id, job_id, digest, kind, state, percent, step, created_at, deadline, ended_at, \
     next, error, '' AS result";

/// So many jobs of a user's before a place, in any of some states; in any at all if there is none.
pub(super) async fn of_user(
    readers: &SqlitePool,
    user: &UserId,
    states: &[State],
    (before, limit): (Option<u64>, u32),
) -> Result<Vec<(u64, Job)>, Failed> {
    let mut query = QueryBuilder::new(format!("SELECT {COLUMNS} FROM jobs WHERE user_id = "));
    query.push_bind(user.as_str());
    if let Some(before) = before {
        query.push(" AND position < ").push_bind(i64::try_from(before).unwrap_or(i64::MAX));
    }
    if !states.is_empty() {
        let mut words = query.push(" AND state IN (").separated(", ");
        for state in states {
            words.push_bind(state.into_str());
        }
        query.push(")");
    }
    query.push(" ORDER BY position DESC LIMIT ").push_bind(limit);
    let found = query.build().fetch_all(readers).await?;
    let listed = |row| {
        let kept = rows::kept(row)?;
        let position = u64::try_from(kept.position).map_err(|_| rows::unreadable("position"))?;
        Ok((position, kept.job))
    };
    found.iter().map(listed).collect()
}
