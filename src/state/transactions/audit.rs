//! The audit log: a record of each write and of each decision, inserted in the transaction of the change. Not here: the
//! end of a write, whose code is added with the end of its call.

use std::time::SystemTime;

use crate::{
    Store,
    audit::{
        Criteria, Kind, RETENTION, Record, Verdict, current_origin, log_records,
        rows::{self, Inserted, NewRecord},
    },
    calls,
    confirmations::{self, Confirmation, Decision},
    idempotency::{Beginning, Key},
};
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped, time::instant};
use toolwire_tool::context::{CallId, KnownBy, RequestId, TaskId, UserId};

/// Maximum number of records per user, and of all users. Beyond it, each new record deletes the two oldest.
const MAX_RECORDS_PER_USER: u64 = 200_000;
const MAX_RECORDS: u64 = 2_000_000;
const DELETED_FOR_ONE: u32 = 2;

/// Maximum number of records that a sweep examines in one transaction, so that other transactions run in between.
const SWEPT_AT_ONCE: u32 = 2048;

/// The approval that lets a call begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approval<'a> {
    pub(super) confirmation: &'a ConfirmationId,
    pub(super) approver: &'a str,
}

/// A request other than a tool call that changes something, for the record of it.
pub(super) struct AuditedRequest<'a> {
    /// Its method, such as `TaskService.CreateTask`.
    pub(super) method: &'static str,
    pub(super) user: &'a UserId,
    pub(super) digest: Digest,
    pub(super) task: &'a TaskId,
    pub(super) request_id: Option<RequestId>,
    pub(super) call_id: Option<CallId>,
}

impl<'a> AuditedRequest<'a> {
    pub(super) fn new(method: &'static str, user: &'a UserId, task: &'a TaskId, digest: Digest) -> Self {
        Self { method, user, digest, task, request_id: None, call_id: None }
    }
}

impl Store {
    /// Audit records before a position, in descending order.
    pub async fn audit_records(
        &self,
        criteria: &Criteria,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Record>, StoreError> {
        self.fetch_for(criteria.seen_by.as_ref(), rows::list(criteria, before, limit)).await
    }

    /// Deletes some of the records whose retention ([`RETENTION`]) is over.
    pub async fn sweep_audit_records(&self) -> Result<(), StoreError> {
        self.transact(Lane::Platform, Durability::Process, |tx| {
            let until = tx.now() - RETENTION;
            scoped(rows::delete_until(tx, until, SWEPT_AT_ONCE))
        })
        .await
    }
}

/// Records that a call begins, and returns the position of the record.
pub(super) async fn record_beginning(
    tx: &mut Tx,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<i64, Error> {
    let (key, about) = (call.key, call.about);
    let record = NewRecord {
        kind: Kind::Write,
        at: instant(now),
        ended_at: None,
        user: &key.user,
        known_by: about.known_by,
        peer: about.origin.peer,
        workload: about.workload.as_deref().unwrap_or_default(),
        face: about.origin.face,
        caller: &key.user,
        tool: key.tool.as_str(),
        definition_digest: Some(about.definition_digest),
        arguments_digest: call.digest,
        verdict: if approval.is_some() { Verdict::Approved } else { Verdict::Allowed },
        code: "",
        call_id: about.call_id.to_string(),
        request_id: key.request_id.to_string(),
        trace_id: about.trace_id.map(|id| id.to_string()).unwrap_or_default(),
        task_id: about.task_id.as_ref().map_or("", |id| id.as_str()),
        confirmation_id: approval.map_or("", |it| it.confirmation.as_str()),
        approver: approval.map_or("", |it| it.approver),
        on_behalf_of: "",
    };
    insert(tx, record).await
}

/// Has the end of a call sent with the audit record that it completes, if records are sent. Before the end is
/// recorded, by which the record is found.
pub(super) async fn send_end(tx: &mut Tx, key: &Key, code: &str) -> Result<(), Error> {
    if !log_records::are_sent() {
        return Ok(());
    }
    let begun = calls::rows::incomplete_audit(key).optional(tx).await?;
    if let Some(begun) = begun {
        let ended = Record { ended_at: Some(tx.now()), code: code.to_owned(), ..begun };
        tx.after_commit(move || log_records::send(ended));
    }
    Ok(())
}

/// Records the decision of a person on a confirmation.
pub(super) async fn record_decision(
    tx: &mut Tx,
    confirmation: &Confirmation,
    decision: &Decision,
    at: SystemTime,
) -> Result<(), Error> {
    let by = &decision.decided;
    let verdict = match decision.verdict {
        confirmations::Verdict::Approve { .. } => Verdict::Approved,
        confirmations::Verdict::Deny => Verdict::Denied,
    };
    let record = NewRecord {
        user: &by.by,
        known_by: decision.known_by,
        peer: decision.peer,
        workload: decision.workload.as_deref().unwrap_or_default(),
        face: &by.via,
        approver: by.by.as_str(),
        on_behalf_of: &by.on_behalf_of,
        ..record_of(confirmation, verdict, at)
    };
    insert(tx, record).await?;
    Ok(())
}

/// Records that a confirmation ended undecided or unused. The record belongs to the user who made the call.
pub(super) async fn record_lapse(
    tx: &mut Tx,
    confirmation: &Confirmation,
    verdict: Verdict,
    now: SystemTime,
) -> Result<(), Error> {
    insert(tx, record_of(confirmation, verdict, now)).await?;
    Ok(())
}

/// Records a change by a request other than a tool call.
pub(super) async fn record_request(
    tx: &mut Tx,
    request: &AuditedRequest<'_>,
    now: SystemTime,
) -> Result<(), Error> {
    let origin = current_origin();
    let record = NewRecord {
        kind: Kind::Write,
        at: now,
        ended_at: Some(now),
        user: request.user,
        known_by: origin.known_by,
        peer: origin.origin.peer,
        workload: origin.workload.as_deref().unwrap_or_default(),
        face: origin.origin.face,
        caller: request.user,
        tool: request.method,
        definition_digest: None,
        arguments_digest: request.digest,
        verdict: Verdict::Allowed,
        code: "OK",
        call_id: request.call_id.map(|id| id.to_string()).unwrap_or_default(),
        request_id: request.request_id.map(|id| id.to_string()).unwrap_or_default(),
        trace_id: origin.trace_id.map(|id| id.to_string()).unwrap_or_default(),
        task_id: request.task.as_str(),
        confirmation_id: "",
        approver: "",
        on_behalf_of: "",
    };
    insert(tx, record).await?;
    Ok(())
}

/// A record of the end of a confirmation, without an acting user.
fn record_of(confirmation: &Confirmation, verdict: Verdict, at: SystemTime) -> NewRecord<'_> {
    let (request, key) = (&confirmation.asked, &confirmation.key);
    NewRecord {
        kind: Kind::Decision,
        at,
        ended_at: Some(at),
        user: &key.user,
        known_by: KnownBy::Process,
        peer: None,
        workload: "",
        face: "",
        caller: &key.user,
        tool: key.tool.as_str(),
        definition_digest: Some(request.definition_digest),
        arguments_digest: confirmation.arguments_digest,
        verdict,
        code: "",
        call_id: request.outermost.call_id.to_string(),
        request_id: key.request_id.to_string(),
        trace_id: String::new(),
        task_id: request.task_id.as_ref().map_or("", |id| id.as_str()),
        confirmation_id: confirmation.id.as_str(),
        approver: confirmation.decided.as_ref().map_or("", |it| it.by.as_str()),
        on_behalf_of: "",
    }
}

async fn insert(tx: &mut Tx, record: NewRecord<'_>) -> Result<i64, Error> {
    let user = record.user;
    if log_records::are_sent() {
        let record = record.to_record();
        tx.after_commit(move || log_records::send(record));
    }
    let Inserted { sequence, of_user_before, of_all_before } = rows::insert(tx, record).await?;
    if of_user_before + 1 >= MAX_RECORDS_PER_USER {
        rows::delete_oldest(tx, Some(user), DELETED_FOR_ONE).await?;
    } else if of_all_before + 1 >= MAX_RECORDS {
        rows::delete_oldest(tx, None, DELETED_FOR_ONE).await?;
    }
    Ok(sequence)
}
