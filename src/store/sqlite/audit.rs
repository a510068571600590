//! Records of who did what, written as steps of the changes that they are of. A trigger completes that of a write with
//! its end, and others bound how many there are.

mod changes;
mod read;

use std::time::SystemTime;

use futures_util::future::BoxFuture;

pub(super) use self::changes::{Changed, changed};
use super::{
    Change, Durability, Failed, Sqlite,
    time::{length, millis},
};
use crate::{
    StoreError,
    audit::{Audit, Criteria, KEPT, Kind, Record, Verdict},
    confirmations::{self, Confirmation, Decision},
    idempotency::Beginning,
};
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::KnownBy;

/// The next position among what a user sees, so that it tells nothing of what others do.
macro_rules! next {
    ($user:literal) => {
        concat!(
            "1 + max(coalesce((SELECT max(position) FROM audit WHERE user_id = ",
            $user,
            "), 0), coalesce((SELECT max(callers_position) FROM audit WHERE caller = ",
            $user,
            " AND caller <> user_id), 0))"
        )
    };
}
use next;

const NOTE: &str = concat!(
    "INSERT INTO audit (kind, at, user_id, known_by, peer, face, caller, tool, definition_digest, arguments_digest, \
     verdict, call_id, request_id, trace_id, task_id, confirmation_id, approver, on_behalf_of, ended_at, position, \
     callers_position) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ",
    next!("?3"),
    ", CASE ?7 WHEN ?3 THEN 0 ELSE ",
    next!("?7"),
    " END)"
);

/// Positions are in order of time.
const SWEEP: &str = "DELETE FROM audit WHERE at <= ?1 AND sequence IN (SELECT sequence FROM audit ORDER BY sequence LIMIT 2048)";

/// By what a call may begin that somebody had to approve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approval<'a> {
    pub(super) confirmation: &'a ConfirmationId,
    pub(super) approver: &'a str,
}

/// Notes that a call begins. The position of the record.
pub(super) async fn begun(
    change: &mut Change,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<i64, Failed> {
    let (key, about) = (call.key, call.about);
    let verdict = if approval.is_some() { Verdict::Approved } else { Verdict::Allowed };
    let noted = sqlx::query(NOTE)
        .bind(Kind::Write.into_str())
        .bind(now)
        .bind(key.user.as_str())
        .bind(<&str>::from(about.known_by))
        .bind(about.origin.peer.map(|peer| peer.to_string()))
        .bind(about.origin.face)
        .bind(key.user.as_str())
        .bind(key.tool.as_str())
        .bind(about.definition_digest.as_bytes().to_vec())
        .bind(call.digest.as_bytes().to_vec())
        .bind(verdict.into_str())
        .bind(about.call_id.to_string())
        .bind(key.request_id.to_string())
        .bind(about.trace_id.map(|id| id.to_string()).unwrap_or_default())
        .bind(about.task_id.as_ref().map(ToString::to_string).unwrap_or_default())
        .bind(approval.map_or("", |it| it.confirmation.as_str()))
        .bind(approval.map_or("", |it| it.approver))
        .bind("")
        .bind(None::<i64>)
        .execute(&mut **change)
        .await?;
    Ok(noted.last_insert_rowid())
}

/// How a confirmation came to an end, or was decided.
struct Decided<'a> {
    at: i64,
    /// In whose records it is.
    user: &'a str,
    known_by: KnownBy,
    peer: Option<String>,
    face: &'a str,
    verdict: Verdict,
    approver: &'a str,
    on_behalf_of: &'a str,
}

pub(super) async fn decided(
    change: &mut Change,
    confirmation: &Confirmation,
    decision: &Decision,
) -> Result<(), Failed> {
    let by = &decision.decided;
    let verdict = match decision.verdict {
        confirmations::Verdict::Approve { .. } => Verdict::Approved,
        confirmations::Verdict::Deny => Verdict::Denied,
    };
    let decided = Decided {
        at: millis(by.at),
        user: by.by.as_str(),
        known_by: decision.known_by,
        peer: decision.peer.map(|peer| peer.to_string()),
        face: &by.via,
        verdict,
        approver: by.by.as_str(),
        on_behalf_of: &by.on_behalf_of,
    };
    note(change, confirmation, decided).await
}

/// Notes that a confirmation ended without a decision, or without being used. Nobody did it: it is in the records of
/// whose call it was.
pub(super) async fn came_to_nothing(
    change: &mut Change,
    confirmation: &Confirmation,
    verdict: Verdict,
    now: i64,
) -> Result<(), Failed> {
    let decided = Decided {
        at: now,
        user: confirmation.key.user.as_str(),
        known_by: KnownBy::Process,
        peer: None,
        face: "",
        verdict,
        approver: confirmation.decided.as_ref().map_or("", |it| it.by.as_str()),
        on_behalf_of: "",
    };
    note(change, confirmation, decided).await
}

async fn note(change: &mut Change, confirmation: &Confirmation, by: Decided<'_>) -> Result<(), Failed> {
    let (asked, key) = (&confirmation.asked, &confirmation.key);
    sqlx::query(NOTE)
        .bind(Kind::Decision.into_str())
        .bind(by.at)
        .bind(by.user)
        .bind(<&str>::from(by.known_by))
        .bind(by.peer)
        .bind(by.face)
        .bind(key.user.as_str())
        .bind(key.tool.as_str())
        .bind(asked.definition_digest.as_bytes().to_vec())
        .bind(confirmation.arguments_digest.as_bytes().to_vec())
        .bind(by.verdict.into_str())
        .bind(asked.outermost.call_id.to_string())
        .bind(key.request_id.to_string())
        .bind("")
        .bind(asked.task_id.as_ref().map(ToString::to_string).unwrap_or_default())
        .bind(confirmation.id.as_str())
        .bind(by.approver)
        .bind(by.on_behalf_of)
        .bind(by.at)
        .execute(&mut **change)
        .await?;
    Ok(())
}

impl Audit for Sqlite {
    fn records<'a>(
        &'a self,
        criteria: &'a Criteria,
        before: Option<u64>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Record>, StoreError>> {
        Box::pin(async move { self.explain(self.listed_records(criteria, before, limit).await) })
    }

    fn sweep_records(&self, now: SystemTime) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.swept_records(now).await) })
    }
}

impl Sqlite {
    async fn swept_records(&self, now: SystemTime) -> Result<(), Failed> {
        let mut change = self.change(Durability::Process).await?;
        let before = millis(now).saturating_sub(length(KEPT));
        sqlx::query(SWEEP).bind(before).execute(&mut *change).await?;
        change.commit().await
    }
}
