//! Transitions of a confirmation, each with the end of the call that waits for it. Not here: the entry in
//! the timeline of its task.

use super::rows::{COLUMNS, confirmation, note};
use crate::{
    audit::Verdict,
    confirmations::{
        Confirmation,
        life::{Event, Next, State},
    },
    sqlite::{Change, Failed, audit, calls, time::millis},
};
use toolwire_contract::{ConfirmationId, ErrorCode, ToolError};

const BECOME: &str = "UPDATE confirmations SET state = ?1, sequence = ?2, expires_at = ?3, \
     ended_at = CASE ?4 WHEN 1 THEN NULL ELSE ?5 END, reason = ?6, position = ?8 WHERE id = ?7";

pub(in crate::sqlite) async fn by_id(
    change: &mut Change,
    id: &ConfirmationId,
) -> Result<Option<Confirmation>, Failed> {
    let query = format!("SELECT {COLUMNS} FROM confirmations c WHERE c.id = ?");
    let row = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id.as_str()).fetch_optional(&mut **change).await?;
    row.as_ref().map(confirmation).transpose()
}

/// Brings a confirmation into another state, at one instant until another.
pub(in crate::sqlite) async fn transition(
    change: &mut Change,
    confirmation: &Confirmation,
    state: State,
    (at, expires_at): (i64, i64),
    reason: &str,
) -> Result<(), Failed> {
    let whose = (&confirmation.id, &confirmation.key.user);
    let (sequence, position) = note(change, whose, state, (at, expires_at), reason).await?;
    sqlx::query(BECOME)
        .bind(state.into_str())
        .bind(sequence)
        .bind(expires_at)
        .bind(state.is_open())
        .bind(at)
        .bind(reason)
        .bind(confirmation.id.as_str())
        .bind(position)
        .execute(&mut **change)
        .await?;
    Ok(())
}

/// The open confirmations of some tasks, which end: withdrawn, and nobody need be told but who waits for the calls.
pub(in crate::sqlite) async fn withdraw_of_tasks(
    change: &mut Change,
    tasks: &str,
    now: i64,
) -> Result<(), Failed> {
    let query = format!(
        "SELECT {COLUMNS} FROM confirmations c WHERE c.state IN ('pending', 'approved') \
         AND c.task_id IN (SELECT value FROM json_each(?))"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(query)).bind(tasks).fetch_all(&mut **change).await?;
    for row in &rows {
        end(change, &confirmation(row)?, Event::Cancel, "", now).await?;
    }
    Ok(())
}

/// A confirmation that is pending no more, and why its call is not carried out.
pub(in crate::sqlite) async fn decided_already(
    change: &mut Change,
    id: &ConfirmationId,
) -> Result<Option<(Confirmation, Option<ToolError>)>, Failed> {
    let found = by_id(change, id).await?.filter(|confirmation| confirmation.state != State::Pending);
    Ok(found.map(|confirmation| {
        let error = outcome(&confirmation, confirmation.state, &confirmation.reason);
        (confirmation, error)
    }))
}

/// Ends a confirmation otherwise than by being used, and the call that waits for it, unless that asks again. Returns
/// the outcome of that call, if it has one.
pub(in crate::sqlite) async fn end(
    change: &mut Change,
    confirmation: &Confirmation,
    event: Event,
    reason: &str,
    now: i64,
) -> Result<Option<ToolError>, Failed> {
    let Next::Becomes(state) = confirmation.state.on(event) else { return Ok(None) };
    let error = outcome(confirmation, state, reason);
    let why = match (&error, state) {
        (_, State::Denied) => reason,
        (Some(error), _) => &error.message,
        (None, _) => "The tool's definition changed",
    };
    transition(change, confirmation, state, (now, millis(confirmation.expires_at)), why).await?;
    let verdict = match state {
        State::Expired => Some(Verdict::Expired),
        State::Withdrawn => Some(Verdict::Withdrawn),
        State::Voided => Some(Verdict::Voided),
        // The decision itself writes its record.
        State::Pending | State::Approved | State::Used | State::Denied => None,
    };
    if let Some(verdict) = verdict {
        audit::came_to_nothing(change, confirmation, verdict, now).await?;
    }
    if let Some(error) = &error {
        calls::turn_down(change, &confirmation.key, &confirmation.id, error.clone(), now).await?;
    }
    Ok(error)
}

/// What a call comes to whose confirmation ended in this state.
fn outcome(confirmation: &Confirmation, state: State, reason: &str) -> Option<ToolError> {
    let expired = |what: &str| {
        let message = format!("{what}. Ask the user, then call again under a new request_id");
        Some(ToolError::new(ErrorCode::ConfirmationExpired, message))
    };
    match state {
        State::Denied => Some(ToolError::new(
            ErrorCode::ConfirmationDenied,
            format!("A person denied this call: {reason}"),
        )),
        State::Expired if confirmation.state == State::Approved => {
            expired("This call was approved, but was not made again in time")
        }
        State::Expired => expired("Nobody decided on this call in time"),
        State::Withdrawn => Some(ToolError::cancelled()),
        State::Pending | State::Approved | State::Used | State::Voided => None,
    }
}
