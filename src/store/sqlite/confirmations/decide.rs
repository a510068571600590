//! What becomes of confirmations that were asked for: decided, withdrawn, expired, forgotten.

use std::time::SystemTime;

use super::rows::{COLUMNS, confirmation, note};
use crate::{
    context::UserId,
    contract::{ConfirmationId, ErrorCode, ToolError},
    store::{
        confirmations::{
            ARGUMENTS_KEPT, Confirmation, Decision, EVENTS_KEPT, Of, Outcome, Verdict,
            life::{Event, Next, State},
        },
        sqlite::{
            Change, Durability, Failed, Sqlite, audit, calls,
            time::{length, millis},
        },
    },
    telemetry::metric,
};

const BECOME: &str = "UPDATE confirmations SET state = ?1, sequence = ?2, expires_at = ?3, ended_at = CASE ?4 WHEN 1 THEN NULL ELSE ?5 END, \
     reason = ?6 WHERE id = ?7";

const DECIDE: &str =
    "UPDATE confirmations SET decided_at = ?, decided_by = ?, decided_via = ?, on_behalf_of = ? WHERE id = ?";

const OVERDUE: &str =
    "SELECT count(*) FROM confirmations WHERE state IN ('pending', 'approved') AND expires_at <= ?";

const FORGET_ARGUMENTS: &str = "UPDATE confirmations SET arguments = NULL WHERE rowid IN \
    (SELECT rowid FROM confirmations WHERE ended_at <= ? AND arguments IS NOT NULL LIMIT 512)";

const FORGET_EVENTS: &str = "DELETE FROM confirmation_events WHERE sequence IN \
    (SELECT e.sequence FROM confirmation_events e WHERE e.at <= ? ORDER BY e.sequence LIMIT 512)";

const FORGET: &str = "DELETE FROM confirmations WHERE rowid IN \
    (SELECT rowid FROM confirmations WHERE ended_at <= ? LIMIT 512)";

/// What was not decided, or not used, at one time is ended a few at a time: nobody waits long for the change.
const AT_ONCE: u32 = 256;

impl Sqlite {
    pub(super) async fn decide_confirmation(
        &self,
        id: &ConfirmationId,
        decision: &Decision,
    ) -> Result<Option<Outcome>, Failed> {
        let at = millis(decision.decided.at);
        // Who decided is told that it is so, and a call may be waiting for it.
        let mut change = self.change(Durability::Power).await?;
        let Some(mut confirmation) = by_id(&mut change, id).await? else { return Ok(None) };
        let before = confirmation.state;
        if let Some(event) = overtaken(&confirmation, &decision.verdict, at) {
            end(&mut change, &confirmation, event, "", at).await?;
            confirmation = by_id(&mut change, id).await?.unwrap_or(confirmation);
        }
        let event = match decision.verdict {
            Verdict::Approve { .. } => Event::Approve,
            Verdict::Deny => Event::Deny,
        };
        let next = confirmation.state.on(event);
        if let Next::Becomes(state) = next {
            decided(&mut change, id, decision, at).await?;
            audit::decided(&mut change, &confirmation, decision).await?;
            match decision.verdict {
                Verdict::Approve { use_until, .. } => {
                    become_(&mut change, id, state, (at, millis(use_until)), &decision.reason).await?;
                }
                Verdict::Deny => {
                    end(&mut change, &confirmation, event, &decision.reason, at).await?;
                }
            }
            confirmation = by_id(&mut change, id).await?.unwrap_or(confirmation);
        }
        change.commit().await?;
        let changed = (confirmation.state != before).then(|| (id.clone(), confirmation.state));
        self.confirmations_changed(changed);
        Ok(Some(Outcome { confirmation, holds: next != Next::Refused }))
    }

    pub(super) async fn withdraw_confirmations(
        &self,
        user: &UserId,
        of: Of,
        now: SystemTime,
    ) -> Result<usize, Failed> {
        let (condition, id) = match of {
            Of::Call(call_id) => ("c.outer_call_id = ?2", call_id.to_string()),
            Of::Request(id) => ("(c.outer_request_id = ?2 OR c.request_id = ?2)", id.to_string()),
        };
        let query = format!(
            "SELECT {COLUMNS} FROM confirmations c WHERE c.user_id = ?1 AND {condition} AND c.state IN ('pending', 'approved')"
        );
        let select = || sqlx::query(sqlx::AssertSqlSafe(query.clone())).bind(user.as_str()).bind(id.clone());
        // Most cancellations are of calls that wait for nobody: they need not wait for their turn to write.
        if select().fetch_optional(self.readers().await?).await?.is_none() {
            return Ok(0);
        }
        let mut change = self.change(Durability::Power).await?;
        let rows = select().fetch_all(&mut *change).await?;
        self.end_all(change, rows, Event::Cancel, millis(now)).await
    }

    pub(super) async fn expire_confirmations(&self, now: SystemTime) -> Result<usize, Failed> {
        let now = millis(now);
        let overdue: i64 = sqlx::query_scalar(OVERDUE).bind(now).fetch_one(self.readers().await?).await?;
        if overdue == 0 {
            return Ok(0);
        }
        let query = format!(
            "SELECT {COLUMNS} FROM confirmations c WHERE c.state IN ('pending', 'approved') AND c.expires_at <= ? \
             ORDER BY c.expires_at LIMIT ?"
        );
        let mut change = self.change(Durability::Process).await?;
        let overdue = sqlx::query(sqlx::AssertSqlSafe(query)).bind(now).bind(AT_ONCE);
        let rows = overdue.fetch_all(&mut *change).await?;
        self.end_all(change, rows, Event::TimePasses, now).await
    }

    async fn end_all(
        &self,
        mut change: Change,
        rows: Vec<sqlx::sqlite::SqliteRow>,
        event: Event,
        now: i64,
    ) -> Result<usize, Failed> {
        let mut changed = Vec::new();
        for row in &rows {
            let confirmation = confirmation(row)?;
            if let Next::Becomes(state) = confirmation.state.on(event) {
                changed.push((confirmation.id.clone(), state));
            }
            end(&mut change, &confirmation, event, "", now).await?;
        }
        change.commit().await?;
        self.confirmations_changed(changed);
        Ok(rows.len())
    }

    pub(super) async fn sweep_confirmations(&self, now: SystemTime) -> Result<(), Failed> {
        let before = |kept| millis(now).saturating_sub(length(kept));
        let mut change = self.change(Durability::Process).await?;
        sqlx::query(FORGET_ARGUMENTS).bind(before(ARGUMENTS_KEPT)).execute(&mut *change).await?;
        sqlx::query(FORGET_EVENTS).bind(before(EVENTS_KEPT)).execute(&mut *change).await?;
        sqlx::query(FORGET).bind(before(EVENTS_KEPT)).execute(&mut *change).await?;
        change.commit().await
    }

    /// Tells those who wait here, and the metrics, that confirmations are in other states.
    pub(super) fn confirmations_changed(&self, changed: impl IntoIterator<Item = (ConfirmationId, State)>) {
        for (id, state) in changed {
            self.confirmations_waiting.tell(&id);
            metric::confirmation_became(state.word());
        }
        self.confirmations_changed.send_modify(|changes| *changes += 1);
    }
}

/// What happened to a confirmation before it is decided.
fn overtaken(confirmation: &Confirmation, verdict: &Verdict, at: i64) -> Option<Event> {
    if !confirmation.state.is_open() {
        return None;
    }
    if millis(confirmation.expires_at) <= at {
        return Some(Event::TimePasses);
    }
    match verdict {
        Verdict::Approve { definition_digest, .. }
            if *definition_digest != Some(confirmation.asked.definition_digest) =>
        {
            Some(Event::DefinitionChanges)
        }
        Verdict::Approve { .. } | Verdict::Deny => None,
    }
}

async fn decided(
    change: &mut Change,
    id: &ConfirmationId,
    decision: &Decision,
    at: i64,
) -> Result<(), Failed> {
    let by = &decision.decided;
    sqlx::query(DECIDE)
        .bind(at)
        .bind(by.by.as_str())
        .bind(&by.via)
        .bind(&by.on_behalf_of)
        .bind(id.as_str())
        .execute(&mut **change)
        .await?;
    Ok(())
}

async fn by_id(change: &mut Change, id: &ConfirmationId) -> Result<Option<Confirmation>, Failed> {
    let query = format!("SELECT {COLUMNS} FROM confirmations c WHERE c.id = ?");
    let row = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id.as_str()).fetch_optional(&mut **change).await?;
    row.as_ref().map(confirmation).transpose()
}

/// Brings a confirmation into another state, at one instant until another.
pub(super) async fn become_(
    change: &mut Change,
    id: &ConfirmationId,
    state: State,
    (at, expires_at): (i64, i64),
    reason: &str,
) -> Result<(), Failed> {
    let sequence = note(change, id, state, at, expires_at, reason).await?;
    sqlx::query(BECOME)
        .bind(state.word())
        .bind(sequence)
        .bind(expires_at)
        .bind(state.is_open())
        .bind(at)
        .bind(reason)
        .bind(id.as_str())
        .execute(&mut **change)
        .await?;
    Ok(())
}

/// Ends a confirmation otherwise than by being used, and the call that waits for it, unless that asks again. Returns
/// the outcome of that call, if it has one.
pub(super) async fn end(
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
    become_(change, &confirmation.id, state, (now, millis(confirmation.expires_at)), why).await?;
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
