//! What persons and agents do to a task that is no call: create, say something, end, cancel, answer.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{
    admit,
    create::{self, again},
    documents,
    end::{How, finish},
    fault::Fault,
    lengths, mutations,
    orchestrate::{before, record},
    rows::{load, parsed},
};
use crate::{
    sqlite::{
        Durability, Sqlite,
        audit::{self, Changed},
        calls,
        time::millis,
    },
    tasks::{
        Action, Ending, Kind, LoopControl, Mutation, NewEnd, NewRoot, Refused, RootCall, Stopped, Task,
        entry::{Cause, End, Lengths},
        life::{Event, Next, State},
    },
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{TaskId, UserId};

impl Sqlite {
    pub(super) async fn create_root_task(
        &self,
        new: &NewRoot,
        mutation: Mutation,
        now: SystemTime,
    ) -> Result<Task, Fault> {
        let mut change = self.change(Durability::Power).await?;
        if let Some(id) = mutations::find::<String>(&mut change, &new.user, mutation, now).await? {
            let row = load(&mut change, &new.user, &parsed(&id)?).await?;
            return self.done(change, row.task).await;
        }
        let row = create::root(&mut change, new, now).await?;
        mutations::keep(&mut change, &new.user, mutation, &row.task.id.as_str(), now).await?;
        let noted = of_request("TaskService.CreateTask", &row.task, mutation.digest);
        let noted = Changed { request_id: Some(mutation.request_id), ..noted };
        audit::changed(&mut change, &noted, now).await?;
        self.done(change, row.task).await
    }

    pub(super) async fn start_root_task(
        &self,
        call: &RootCall,
        new: &NewRoot,
        now: SystemTime,
    ) -> Result<Action, Fault> {
        let mut change = self.change(Durability::Power).await?;
        let found = calls::find(&mut change, &call.key, millis(now)).await?;
        let recorded = found.is_some();
        if let Some(found) = found
            && let Some(action) = before(found, call.digest, &call.key)?
        {
            return self.done(change, action).await;
        }
        let row = create::root(&mut change, new, now).await?;
        let action = Action {
            action: LoopControl::Continue,
            status: format!("→ started (task {})", row.task.id),
            task_id: Some(row.task.id),
            sequence: None,
            logged: false,
        };
        record(&mut change, &call.begins(), &action, recorded, self.room, now).await?;
        self.done(change, action).await
    }

    pub(super) async fn end_user_task(
        &self,
        user: &UserId,
        id: &TaskId,
        end: &NewEnd,
        lease_token: u64,
        mutation: Mutation,
        now: SystemTime,
    ) -> Result<Ending<Task>, Fault> {
        let lengths = match end {
            NewEnd::Completed(result, _) => {
                lengths::of_result(&Value::Object(result.clone()).to_string()).await
            }
            NewEnd::Failed(_) => Lengths::default(),
        };
        let mut change = self.change(Durability::Power).await?;
        let mut row = load(&mut change, user, id).await?;
        if mutations::find::<bool>(&mut change, user, mutation, now).await?.is_some() {
            let ending = Ending { of: row.task, stopped: Stopped::default() };
            return self.done(change, ending).await;
        }
        admit::in_time(&row.task, now)?;
        admit::driver(&row.task, lease_token, now)?;
        let how = match end {
            NewEnd::Completed(result, paths) => {
                // Whoever ends it so has worked on it.
                if row.task.state != State::Pending {
                    admit::event(&row.task, Event::HandedOff)?;
                }
                let (documents, untrusted) = documents::present(&mut change, &row.task.root, paths).await?;
                let result = Value::Object(result.clone()).to_string();
                How { untrusted, ..How::completed(Cause::EndTurn, result, documents) }
            }
            NewEnd::Failed(message) => {
                admit::event(&row.task, Event::Failed)?;
                How::without(End::Failed, Cause::Failed, message.as_str())
            }
        };
        let stopped = finish(&mut change, &mut row, How { lengths, ..how }, now).await?;
        mutations::keep(&mut change, user, mutation, &true, now).await?;
        let noted = of_request("TaskService.EndTask", &row.task, mutation.digest);
        let noted = Changed { request_id: Some(mutation.request_id), ..noted };
        audit::changed(&mut change, &noted, now).await?;
        self.ended(change, row.task, stopped).await
    }

    pub(super) async fn cancel_user_task(
        &self,
        user: &UserId,
        id: &TaskId,
        reason: &str,
        now: SystemTime,
    ) -> Result<Ending<Task>, Fault> {
        let mut change = self.change(Durability::Power).await?;
        let mut row = load(&mut change, user, id).await?;
        if row.task.state.on(Event::Cancelled) == Next::Same {
            return self.ended(change, row.task, Stopped::default()).await;
        }
        let how = How::without(End::Cancelled, Cause::Cancelled, reason);
        let stopped = finish(&mut change, &mut row, how, now).await?;
        let digest = Digest::of_parts([id.as_str(), reason]);
        audit::changed(&mut change, &of_request("TaskService.CancelTask", &row.task, digest), now).await?;
        self.ended(change, row.task, stopped).await
    }

    pub(super) async fn answer_user_question(
        &self,
        user: &UserId,
        id: &TaskId,
        answer: &str,
        paths: &[String],
        now: SystemTime,
    ) -> Result<Ending<Task>, Fault> {
        let result = json!({"answer": answer}).to_string();
        let lengths = lengths::of_result(&result).await;
        let mut change = self.change(Durability::Power).await?;
        let mut row = load(&mut change, user, id).await?;
        if row.task.kind != Kind::Question {
            return Err(Refused::NotAQuestion.into());
        }
        if row.task.state == State::Completed {
            let given = row.task.result_documents.iter().map(|document| &document.path);
            let equal = row.task.result.as_ref() == Some(&result) && given.eq(paths);
            if !equal {
                return Err(Refused::AlreadyAnswered.into());
            }
            return self.ended(change, row.task, Stopped::default()).await;
        }
        admit::in_time(&row.task, now)?;
        admit::event(&row.task, Event::Answered)?;
        let (documents, untrusted) = documents::present(&mut change, &row.task.root, paths).await?;
        let how = How { lengths, untrusted, ..How::completed(Cause::Answered, result, documents) };
        let stopped = finish(&mut change, &mut row, how, now).await?;
        let digest =
            Digest::of_parts([id.as_str(), answer].into_iter().chain(paths.iter().map(String::as_str)));
        let noted = of_request("TaskService.AnswerQuestion", &row.task, digest);
        audit::changed(&mut change, &noted, now).await?;
        self.ended(change, row.task, stopped).await
    }

    /// Fails a task whose time is over.
    pub(super) async fn fail_overdue(&self, id: &TaskId, now: SystemTime) -> Result<Stopped, Fault> {
        let mut change = self.change(Durability::Power).await?;
        let mut row = again(&mut change, id).await?;
        if row.task.state.is_final() || row.task.deadline > now {
            return Ok(Stopped::default());
        }
        let how = How::without(End::Failed, Cause::TimedOut, "The task did not end before its deadline");
        let stopped = finish(&mut change, &mut row, how, now).await?;
        Ok(self.ended(change, row.task, stopped).await?.stopped)
    }

    async fn ended(
        &self,
        change: crate::sqlite::Change,
        task: Task,
        stopped: Stopped,
    ) -> Result<Ending<Task>, Fault> {
        let ending = self.done(change, Ending { of: task, stopped }).await?;
        self.confirmations_withdrawn();
        Ok(ending)
    }
}

/// What a request changed that its user made of a task.
pub(super) fn of_request<'a>(method: &'static str, task: &'a Task, digest: Digest) -> Changed<'a> {
    Changed { method, user: &task.user, digest, task: &task.id, request_id: None, call_id: None }
}
