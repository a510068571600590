//! The one way in which a task ends, by whatever cause: with what it still waits for, and with its parent's answer, in
//! one transaction.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{
    entries::{EntryMeta, append},
    error::TxError,
    load::{LoadedTask, find},
};
use crate::{
    engine::{Error, Tx, cancellations, follow::Topic, time::millis, transitions},
    rows::{
        entries,
        open_calls::{self, OpenCallRow},
        tasks as rows,
        timeline_usage::{self, Added},
        waits,
    },
    tasks::{
        Stopped, Task,
        entry::{
            Answer, Body, CallType, Cause, DocumentVersion, End, Ended, Lengths, Message, Speaker, Text,
            ToolCall, WaitTarget,
        },
        texts,
    },
};
use toolwire_contract::Provenance;
use toolwire_tool::context::{TaskId, UserId};

/// How a task ends.
#[derive(Debug)]
pub(super) struct TaskEnd {
    pub(super) end: End,
    pub(super) cause: Cause,
    /// JSON text of an object.
    pub(super) result: Option<String>,
    pub(super) documents: Vec<DocumentVersion>,
    pub(super) message: String,
    /// The length of the result, which the parent gets.
    pub(super) lengths: Lengths,
    /// Whether a document that goes to the parent holds text from outside.
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

/// Ends a task that has not ended. The caller has checked that its state allows it.
pub(super) async fn finish(
    tx: &mut Tx,
    loaded: &mut LoadedTask,
    end: TaskEnd,
    now: SystemTime,
) -> Result<Stopped, TxError> {
    let (id, user) = (loaded.task.id.clone(), loaded.task.user.clone());
    // What is open below is waited for.
    let below = if loaded.task.waits.is_empty() { Vec::new() } else { rows::open_below(tx, &id).await? };
    let mut stopped = Stopped { tasks: vec![id], calls: Vec::new() };
    stopped.tasks.extend(below.iter().cloned());
    let open = open_calls::delete_all(tx, &stopped.tasks).await?;
    stopped.calls = open.iter().map(|call| call.call_id).collect();
    let own = tx.replica().to_owned();
    let elsewhere = open.iter().filter(|call| !call.replica.is_empty() && call.replica != own);
    cancellations::ask_for_calls(tx, &user, elsewhere.map(|call| call.call_id), now).await?;
    // Before any end, since nothing but answers follows the end of a timeline.
    append_open_calls(tx, loaded, open, now).await?;
    let names = names(&stopped.tasks);
    transitions::withdraw_of_tasks(tx, &names, millis(now)).await?;
    cancel_all(tx, &user, &below, now).await?;
    let ended = Ended {
        end: end.end,
        result: end.result.map(Text::Inline),
        documents: end.documents,
        message: end.message,
        cause: end.cause,
    };
    append(tx, loaded, EntryMeta::default(), Body::Ended(ended), now).await?;
    answer_parent(tx, &loaded.task, end.lengths, end.untrusted, now).await?;
    Ok(stopped)
}

/// Names of tasks, as a list in JSON.
fn names(tasks: &[TaskId]) -> String {
    json!(tasks.iter().map(TaskId::as_str).collect::<Vec<_>>()).to_string()
}

/// Appends the calls that are under way, since a started write goes on; its outcome answers the entry later. A call
/// that no process carries out any more has nothing to add, nor has one whose effect is one transaction.
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

/// Cancels tasks whose ancestor ends, in few statements for any number of them.
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
    let added = Added { tasks: 0, bytes: (bytes * tasks.len()) as u64, positions: tasks.len() };
    let last = timeline_usage::add(tx, user, added).await?;
    rows::cancel_all(tx, tasks, message, bytes, last, now).await?;
    waits::delete_all(tx, tasks).await?;
    tx.notify(Topic::Tasks);
    Ok(())
}

/// Answers the parent that waits for a task that has ended.
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
        provenance: Provenance::default(),
        untrusted: child.tainted || untrusted,
    };
    let meta = EntryMeta { lengths, ..EntryMeta::default() };
    append(tx, &mut loaded, meta, Body::Answer(answer), now).await?;
    inform_master(tx, child, &loaded.task.id, now).await
}

/// The result that the parent gets.
fn result(child: &Task) -> String {
    match &child.result {
        Some(result) => result.clone(),
        None => json!({"status": child.state.into_str(), "message": child.message}).to_string(),
    }
}

/// Appends a question and its answer to the timeline of the master that it was for, which goes on later.
async fn inform_master(tx: &mut Tx, question: &Task, asker: &TaskId, now: SystemTime) -> Result<(), TxError> {
    let (Some((master, _)), Some(result)) = (&question.master, &question.result) else { return Ok(()) };
    let Some(mut loaded) = find(tx, master).await? else { return Ok(()) };
    if loaded.task.state.is_final() {
        return Ok(());
    }
    let text = Text::Inline(texts::question_and_answer(question, asker, &words(result)));
    let message = Message { speaker: Speaker::User, text, opaque: None };
    append(tx, &mut loaded, EntryMeta::default(), Body::Message(message), now).await?;
    Ok(())
}

/// The words of an answer, if it is made of words.
fn words(result: &str) -> String {
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    let words = ["answer", "text"].iter().find_map(|key| value.get(key)?.as_str());
    words.unwrap_or(result).to_owned()
}
