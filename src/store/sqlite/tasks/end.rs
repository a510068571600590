//! The one way in which a task ends, whoever ends it: with what it still waits for, and with its parent's answer, in
//! one change.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{
    entries::{Of, append},
    fault::Fault,
    open::{self, Left, names},
    rows::{self, Row, column, json as text_of},
};
use crate::{
    sqlite::{Change, Failed, cancellations, confirmation_rows, time::millis},
    tasks::{
        Kind, Stopped, Task,
        entry::{
            Answer, Body, CallType, Cause, DocumentVersion, End, Ended, Lengths, Message, Part, Speaker,
            Thing, ToolCall,
        },
        life::State,
    },
};
use toolwire_contract::{ErrorCode, Provenance, ToolError};
use toolwire_tool::context::{TaskId, UserId};

/// Ended tasks have nothing open below them.
const BELOW: &str = "WITH RECURSIVE below (id) AS (SELECT id FROM tasks WHERE parent = ? AND ended_at IS NULL \
     UNION ALL SELECT t.id FROM tasks t JOIN below b ON t.parent = b.id WHERE t.ended_at IS NULL) SELECT id FROM below";

const ENTRIES: &str = "INSERT INTO entries (task, seq, at, kind, step, position, head) \
     SELECT id, next, ?2, 'ended', 0, 0, ?3 FROM tasks WHERE id IN (SELECT value FROM json_each(?1))";

const CANCEL: &str = "UPDATE tasks SET state = 'cancelled', reason = NULL, waiting_step = 0, message = ?2, cause = ?3, \
     next = next + 1, bytes = bytes + ?4, updated_at = ?5, ended_at = ?5, position = ?6 + ranked.rank \
     FROM (SELECT id AS ranked_id, row_number() OVER (ORDER BY number) AS rank FROM tasks \
           WHERE id IN (SELECT value FROM json_each(?1))) AS ranked WHERE id = ranked.ranked_id";

const NO_WAITS: &str = "DELETE FROM waits WHERE task IN (SELECT value FROM json_each(?))";

/// The status of a call that had no outcome yet when its task ended.
const UNDER_WAY: &str = "→ under way when the task ended";

/// What descendants are told.
const WITH_ITS_PARENT: &str = "The task that it belongs to ended";

/// How a task ends.
#[derive(Debug)]
pub(super) struct How {
    pub(super) end: End,
    pub(super) cause: Cause,
    /// JSON text of an object.
    pub(super) result: Option<String>,
    pub(super) documents: Vec<DocumentVersion>,
    pub(super) message: String,
    /// How long the result is, which the parent gets.
    pub(super) lengths: Lengths,
    /// Whether a document that goes to the parent holds text from outside.
    pub(super) untrusted: bool,
}

impl How {
    pub(super) fn completed(cause: Cause, result: String, documents: Vec<DocumentVersion>) -> Self {
        let (message, lengths) = (String::new(), Lengths::default());
        Self {
            end: End::Completed,
            cause,
            result: Some(result),
            documents,
            message,
            lengths,
            untrusted: false,
        }
    }

    /// Without one.
    pub(super) fn without(end: End, cause: Cause, message: impl Into<String>) -> Self {
        let (documents, lengths) = (Vec::new(), Lengths::default());
        Self { end, cause, result: None, documents, message: message.into(), lengths, untrusted: false }
    }
}

/// Ends a task that has not ended. Whoever asks for it has looked whether the table allows it.
pub(super) async fn finish(
    change: &mut Change,
    row: &mut Row,
    how: How,
    now: SystemTime,
) -> Result<Stopped, Fault> {
    // What is open below is waited for.
    let below = if row.task.waits.is_empty() { Vec::new() } else { below(change, &row.task.id).await? };
    let mut stopped = Stopped { tasks: vec![row.task.id.clone()], calls: Vec::new() };
    stopped.tasks.extend(below.iter().cloned());
    let open = open::take_all(change, &stopped.tasks).await?;
    stopped.calls = open.iter().map(|call| call.call_id).collect();
    let own = change.replica().to_owned();
    let elsewhere = open.iter().filter(|call| !call.replica.is_empty() && call.replica != own);
    cancellations::ask_for_calls(change, &row.task.user, elsewhere.map(|call| call.call_id), now).await?;
    enter_open(change, row, open, now).await?;
    confirmation_rows::withdraw_of_tasks(change, &names(&stopped.tasks), millis(now)).await?;
    cancel_all(change, &row.task.user, &below, now).await?;
    let ended = Ended {
        end: how.end,
        result: how.result.map(Part::Whole),
        documents: how.documents,
        message: how.message,
        cause: how.cause,
    };
    append(change, row, Of::default(), Body::Ended(ended), now).await?;
    wake(change, &row.task, how.lengths, how.untrusted, now).await?;
    Ok(stopped)
}

/// What is under way has its entry before the end, since a started write goes on; its outcome answers that later. Of
/// what nobody carries out any more, and of what does nothing but in one change, there is nothing to tell.
async fn enter_open(
    change: &mut Change,
    row: &mut Row,
    open: Vec<Left>,
    now: SystemTime,
) -> Result<(), Failed> {
    let tells = |call: &Left| {
        call.tool_type == CallType::Function && !call.replica.is_empty() && call.answers.is_none()
    };
    for call in open.into_iter().filter(tells) {
        let entry = ToolCall { status: UNDER_WAY.to_owned(), ..call.entry()? };
        let body = Body::ToolCall(entry);
        if call.task == row.task.id {
            append(change, row, call.of(), body, now).await?;
        } else if let Some(mut below) = rows::find(change, &call.task).await? {
            append(change, &mut below, call.of(), body, now).await?;
        }
    }
    Ok(())
}

async fn below(change: &mut Change, id: &TaskId) -> Result<Vec<TaskId>, Failed> {
    let below: Vec<String> = sqlx::query_scalar(BELOW).bind(id.as_str()).fetch_all(&mut **change).await?;
    below.iter().map(|id| rows::parsed(id)).collect()
}

/// Cancels tasks whose ancestor ends: few statements, however many they are.
async fn cancel_all(
    change: &mut Change,
    user: &UserId,
    tasks: &[TaskId],
    now: SystemTime,
) -> Result<(), Failed> {
    if tasks.is_empty() {
        return Ok(());
    }
    let ended = Ended {
        end: End::Cancelled,
        result: None,
        documents: Vec::new(),
        message: WITH_ITS_PARENT.to_owned(),
        cause: Cause::Cancelled,
    };
    let (names, head, at) = (names(tasks), text_of(&Body::Ended(ended)), millis(now));
    let last = rows::position(change, user, tasks.len()).await?;
    let bytes = column(head.len() as u64);
    sqlx::query(ENTRIES).bind(&names).bind(at).bind(head).execute(&mut **change).await?;
    sqlx::query(CANCEL)
        .bind(&names)
        .bind(WITH_ITS_PARENT)
        .bind(text_of(&Cause::Cancelled))
        .bind(bytes)
        .bind(at)
        .bind(column(last - tasks.len() as u64))
        .execute(&mut **change)
        .await?;
    sqlx::query(NO_WAITS).bind(&names).execute(&mut **change).await?;
    Ok(())
}

/// Answers the parent that waits for a task that has ended.
async fn wake(
    change: &mut Change,
    child: &Task,
    lengths: Lengths,
    untrusted: bool,
    now: SystemTime,
) -> Result<(), Fault> {
    let Some(parent) = &child.parent else { return Ok(()) };
    let Some(mut row) = rows::find(change, parent).await? else { return Ok(()) };
    let waits = row.task.waits.iter().find(|wait| match &wait.thing {
        Thing::Child(id) | Thing::Question(id) => *id == child.id,
        _ => false,
    });
    let Some(sequence) = waits.map(|wait| wait.sequence) else {
        tracing::info!(task_id = %child.id, parent_id = %parent, "nobody waits for a task that ended");
        return Ok(());
    };
    let answer = Answer {
        answers: sequence,
        status: match child.kind {
            Kind::Question => format!("← answer from {}", answerer(child)),
            Kind::Root | Kind::Agent => format!("← result from {}", child.id),
        },
        result: Some(Part::Whole(result(child))),
        error: (child.state == State::Failed).then(|| {
            let error = ToolError::new(ErrorCode::Unknown, format!("The task failed: {}", child.message));
            ToolError { retryable: false, ..error }
        }),
        documents: child.result_documents.clone(),
        origin: child.id.to_string(),
        provenance: Provenance::default(),
        untrusted: child.tainted || untrusted,
    };
    append(change, &mut row, Of { lengths, ..Of::default() }, Body::Answer(answer), now).await?;
    note(change, child, &row.task.id, now).await
}

/// What the parent gets.
fn result(child: &Task) -> String {
    match &child.result {
        Some(result) => result.clone(),
        None => json!({"status": child.state.into_str(), "message": child.message}).to_string(),
    }
}

fn answerer(question: &Task) -> String {
    match (&question.master, question.cause) {
        (Some((master, _)), cause) if cause != Some(Cause::Answered) => master.to_string(),
        _ => "a person".to_owned(),
    }
}

/// The master, which goes on later, is told what it was asked and what was answered.
async fn note(change: &mut Change, question: &Task, asker: &TaskId, now: SystemTime) -> Result<(), Fault> {
    let (Some((master, _)), Some(result)) = (&question.master, &question.result) else { return Ok(()) };
    let Some(mut row) = rows::find(change, master).await? else { return Ok(()) };
    if row.task.state.is_final() {
        return Ok(());
    }
    let text = format!(
        "Question from {asker}: {}\n\nAnswer from {}: {}",
        question.request,
        answerer(question),
        said(result)
    );
    let message = Message { speaker: Speaker::User, text: Part::Whole(text), opaque: None };
    append(change, &mut row, Of::default(), Body::Message(message), now).await?;
    Ok(())
}

/// The words of an answer, if it is made of words.
fn said(result: &str) -> String {
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    let words = ["answer", "text"].iter().find_map(|key| value.get(key)?.as_str());
    words.unwrap_or(result).to_owned()
}
