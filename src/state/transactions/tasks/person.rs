//! Operations of persons and agents on tasks other than calls: create, end, cancel, answer.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{
    admit, create, documents,
    end::{TaskEnd, finish},
    error::TxError,
    lengths,
    load::{LoadedTask, find, load},
    mutations,
    record::{CONTINUE, record, response_of},
};
use crate::{
    Store,
    idempotency::Quota,
    tasks::{
        Action, Ending, Kind, Mutation, NewEnd, NewRoot, Refused, RootCall, Stopped, Task, TaskError,
        entry::{Cause, End, Lengths},
        life::{Event, Next, State},
        texts,
    },
    transactions::{
        audit::{self, AuditedRequest},
        calls,
    },
};
use toolwire_base::digest::Digest;
use toolwire_db::{Durability, Error, Lane, Scoped, Tx, scoped, time::millis};
use toolwire_tool::context::{TaskId, UserId};

impl Store {
    /// Creates a root. Its documents must be in the workspace of its identifier.
    pub async fn create_root_task(&self, new: &NewRoot, mutation: Mutation) -> Result<Task, TaskError> {
        self.transact_tasks(&new.user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(create_root(tx, new, mutation, now))
        })
        .await
    }

    /// Creates a root for a call without a task, and records the call's outcome.
    pub async fn start_root_task(&self, call: &RootCall, new: &NewRoot) -> Result<Action, TaskError> {
        let quota = self.calls_quota;
        self.transact_tasks(&call.key.user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(start_root(tx, call, new, quota, now))
        })
        .await
    }

    /// Ends a task whose agent has stopped.
    pub async fn end_task(
        &self,
        user: &UserId,
        id: &TaskId,
        end: &NewEnd,
        lease_token: u64,
        mutation: Mutation,
    ) -> Result<Ending<Task>, TaskError> {
        let lengths = match end {
            NewEnd::Completed(result, _) => {
                lengths::of_result(&Value::Object(result.clone()).to_string()).await
            }
            NewEnd::Failed(_) => Lengths::default(),
        };
        self.end_by(user, |tx| {
            let now = tx.now();
            scoped(async move {
                let mut loaded = load(tx, user, id).await?;
                if mutations::find::<bool>(tx, user, mutation, now).await?.is_some() {
                    return Ok(unchanged(loaded));
                }
                admit::in_time(&loaded.task, now)?;
                admit::driver(&loaded.task, lease_token, now)?;
                let end = end_of(tx, &loaded.task, end).await?;
                let stopped = finish(tx, &mut loaded, TaskEnd { lengths, ..end }, now).await?;
                mutations::record(tx, user, mutation, &true, now).await?;
                let request = AuditedRequest::new("TaskService.EndTask", user, id, mutation.digest);
                let request = AuditedRequest { request_id: Some(mutation.request_id), ..request };
                audit::record_request(tx, &request, now).await?;
                Ok::<_, TxError>(Ending { of: loaded.task, stopped })
            })
        })
        .await
    }

    /// Cancels a task, its descendants, and their waits. An ended task stays as it is.
    pub async fn cancel_task(
        &self,
        user: &UserId,
        id: &TaskId,
        reason: &str,
    ) -> Result<Ending<Task>, TaskError> {
        self.end_by(user, |tx| {
            let now = tx.now();
            scoped(async move {
                let mut loaded = load(tx, user, id).await?;
                if loaded.task.state.on(Event::Cancelled) == Next::Same {
                    return Ok(unchanged(loaded));
                }
                let end = TaskEnd::without_result(End::Cancelled, Cause::Cancelled, reason);
                let stopped = finish(tx, &mut loaded, end, now).await?;
                let digest = Digest::of_parts([id.as_str(), reason]);
                audit::record_request(
                    tx,
                    &AuditedRequest::new("TaskService.CancelTask", user, id, digest),
                    now,
                )
                .await?;
                Ok::<_, TxError>(Ending { of: loaded.task, stopped })
            })
        })
        .await
    }

    /// Answers a question. Only the first answer counts; an equal repeat succeeds.
    pub async fn answer_question(
        &self,
        user: &UserId,
        id: &TaskId,
        answer: &str,
        documents: &[String],
    ) -> Result<Ending<Task>, TaskError> {
        let result = json!({"answer": answer}).to_string();
        let given =
            NewAnswer { answer, result: &result, lengths: lengths::of_result(&result).await, documents };
        self.end_by(user, |tx| {
            let now = tx.now();
            scoped(answer_question(tx, user, id, given, now))
        })
        .await
    }

    /// Fails a task whose deadline has passed.
    pub(super) async fn fail_overdue(&self, user: &UserId, id: &TaskId) -> Result<Stopped, TaskError> {
        let failed = self.transact(Lane::User(user), Durability::Power, |tx| {
            let now = tx.now();
            scoped(async move {
                let Some(mut loaded) = find(tx, id).await? else { return Err(Refused::Unknown.into()) };
                if loaded.task.state.is_final() || loaded.task.deadline > now {
                    return Ok(Stopped::default());
                }
                let end = TaskEnd::without_result(End::Failed, Cause::TimedOut, texts::TIMED_OUT);
                finish(tx, &mut loaded, end, now).await
            })
        });
        let stopped = failed.await?;
        self.notify_confirmation_withdrawals();
        Ok(stopped)
    }

    /// Runs a transaction that may end a task.
    async fn end_by<'a>(
        &self,
        user: &UserId,
        work: impl for<'c> FnMut(&'c mut Tx) -> Scoped<'a, 'c, Result<Ending<Task>, TxError>> + Send,
    ) -> Result<Ending<Task>, TaskError> {
        let ending = self.transact_tasks(user, Durability::Power, work).await?;
        // An end withdraws the confirmations that the task asked for.
        self.notify_confirmation_withdrawals();
        Ok(ending)
    }
}

async fn create_root(
    tx: &mut Tx,
    new: &NewRoot,
    mutation: Mutation,
    now: SystemTime,
) -> Result<Task, TxError> {
    if let Some(id) = mutations::find::<String>(tx, &new.user, mutation, now).await? {
        let id = id.parse().map_err(|_| Error::unreadable("answer", "it names no task"))?;
        return Ok(load(tx, &new.user, &id).await?.task);
    }
    let task = create::root(tx, new, now).await?.task;
    mutations::record(tx, &new.user, mutation, &task.id.as_str(), now).await?;
    let request = AuditedRequest::new("TaskService.CreateTask", &task.user, &task.id, mutation.digest);
    let request = AuditedRequest { request_id: Some(mutation.request_id), ..request };
    audit::record_request(tx, &request, now).await?;
    Ok(task)
}

async fn start_root(
    tx: &mut Tx,
    call: &RootCall,
    new: &NewRoot,
    quota: Quota,
    now: SystemTime,
) -> Result<Action, TxError> {
    let found = calls::find(tx, &call.key, millis(now)).await?;
    let has_record = found.is_some();
    if let Some(found) = found
        && let Some(action) = response_of(found, call.digest, &call.key)?
    {
        return Ok(action);
    }
    let task = create::root(tx, new, now).await?.task;
    let action = Action { status: texts::started(&task.id), task_id: Some(task.id), ..CONTINUE };
    record(tx, &call.begins(), &action, has_record, quota, now).await?;
    Ok(action)
}

async fn end_of(tx: &mut Tx, task: &Task, end: &NewEnd) -> Result<TaskEnd, TxError> {
    match end {
        NewEnd::Completed(result, paths) => {
            // An agent that completes a pending task has worked on it without a call.
            if task.state != State::Pending {
                admit::event(task, Event::HandedOff)?;
            }
            let (documents, untrusted) = documents::pin(tx, &task.root, paths).await?;
            let result = Value::Object(result.clone()).to_string();
            Ok(TaskEnd { untrusted, ..TaskEnd::completed(Cause::EndTurn, result, documents) })
        }
        NewEnd::Failed(message) => {
            admit::event(task, Event::Failed)?;
            Ok(TaskEnd::without_result(End::Failed, Cause::Failed, message))
        }
    }
}

/// An answer to a question.
#[derive(Clone, Copy)]
struct NewAnswer<'a> {
    answer: &'a str,
    /// The answer as the result of the question's task.
    result: &'a str,
    lengths: Lengths,
    documents: &'a [String],
}

async fn answer_question(
    tx: &mut Tx,
    user: &UserId,
    id: &TaskId,
    NewAnswer { answer, result, lengths, documents: paths }: NewAnswer<'_>,
    now: SystemTime,
) -> Result<Ending<Task>, TxError> {
    let mut loaded = load(tx, user, id).await?;
    if loaded.task.kind != Kind::Question {
        return Err(Refused::NotAQuestion.into());
    }
    if loaded.task.state == State::Completed {
        let given = loaded.task.result_documents.iter().map(|document| &document.path);
        let is_equal = loaded.task.result.as_deref() == Some(result) && given.eq(paths);
        return if is_equal { Ok(unchanged(loaded)) } else { Err(Refused::AlreadyAnswered.into()) };
    }
    admit::in_time(&loaded.task, now)?;
    admit::event(&loaded.task, Event::Answered)?;
    let (documents, untrusted) = documents::pin(tx, &loaded.task.root, paths).await?;
    let end =
        TaskEnd { lengths, untrusted, ..TaskEnd::completed(Cause::Answered, result.to_owned(), documents) };
    let stopped = finish(tx, &mut loaded, end, now).await?;
    let digest = Digest::of_parts([id.as_str(), answer].into_iter().chain(paths.iter().map(String::as_str)));
    audit::record_request(tx, &AuditedRequest::new("TaskService.AnswerQuestion", user, id, digest), now)
        .await?;
    Ok(Ending { of: loaded.task, stopped })
}

fn unchanged(loaded: LoadedTask) -> Ending<Task> {
    Ending { of: loaded.task, stopped: Stopped::default() }
}
