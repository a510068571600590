//! The end of a task, for every cause: its remaining waits and the answer to its parent are handled in the same
//! transaction.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{
    entries::{EntryMeta, append},
    error::TxError,
    load::{LoadedTask, find},
};
use crate::{
    tasks::{
        Stopped, Task,
        entry::{
            Answer, Body, CallType, Cause, DocumentVersion, End, Ended, Lengths, Message, Speaker, Text,
            ToolCall, WaitTarget,
        },
        rows::{
            self, entries,
            open_calls::{self, OpenCallRow},
            timeline_usage::{self, UsageDelta},
            waits,
        },
        texts,
    },
    topic::Topic,
    transactions::{cancellations, transitions},
};
use toolwire_db::{Error, Tx, time::millis};
use toolwire_tool::context::{TaskId, UserId};

#[derive(Debug)]
pub(super) struct TaskEnd {
    pub(super) end: End,
    pub(super) cause: Cause,
    /// JSON text of an object.
    pub(super) result: Option<String>,
    pub(super) documents: Vec<DocumentVersion>,
    pub(super) message: String,
    /// Token counts of the result, which the parent receives.
    pub(super) lengths: Lengths,
    /// Whether a document for the parent contains untrusted text.
    pub(super) untrusted: bool,
}

impl TaskEnd {
    pub(super) fn completed(cause: Cause, result: String, documents: Vec<DocumentVersion>) -> Self {
        Self { result: Some(result), documents, ..Self::without_result(End::Completed, cause, "") }
    }

    pub(super) fn without_result(end: End, cause: Cause, message: &str) -> Self {
        Self {
            end,
            cause,
            result: None,
            documents: Vec::new(),
            message: message.to_owned(),
            lengths: Lengths::default(),
            untrusted: false,
        }
    }
}

/// Ends an open task. The caller has checked that its state allows it.
pub(super) async fn finish(
    tx: &mut Tx,
    loaded: &mut LoadedTask,
    end: TaskEnd,
    now: SystemTime,
) -> Result<Stopped, TxError> {
    let (id, user) = (loaded.task.id.clone(), loaded.task.user.clone());
    // A parent waits for each open child, so a task without waits has no open task below it.
    let below = if loaded.task.waits.is_empty() { Vec::new() } else { rows::open_below(&id).all(tx).await? };
    let mut stopped = Stopped { tasks: vec![id], calls: Vec::new() };
    stopped.tasks.extend(below.iter().cloned());
    let open = open_calls::delete_all(&stopped.tasks).all(tx).await?;
    stopped.calls = open.iter().map(|call| call.call_id).collect();
    // The caller cancels the calls of this process after the commit; the others are requested in the transaction.
    let own = tx.replica().to_owned();
    let elsewhere = open.iter().filter(|call| !call.replica.is_empty() && call.replica != own);
    cancellations::request_for_calls(tx, &user, elsewhere.map(|call| call.call_id)).await?;
    // Before any end, since only answers can follow the end of a timeline.
    append_open_calls(tx, loaded, open, now).await?;
    transitions::withdraw_for_tasks(tx, &json_array(&stopped.tasks), millis(now)).await?;
    cancel_all(tx, &user, &below, now).await?;
    let ended = Ended {
        end: end.end,
        result: end.result.map(Text::Inline),
        documents: end.documents,
        message: end.message,
        cause: end.cause,
    };
    append(tx, loaded, EntryMeta::default(), Body::Ended(ended), now).await?;
    // Last, since the answer is derived from the ended task.
    answer_parent(tx, &loaded.task, end.lengths, end.untrusted, now).await?;
    Ok(stopped)
}

/// The identifiers of tasks as a JSON array.
fn json_array(tasks: &[TaskId]) -> String {
    json!(tasks.iter().map(TaskId::as_str).collect::<Vec<_>>()).to_string()
}

/// Appends entries for calls in flight, since a started write continues; its outcome answers the entry later. Calls
/// whose process has ended, and calls whose effect is one transaction, need no entry.
async fn append_open_calls(
    tx: &mut Tx,
    loaded: &mut LoadedTask,
    open: Vec<OpenCallRow>,
    now: SystemTime,
) -> Result<(), Error> {
    let is_under_way = |call: &OpenCallRow| {
        call.tool_type == CallType::Function && !call.replica.is_empty() && call.answers.is_none()
    };
    for call in open.into_iter().filter(is_under_way) {
        let body = Body::ToolCall(ToolCall { status: texts::UNDER_WAY.to_owned(), ..call.entry() });
        if call.task == loaded.task.id {
            append(tx, loaded, call.meta(), body, now).await?;
        } else if let Some(mut below) = find(tx, &call.task).await? {
            append(tx, &mut below, call.meta(), body, now).await?;
        }
    }
    Ok(())
}

/// Cancels tasks whose ancestor ends, in a constant number of statements.
async fn cancel_all(tx: &mut Tx, user: &UserId, tasks: &[TaskId], now: SystemTime) -> Result<(), Error> {
    if tasks.is_empty() {
        return Ok(());
    }
    let message = texts::WITH_ITS_PARENT;
    let ended = Ended {
        end: End::Cancelled,
        result: None,
        documents: Vec::new(),
        message: message.to_owned(),
        cause: Cause::Cancelled,
    };
    let bytes = entries::insert_last(tx, tasks, &Body::Ended(ended), now).await?;
    let added = UsageDelta { tasks: 0, bytes: (bytes * tasks.len()) as u64, positions: tasks.len() };
    let last = timeline_usage::add(user, added).one(tx).await?;
    rows::cancel_all(tasks, message, bytes, last, now).run(tx).await?;
    waits::delete_all(tasks).run(tx).await?;
    tx.notify(Topic::Tasks);
    Ok(())
}

/// Answers the parent that waits for the ended task.
async fn answer_parent(
    tx: &mut Tx,
    child: &Task,
    lengths: Lengths,
    untrusted: bool,
    now: SystemTime,
) -> Result<(), TxError> {
    let Some(parent) = &child.parent else { return Ok(()) };
    let Some(mut loaded) = find(tx, parent).await? else { return Ok(()) };
    let wait = loaded.task.waits.iter().find(|wait| match &wait.target {
        WaitTarget::Child(id) | WaitTarget::Question(id) => *id == child.id,
        _ => false,
    });
    let Some(sequence) = wait.map(|wait| wait.sequence) else {
        tracing::info!(task_id = %child.id, parent_id = %parent, "no task waits for a task that ended");
        return Ok(());
    };
    let answer = Answer {
        answers: sequence,
        status: texts::answer_from(child),
        result: Some(Text::Inline(result(child))),
        error: texts::child_failed(child),
        documents: child.result_documents.clone(),
        origin: child.id.to_string(),
        untrusted: child.tainted || untrusted,
        ..Answer::default()
    };
    let meta = EntryMeta { lengths, ..EntryMeta::default() };
    append(tx, &mut loaded, meta, Body::Answer(answer), now).await?;
    inform_master(tx, child, &loaded.task.id, now).await
}

/// The result for the parent.
fn result(child: &Task) -> String {
    match &child.result {
        Some(result) => result.clone(),
        None => json!({"status": child.state.into_str(), "message": child.message}).to_string(),
    }
}

/// Appends a question and its answer to the timeline of the asked master, for its later steps.
async fn inform_master(tx: &mut Tx, question: &Task, asker: &TaskId, now: SystemTime) -> Result<(), TxError> {
    let (Some((master, _)), Some(result)) = (&question.master, &question.result) else { return Ok(()) };
    let Some(mut loaded) = find(tx, master).await? else { return Ok(()) };
    if loaded.task.state.is_final() {
        return Ok(());
    }
    let text = Text::Inline(texts::question_and_answer(question, asker, &plain_text(result)));
    let message = Message { speaker: Speaker::User, text, opaque: None };
    append(tx, &mut loaded, EntryMeta::default(), Body::Message(message), now).await?;
    Ok(())
}

/// The text of an answer, if it is plain text.
fn plain_text(result: &str) -> String {
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    let words = ["answer", "text"].iter().find_map(|key| value.get(key)?.as_str());
    words.unwrap_or(result).to_owned()
}
