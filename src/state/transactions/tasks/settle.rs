//! The end of executed calls: the outcome under the call's `request_id` and the entry, in one transaction.

use std::time::SystemTime;

use super::{
    begin::{entry_of, waiting_entry},
    confirm::append_decision,
    entries::{EntryMeta, append},
    error::TxError,
    lengths,
    load::{LoadedTask, find, load},
    open_calls,
};
use crate::{
    Store,
    idempotency::Effect,
    tasks::{
        CallEnd, Recorded, TaskCall, TaskError,
        entry::{Answer, Body, Lengths, Text, ToolCall, WaitTarget},
        rows::entries,
        texts,
    },
    topic::Topic,
    transactions::{calls, transitions},
};
use toolwire_contract::{ConfirmationId, ErrorCode};
use toolwire_db::{Durability, Error, Lane, Tx, scoped};

impl Store {
    /// Ends a call, with its entry. A write with an unknown outcome blocks the task.
    pub async fn end_task_call(&self, call: &TaskCall, end: CallEnd<'_>) -> Result<Recorded, TaskError> {
        let lengths = lengths::of_outcome(call, end.result).await;
        // The agent continues from this outcome, so it must survive a loss of power.
        self.record_tasks(&call.key.user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(end_in(tx, call, (end, lengths), now))
        })
        .await
    }

    /// Lets the task wait for a confirmation that a nested call requires, with an entry for the outer call.
    pub async fn suspend_task_call(
        &self,
        call: &TaskCall,
        confirmation: &ConfirmationId,
    ) -> Result<Recorded, TaskError> {
        let lengths = lengths::of_call(call).await;
        self.record_tasks(&call.key.user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(suspend_in(tx, call, (confirmation, lengths), now))
        })
        .await
    }

    /// Deletes the record of a call that turned out to be refused; it has no entry. `code` is the code with which it
    /// ended.
    pub async fn forget_task_call(&self, call: &TaskCall, code: &str) -> Result<(), TaskError> {
        // If it is lost, the call seems unfinished, and is not executed twice.
        let forgotten = self.record(Lane::User(&call.key.user), Durability::Process, |tx| {
            scoped(async move {
                load(tx, &call.key.user, &call.task).await?;
                calls::forget(tx, &call.key, code).await?;
                open_calls::remove(tx, call).await?;
                Ok::<_, TxError>(())
            })
        });
        Ok(forgotten.await?)
    }
}

async fn end_in(
    tx: &mut Tx,
    call: &TaskCall,
    (end, lengths): (CallEnd<'_>, Lengths),
    now: SystemTime,
) -> Result<Recorded, TxError> {
    if end.is_final {
        calls::end(tx, &call.key, end.result).await?;
    } else {
        let code = end.result.outcome.as_ref().map_or_else(|error| error.code.into_str(), |_| calls::OK);
        calls::forget(tx, &call.key, code).await?;
    }
    let removed = open_calls::remove(tx, call).await?;
    tx.notify(Topic::Tasks);
    // The timeline of a tree that was deleted meanwhile is gone; the call has its own record all the same.
    let Some(mut loaded) = find(tx, &call.task).await? else {
        return Ok(Recorded { sequence: None, blocks: None });
    };
    let settled = match removed {
        Some(_) => None,
        // Its process was assumed to have ended, and recovery has settled the call.
        None => unknown_entry(tx, &loaded, call).await?,
    };
    if end.is_again
        && removed.is_none()
        && settled.is_none()
        && let Some(entry) = entries::find_newest(&call.task, call.key.request_id).optional(tx).await?
    {
        return Ok(Recorded { sequence: Some(entry), blocks: None });
    }
    if loaded.task.state.is_final() {
        let sequence = end_late(tx, &mut loaded, call, (&end, lengths), now).await?;
        return Ok(Recorded { sequence, blocks: None });
    }
    let answers = removed.unwrap_or(settled);
    let body = body(call, end, answers, removed.is_none());
    let blocks = match &body {
        Body::ToolCall(ToolCall { waits_for: Some(target), status, .. }) => {
            Some((status.clone(), target.wait().state().reason()))
        }
        _ => None,
    };
    let sequence = append(tx, &mut loaded, EntryMeta::of_call(call, lengths), body, now).await?;
    Ok(Recorded { sequence: Some(sequence), blocks })
}

/// Answers the entry of a call that was in flight when its task ended. The task stays as it ended.
async fn end_late(
    tx: &mut Tx,
    loaded: &mut LoadedTask,
    call: &TaskCall,
    (end, lengths): (&CallEnd<'_>, Lengths),
    now: SystemTime,
) -> Result<Option<u64>, TxError> {
    let Some(answers) = entries::find_unanswered(&call.task, call.key.request_id).optional(tx).await? else {
        tracing::info!(call_id = %call.call_id(), task_id = %call.task, "a call ended after its task");
        return Ok(None);
    };
    let body = answer(call, end, answers, texts::AFTER_END.to_owned());
    Ok(Some(append(tx, loaded, EntryMeta::of_call(call, lengths), body, now).await?))
}

/// Sequence number of the entry of a call whose outcome was recorded as unknown.
async fn unknown_entry(tx: &mut Tx, loaded: &LoadedTask, call: &TaskCall) -> Result<Option<u64>, Error> {
    let entry = entries::find_unanswered(&call.task, call.key.request_id).optional(tx).await?;
    let waits = |sequence: &u64| {
        let mut waits = loaded.task.waits.iter();
        waits.any(|wait| wait.sequence == *sequence && matches!(wait.target, WaitTarget::Call(_)))
    };
    Ok(entry.filter(waits))
}

/// The entry with which a call ends: an answer if it already has an entry, otherwise one of its own.
fn body(call: &TaskCall, end: CallEnd<'_>, answers: Option<u64>, is_late: bool) -> Body {
    let error = end.result.outcome.as_ref().err().cloned();
    let is_unknown = call.effect == Effect::Write
        && error.as_ref().is_some_and(|error| error.code == ErrorCode::OutcomeUnknown);
    let waits_for = match (is_unknown, end.needs_credentials) {
        (true, _) => Some((WaitTarget::Call(call.call_id()), texts::OUTCOME_UNKNOWN.to_owned())),
        (false, Some(source)) => {
            Some((WaitTarget::Source(source.to_owned()), texts::awaiting_credentials(source)))
        }
        (false, None) => None,
    };
    if let (Some(answers), None) = (answers, &waits_for) {
        let status = if is_late { texts::CAME_LATE.to_owned() } else { String::new() };
        return answer(call, &end, answers, status);
    }
    let (waits_for, status) = waits_for.unzip();
    Body::ToolCall(ToolCall {
        result: result(&end),
        error,
        status: status.unwrap_or_default(),
        documents: end.documents.to_vec(),
        provenance: end.result.provenance.clone(),
        waits_for,
        untrusted: end.untrusted,
        ..entry_of(call)
    })
}

/// The answer to the existing entry of a call.
fn answer(call: &TaskCall, end: &CallEnd<'_>, answers: u64, status: String) -> Body {
    Body::Answer(Answer {
        answers,
        status,
        result: result(end),
        error: end.result.outcome.as_ref().err().cloned(),
        documents: end.documents.to_vec(),
        origin: call.call_id().to_string(),
        provenance: end.result.provenance.clone(),
        untrusted: end.untrusted,
    })
}

fn result(end: &CallEnd<'_>) -> Option<Text> {
    end.result.outcome.as_ref().ok().map(|payload| Text::Inline(payload.json_text().to_owned()))
}

async fn suspend_in(
    tx: &mut Tx,
    call: &TaskCall,
    (id, lengths): (&ConfirmationId, Lengths),
    now: SystemTime,
) -> Result<Recorded, TxError> {
    calls::suspend(tx, &call.key).await?;
    open_calls::remove(tx, call).await?;
    tx.notify(Topic::Tasks);
    let mut loaded = load(tx, &call.key.user, &call.task).await?;
    if loaded.task.state.is_final() {
        return Ok(Recorded { sequence: None, blocks: None });
    }
    let (target, status) = (WaitTarget::Confirmation(id.clone()), texts::awaiting_confirmation(id));
    if let Some(wait) = loaded.task.waits.iter().find(|wait| wait.target == target) {
        // A repeat before a person has decided: the task already waits for the confirmation.
        return Ok(Recorded { sequence: Some(wait.sequence), blocks: Some((status, None)) });
    }
    let body = waiting_entry(call, target, status.clone());
    let sequence = append(tx, &mut loaded, EntryMeta::of_call(call, lengths), body, now).await?;
    // A person may have decided before the wait began, and that decision found no wait.
    if let Some((confirmation, error)) = transitions::find_decided(tx, id).await? {
        append_decision(tx, &confirmation, confirmation.state, error, now).await?;
        return Ok(Recorded { sequence: Some(sequence), blocks: None });
    }
    Ok(Recorded { sequence: Some(sequence), blocks: Some((status, None)) })
}
