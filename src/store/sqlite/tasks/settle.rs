//! Calls that executed, ended: the outcome under the call's `request_id` and the entry, in one change.

use std::time::SystemTime;

use super::{
    begin::{awaiting, entry_of, waiting},
    confirm::tell_task,
    entries::{Of, append},
    fault::Fault,
    lengths, open,
    rows::{self, Row, load},
};
use crate::{
    idempotency::Effect,
    sqlite::{Change, Durability, Sqlite, calls, confirmation_rows},
    tasks::{
        CallEnd, Recorded, TaskCall,
        entry::{Answer, Body, Lengths, Part, Thing, ToolCall},
    },
};
use toolwire_contract::{ConfirmationId, ErrorCode};

/// The status of a write whose end is not known.
pub(super) const UNKNOWN: &str = "→ outcome unknown";

/// The status of the outcome of what was under way when the task ended.
const AFTER_END: &str = "← ended after the task";

/// The status of what is known at last.
const CAME_LATE: &str = "← resolved by its own outcome";

impl Sqlite {
    pub(super) async fn end_task_call(
        &self,
        call: &TaskCall,
        end: CallEnd<'_>,
        now: SystemTime,
    ) -> Result<Recorded, Fault> {
        let lengths = lengths::of_ended(call, end.result).await;
        // The agent goes on by this next.
        let mut change = self.change(Durability::Power).await?;
        let recorded = end_in(&mut change, call, (end, lengths), now).await?;
        change.commit().await?;
        self.tasks_changed();
        Ok(recorded)
    }

    pub(super) async fn suspend_task_call(
        &self,
        call: &TaskCall,
        id: &ConfirmationId,
        now: SystemTime,
    ) -> Result<Recorded, Fault> {
        let lengths = lengths::of_call(call).await;
        let mut change = self.change(Durability::Power).await?;
        let recorded = suspend_in(&mut change, call, (id, lengths), now).await?;
        change.commit().await?;
        self.tasks_changed();
        Ok(recorded)
    }

    pub(super) async fn forget_task_call(&self, call: &TaskCall, code: &str) -> Result<(), Fault> {
        // Lost, it leaves a call that seems unfinished: nothing is carried out twice.
        let mut change = self.change(Durability::Process).await?;
        load(&mut change, &call.key.user, &call.task).await?;
        calls::note_end(&mut change, &call.key, code).await?;
        calls::forget(&mut change, &call.key).await?;
        open::take(&mut change, call).await?;
        Ok(change.commit().await?)
    }
}

async fn end_in(
    change: &mut Change,
    call: &TaskCall,
    (end, lengths): (CallEnd<'_>, Lengths),
    now: SystemTime,
) -> Result<Recorded, Fault> {
    if end.is_final {
        calls::end(change, &call.key, end.result).await?;
    } else {
        let code = end.result.outcome.as_ref().map_or_else(|error| error.code.into_str(), |_| calls::OK);
        calls::note_end(change, &call.key, code).await?;
        calls::forget(change, &call.key).await?;
    }
    let taken = open::take(change, call).await?;
    // A tree that was deleted meanwhile has no timeline, and the call its own record all the same.
    let Some(mut row) = rows::find(change, &call.task).await? else {
        return Ok(Recorded { sequence: None, blocks: None });
    };
    if row.task.state.is_final() {
        let sequence = end_late(change, &mut row, call, (&end, lengths), now).await?;
        return Ok(Recorded { sequence, blocks: None });
    }
    let answers = match taken {
        Some(answers) => answers,
        // It was taken for lost.
        None => unknown(change, &row, call).await?,
    };
    let body = body(call, end, answers, taken.is_none());
    let waits = match &body {
        Body::ToolCall(ToolCall { waits_for: Some(thing), status, .. }) => {
            Some((status.clone(), thing.wait().state().reason()))
        }
        _ => None,
    };
    let sequence = append(change, &mut row, Of::call(call, lengths), body, now).await?;
    Ok(Recorded { sequence: Some(sequence), blocks: waits })
}

/// The outcome of a call that was under way when its task ended answers its entry. The task is as it ended.
async fn end_late(
    change: &mut Change,
    row: &mut Row,
    call: &TaskCall,
    (end, lengths): (&CallEnd<'_>, Lengths),
    now: SystemTime,
) -> Result<Option<u64>, Fault> {
    let Some(answers) = open::unanswered(change, &call.task, call.key.request_id).await? else {
        tracing::info!(call_id = %call.call_id(), task_id = %call.task, "a call ended after its task");
        return Ok(None);
    };
    let body = answer(call, end, answers, AFTER_END.to_owned());
    Ok(Some(append(change, row, Of::call(call, lengths), body, now).await?))
}

/// The entry of a call whose end was not known.
async fn unknown(change: &mut Change, row: &Row, call: &TaskCall) -> Result<Option<u64>, Fault> {
    let entry = open::unanswered(change, &call.task, call.key.request_id).await?;
    let waits = |sequence: &u64| {
        let mut waits = row.task.waits.iter();
        waits.any(|wait| wait.sequence == *sequence && matches!(wait.thing, Thing::Call(_)))
    };
    Ok(entry.filter(waits))
}

fn body(call: &TaskCall, end: CallEnd<'_>, answers: Option<u64>, late: bool) -> Body {
    let error = end.result.outcome.as_ref().err().cloned();
    let is_unknown = call.effect == Effect::Write
        && error.as_ref().is_some_and(|error| error.code == ErrorCode::OutcomeUnknown);
    let result = end.result.outcome.as_ref().ok().map(|payload| Part::Whole(payload.json_text().to_owned()));
    let provenance = end.result.provenance.clone();
    let (documents, untrusted) = (end.documents.to_vec(), end.untrusted);
    let waits_for = match (is_unknown, end.needs_credentials) {
        (true, _) => Some((Thing::Call(call.call_id()), UNKNOWN.to_owned())),
        (false, Some(source)) => {
            Some((Thing::Source(source.to_owned()), format!("→ awaiting credentials for {source}")))
        }
        (false, None) => None,
    };
    if let (Some(answers), None) = (answers, &waits_for) {
        let status = if late { CAME_LATE.to_owned() } else { String::new() };
        return answer(call, &end, answers, status);
    }
    let (waits_for, status) = waits_for.unzip();
    let status = status.unwrap_or_default();
    Body::ToolCall(ToolCall {
        result,
        error,
        status,
        documents,
        provenance,
        waits_for,
        untrusted,
        ..entry_of(call)
    })
}

/// The answer of a call that has an entry.
fn answer(call: &TaskCall, end: &CallEnd<'_>, answers: u64, status: String) -> Body {
    let outcome = end.result.outcome.as_ref();
    Body::Answer(Answer {
        answers,
        status,
        result: outcome.ok().map(|payload| Part::Whole(payload.json_text().to_owned())),
        error: outcome.err().cloned(),
        documents: end.documents.to_vec(),
        origin: call.call_id().to_string(),
        provenance: end.result.provenance.clone(),
        untrusted: end.untrusted,
    })
}

async fn suspend_in(
    change: &mut Change,
    call: &TaskCall,
    (id, lengths): (&ConfirmationId, Lengths),
    now: SystemTime,
) -> Result<Recorded, Fault> {
    calls::suspend(change, &call.key).await?;
    open::take(change, call).await?;
    let mut row = load(change, &call.key.user, &call.task).await?;
    if row.task.state.is_final() {
        return Ok(Recorded { sequence: None, blocks: None });
    }
    let (thing, status) = (Thing::Confirmation(id.clone()), awaiting(id));
    if let Some(wait) = row.task.waits.iter().find(|wait| wait.thing == thing) {
        // Made again before a person has decided: the task waits for that already, and once.
        return Ok(Recorded { sequence: Some(wait.sequence), blocks: Some((status, None)) });
    }
    let body = waiting(call, thing, status.clone());
    let sequence = append(change, &mut row, Of::call(call, lengths), body, now).await?;
    // A person may have been quicker.
    if let Some((confirmation, error)) = confirmation_rows::decided_already(change, id).await? {
        tell_task(change, &confirmation, confirmation.state, error, now).await?;
        return Ok(Recorded { sequence: Some(sequence), blocks: None });
    }
    Ok(Recorded { sequence: Some(sequence), blocks: Some((status, None)) })
}
