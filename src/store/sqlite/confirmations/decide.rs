//! What becomes of confirmations that were asked for: decided, withdrawn, expired, forgotten.

use std::time::SystemTime;

use super::end::end;
use crate::{
    confirmations::{
        ARGUMENTS_KEPT, Confirmation, Decision, EVENTS_KEPT, Of, Outcome, Verdict,
        life::{Event, Next, State},
    },
    sqlite::{
        Change, Durability, Failed, Sqlite, audit,
        confirmation_rows::{COLUMNS, by_id, confirmation, transition},
        tasks::tell_task,
        time::{instant, length, millis},
    },
};
use toolwire_contract::ConfirmationId;
use toolwire_telemetry::metric;
use toolwire_tool::context::UserId;

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
                    let until = millis(use_until);
                    transition(&mut change, &confirmation, state, (at, until), &decision.reason).await?;
                    tell_task(&mut change, &confirmation, state, None, instant(at)).await?;
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
        let mut change = self.change(Durability::Power).await?;
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
    pub(in crate::sqlite) fn confirmations_changed(
        &self,
        changed: impl IntoIterator<Item = (ConfirmationId, State)>,
    ) {
        let mut any = false;
        for (id, state) in changed {
            self.confirmations_waiting.tell(&id);
            metric::confirmation_became(state.into_str());
            any = true;
        }
        self.confirmations_changed.send_modify(|changes| *changes += 1);
        if any {
            self.tasks_changed();
        }
    }

    /// Tells those who wait here that a task has ended, and what it waited for with it.
    pub(in crate::sqlite) fn confirmations_withdrawn(&self) {
        self.confirmations_waiting.tell_all();
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
