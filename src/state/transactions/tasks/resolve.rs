//! Resolution of waits other than those for tasks and decisions: unknown outcomes of writes, by a person or by the
//! outcome that came after all, and credentials.

use std::time::SystemTime;

use serde_json::Value;

use super::{
    entries::{EntryMeta, append},
    error::TxError,
    lengths,
    load::{LoadedTask, load},
};
use crate::{
    Store,
    calls::rows::{self as records, State},
    idempotency::{Begun, Key},
    tasks::{
        Refused, Resolution, Settled, Task, TaskError,
        entry::{Answer, Body, Lengths, Text, ToolCall, WaitTarget},
        rows::{entries, waits},
        texts,
    },
    transactions::{
        audit::{self, AuditedRequest},
        calls::{self, RecordState},
    },
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ErrorCode, Outcome, Payload, Provenance, ToolName, ToolResult};
use toolwire_db::{Durability, Error, Tx, scoped, sql::AsText, time::millis};
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

/// A person's finding about a call.
#[derive(Clone, Copy)]
struct Finding<'a> {
    call_id: CallId,
    resolution: &'a Resolution,
    reason: &'a str,
    lengths: Lengths,
}

impl Store {
    /// Resolves a write with an unknown outcome by a person's finding.
    pub async fn resolve_unknown_call(
        &self,
        user: &UserId,
        id: &TaskId,
        call_id: CallId,
        resolution: &Resolution,
        reason: &str,
    ) -> Result<Task, TaskError> {
        let lengths = match resolution {
            Resolution::Done(result) => lengths::of_result(&Value::Object(result.clone()).to_string()).await,
            Resolution::NotDone => Lengths::default(),
        };
        let finding = Finding { call_id, resolution, reason, lengths };
        self.transact_tasks(user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(resolve(tx, user, id, finding, now))
        })
        .await
    }

    /// Replaces the unknown outcome of a call by the one that came after all: in the call's record, and in the timeline
    /// of the task that waits for it. `is_lost`: the owner of the call has ended, and may have recorded none.
    pub async fn settle_unknown_call(
        &self,
        key: &Key,
        (call_id, is_lost): (CallId, bool),
        result: &ToolResult,
    ) -> Result<Settled, TaskError> {
        let lengths = match &result.outcome {
            Ok(data) => lengths::of_result(data.json_text()).await,
            Err(_) => Lengths::default(),
        };
        // Power, since the host forgets the outcome next.
        self.record_tasks(&key.user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(settle(tx, key, (call_id, is_lost), (result, lengths), now))
        })
        .await
    }

    /// Resumes the tasks that wait for credentials of a source, which their user has provided, and returns their
    /// number.
    pub async fn answer_credentials(&self, user: &UserId, source: &str) -> Result<usize, TaskError> {
        let target = WaitTarget::Source(source.to_owned());
        let target = &target;
        // Usually no task waits, and then no write transaction is needed.
        let waiting = self.fetch_all(waits::tasks_waiting_for(user, target)).await?;
        if waiting.is_empty() {
            return Ok(0);
        }
        self.transact_tasks(user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(async move {
                let waiting = waits::tasks_waiting_for(user, target).all(tx).await?;
                for id in &waiting {
                    authorize(tx, user, id, target, source, now).await?;
                }
                Ok::<_, TxError>(waiting.len())
            })
        })
        .await
    }
}

async fn authorize(
    tx: &mut Tx,
    user: &UserId,
    id: &TaskId,
    target: &WaitTarget,
    source: &str,
    now: SystemTime,
) -> Result<(), TxError> {
    let mut loaded = load(tx, user, id).await?;
    let Some(sequence) = wait_for(&loaded, target) else { return Ok(()) };
    let answer = Answer {
        answers: sequence,
        status: texts::authorized(user),
        origin: source.to_owned(),
        ..Answer::default()
    };
    append(tx, &mut loaded, EntryMeta::default(), Body::Answer(answer), now).await?;
    Ok(())
}

async fn resolve(
    tx: &mut Tx,
    user: &UserId,
    id: &TaskId,
    finding: Finding<'_>,
    now: SystemTime,
) -> Result<Task, TxError> {
    let Finding { call_id, resolution, reason, lengths } = finding;
    let mut loaded = load(tx, user, id).await?;
    let Some(sequence) = wait_for(&loaded, &WaitTarget::Call(call_id)) else {
        refuse_other_finding(tx, id, finding).await?;
        return Ok(loaded.task);
    };
    let (request_id, tool) = call(tx, id, sequence).await?;
    let outcome: Outcome = match resolution {
        Resolution::Done(result) => Ok(Payload::from_json(Value::Object(result.clone()))),
        Resolution::NotDone => Err(texts::not_carried_out(reason)),
    };
    let answer = Answer {
        answers: sequence,
        status: texts::resolved(user, reason),
        result: outcome.as_ref().ok().map(|data| Text::Inline(data.json_text().to_owned())),
        error: outcome.as_ref().err().cloned(),
        origin: call_id.to_string(),
        ..Answer::default()
    };
    let meta =
        EntryMeta { call_id: Some(call_id), request_id: Some(request_id), lengths, ..EntryMeta::default() };
    append(tx, &mut loaded, meta, Body::Answer(answer), now).await?;
    // The call's own record too, so that a repeat of the call receives this outcome.
    let key = Key { user: user.clone(), tool: tool.clone(), request_id };
    let result = ToolResult { tool, fetched_at: now, outcome, provenance: Provenance::default(), kept: None };
    calls::end(tx, &key, &result).await?;
    let digest = Digest::of_parts([id.as_str(), reason]);
    let request = AuditedRequest::new("TaskService.ResolveUnknown", user, id, digest);
    audit::record_request(tx, &AuditedRequest { call_id: Some(call_id), ..request }, now).await?;
    Ok(loaded.task)
}

async fn settle(
    tx: &mut Tx,
    key: &Key,
    (call_id, is_lost): (CallId, bool),
    (result, lengths): (&ToolResult, Lengths),
    now: SystemTime,
) -> Result<Settled, TxError> {
    let record = is_unknown(tx, key, now).await? || (is_lost && is_started(tx, key, call_id).await?);
    match &result.outcome {
        _ if !record => {}
        // Nothing was done: a repeat is another attempt.
        Err(error) if !error.code.is_final() => calls::forget(tx, key, error.code.into_str()).await?,
        _ => calls::end(tx, key, result).await?,
    }
    let target = WaitTarget::Call(call_id);
    let Some(id) = waits::tasks_waiting_for(&key.user, &target).optional(tx).await? else {
        return Ok(Settled { record, wait: false });
    };
    let mut loaded = load(tx, &key.user, &id).await?;
    let Some(sequence) = wait_for(&loaded, &target) else { return Ok(Settled { record, wait: false }) };
    let (_, call) = entries::call(&id, sequence).one(tx).await?;
    let answer = Answer {
        answers: sequence,
        status: texts::CAME_LATE.to_owned(),
        result: result.outcome.as_ref().ok().map(|data| Text::Inline(data.json_text().to_owned())),
        error: result.outcome.as_ref().err().cloned(),
        origin: call_id.to_string(),
        provenance: result.provenance.clone(),
        untrusted: matches!(call, Body::ToolCall(ToolCall { untrusted: true, .. })),
        ..Answer::default()
    };
    let request_id = Some(key.request_id);
    let meta = EntryMeta { call_id: Some(call_id), request_id, lengths, ..EntryMeta::default() };
    append(tx, &mut loaded, meta, Body::Answer(answer), now).await?;
    Ok(Settled { record, wait: true })
}

/// Whether a call is recorded with an unknown outcome.
async fn is_unknown(tx: &mut Tx, key: &Key, now: SystemTime) -> Result<bool, Error> {
    let record = calls::find(tx, key, millis(now)).await?;
    Ok(record.is_some_and(|it| match it.state {
        RecordState::Ended(Begun::Ended(ended)) => {
            ended.outcome.is_err_and(|error| error.code == ErrorCode::OutcomeUnknown)
        }
        _ => false,
    }))
}

/// Whether the record of a call says that this execution of it goes on.
async fn is_started(tx: &mut Tx, key: &Key, call_id: CallId) -> Result<bool, Error> {
    let record = records::find(key).optional(tx).await?;
    Ok(record.is_some_and(|it| {
        it.kept.is_none() && it.state == State::Started && it.call_id == Some(call_id.to_string())
    }))
}

/// Refuses a finding that differs from an earlier one, and one about a call whose outcome is not unknown.
async fn refuse_other_finding(
    tx: &mut Tx,
    id: &TaskId,
    Finding { call_id, resolution, .. }: Finding<'_>,
) -> Result<(), TxError> {
    let Some((Body::Answer(answer), result)) = entries::newest_answer(id, call_id).optional(tx).await? else {
        return Err(Refused::UnknownCall.into());
    };
    let is_same = match resolution {
        Resolution::Done(done) => result == Some(Value::Object(done.clone()).to_string()),
        Resolution::NotDone => result.is_none() && answer.error.is_some(),
    };
    if is_same { Ok(()) } else { Err(Refused::AlreadyResolved(answer.status).into()) }
}

/// Sequence number of the entry with which a task began to wait for a target.
fn wait_for(loaded: &LoadedTask, target: &WaitTarget) -> Option<u64> {
    let wait = loaded.task.waits.iter().find(|wait| wait.target == *target);
    wait.map(|wait| wait.sequence)
}

/// The `request_id` and the tool of the call of an entry.
async fn call(tx: &mut Tx, id: &TaskId, sequence: u64) -> Result<(RequestId, ToolName), TxError> {
    match entries::call(id, sequence).one(tx).await? {
        (AsText(request_id), Body::ToolCall(ToolCall { tool, .. })) => Ok((request_id, tool)),
        _ => Err(Refused::UnknownCall.into()),
    }
}
