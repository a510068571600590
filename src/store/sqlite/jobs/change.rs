//! What changes of a job that runs: it says something, or ends.

use std::time::SystemTime;

use super::rows::Kept;
use crate::{
    jobs::{Ending, Said},
    sqlite::{Change, Failed, time::millis},
};

const SAY: &str = "INSERT INTO job_events (job, sequence, at, percent, step, message, call_id, is_last) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const END: &str = "UPDATE jobs SET state = ?2, error = ?3, result = ?4, ended_at = ?5 WHERE position = ?1";

const ADVANCE: &str = "UPDATE jobs SET next = next + 1, percent = ?2, step = ?3 WHERE position = ?1";

/// Adds an event. What a job says of how far it is never falls.
pub(super) async fn add(
    change: &mut Change,
    kept: &Kept,
    said: &Said,
    now: SystemTime,
    is_last: bool,
) -> Result<(), Failed> {
    let percent = said.percent.max(kept.job.percent).min(100);
    change.adds(said.message.len());
    sqlx::query(SAY)
        .bind(kept.position)
        .bind(i64::try_from(kept.job.next).unwrap_or(i64::MAX))
        .bind(millis(now))
        .bind(percent)
        .bind(&said.step)
        .bind(&said.message)
        .bind(&said.call_id)
        .bind(is_last)
        .execute(&mut **change)
        .await?;
    sqlx::query(ADVANCE).bind(kept.position).bind(percent).bind(&said.step).execute(&mut **change).await?;
    Ok(())
}

/// Ends a job that runs.
pub(super) async fn end(
    change: &mut Change,
    kept: &Kept,
    ending: &Ending,
    now: SystemTime,
) -> Result<(), Failed> {
    let said = ending.last_words(kept.job.percent, &kept.job.step);
    add(change, kept, &said, now, true).await?;
    change.adds(ending.result.len());
    let error = ending.error.as_ref().and_then(|error| serde_json::to_string(error).ok()).unwrap_or_default();
    let query = sqlx::query(END).bind(kept.position).bind(ending.state.into_str()).bind(error);
    query.bind(&ending.result).bind(millis(now)).execute(&mut **change).await?;
    Ok(())
}
