//! Changes to tasks that are not calls of its agent: messages, answers, cancellation.

use serde_json::{Map, Value, json};

use super::{MAX_REQUEST_LENGTH, Tasks, documents, mutation, parse_id, result, text, why};
use crate::service::request::refuse;
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::task_refusal;
use toolwire_state::tasks::{NewEnd, NewMessage, Resolution, StepRef, Task, entry::Opaque};
use toolwire_tool::context::{CallId, RequestId, TaskId, User};

/// Maximum length of a message, and of its part for one provider, in bytes.
const MAX_MESSAGE_LENGTH: usize = 262_144;
const MAX_OPAQUE_LENGTH: usize = 65_536;

/// Maximum length of the reason for which a task failed, in characters.
const MAX_FAILURE_LENGTH: usize = 4_096;

const MAX_REASON_LENGTH: usize = 1_000;

impl Tasks {
    /// Appends a message of the agent or of a person. Returns the sequence of its entry.
    pub async fn append(
        &self,
        user: &User,
        id: &str,
        message: NewMessage,
        request_id: Option<RequestId>,
    ) -> Result<u64, Refusal> {
        let id = parse_id(id)?;
        let opaque = message.opaque.as_ref();
        if message.text.is_empty() && opaque.is_none() {
            return Err(refuse("message.text", "required", "must not be empty"));
        }
        super::check_length("message.text", &message.text, MAX_MESSAGE_LENGTH)?;
        if let Some(Opaque { data, .. }) = opaque.filter(|it| it.data.len() > MAX_OPAQUE_LENGTH) {
            let what = format!("must have at most {MAX_OPAQUE_LENGTH} bytes, and has {}", data.len());
            return Err(refuse("message.opaque.data", "max_length", &what));
        }
        let mutation = mutation("AppendMessage", request_id, &json!([id.as_str(), canonical(&message)]))?;
        let appended = self.0.store.append_message(&user.id, &id, &message, mutation);
        appended.await.map_err(why(&id))
    }

    /// Ends a task whose agent has stopped without a hand-off, or failed.
    pub async fn end(
        &self,
        user: &User,
        id: &str,
        end: NewEnd,
        lease_token: u64,
        request_id: Option<RequestId>,
    ) -> Result<Task, Refusal> {
        let id = parse_id(id)?;
        let end = match end {
            NewEnd::Completed(value, paths) => NewEnd::Completed(
                result("completed.result", value)?,
                documents("completed.documents", paths)?,
            ),
            NewEnd::Failed(why) => {
                if why.trim().is_empty() || why.chars().count() > MAX_FAILURE_LENGTH {
                    let what = format!("must say why, in 1 to {MAX_FAILURE_LENGTH} characters");
                    return Err(refuse("failed", "max_length", &what));
                }
                NewEnd::Failed(why)
            }
        };
        let content = match &end {
            NewEnd::Completed(value, paths) => json!([id.as_str(), "completed", value, paths]),
            NewEnd::Failed(why) => json!([id.as_str(), "failed", why]),
        };
        let mutation = mutation("EndTask", request_id, &content)?;
        let ended = self.0.store.end_task(&user.id, &id, &end, lease_token, mutation).await;
        Ok(self.settle(ended.map_err(why(&id))?))
    }

    /// Cancels a task and the tasks below it. Also returns the number of the latter.
    pub async fn cancel(&self, user: &User, id: &str, reason: &str) -> Result<(Task, usize), Refusal> {
        let id = parse_id(id)?;
        if reason.chars().count() > MAX_REASON_LENGTH {
            let what = format!("must have at most {MAX_REASON_LENGTH} characters");
            return Err(refuse("reason", "max_length", &what));
        }
        let ended = self.0.store.cancel_task(&user.id, &id, reason).await.map_err(why(&id))?;
        let descendants = ended.stopped.tasks.iter().filter(|task| **task != id).count();
        Ok((self.settle(ended), descendants))
    }

    /// Answers a question. The first answer counts.
    pub async fn answer(
        &self,
        user: &User,
        id: &str,
        answer: &str,
        paths: Vec<String>,
    ) -> Result<Task, Refusal> {
        let id = parse_id(id)?;
        text("answer", answer, MAX_REQUEST_LENGTH)?;
        let paths = documents("documents", paths)?;
        let answered = self.0.store.answer_question(&user.id, &id, answer, &paths).await;
        Ok(self.settle(answered.map_err(why(&id))?))
    }

    /// Resolves a write whose outcome is unknown; `done` is its result, if it was done.
    pub async fn resolve(
        &self,
        user: &User,
        id: &str,
        call_id: CallId,
        done: Option<Map<String, Value>>,
        reason: &str,
    ) -> Result<Task, Refusal> {
        let id = parse_id(id)?;
        if reason.trim().is_empty() || reason.chars().count() > MAX_REASON_LENGTH {
            let what = format!("must say how it is known, in 1 to {MAX_REASON_LENGTH} characters");
            return Err(refuse("reason", "required", &what));
        }
        let resolution = match done {
            Some(value) => Resolution::Done(result("done", value)?),
            None => Resolution::NotDone,
        };
        let store = &self.0.store;
        let resolved = store.resolve_unknown_call(&user.id, &id, call_id, &resolution, reason);
        resolved.await.map_err(why(&id))
    }

    /// Resumes every task that waits for a user's credentials for a source; returns how many. Call it after the
    /// credentials are stored; repeating it changes nothing.
    pub async fn credentials_given(&self, user: &User, source: &str) -> Result<usize, Refusal> {
        let given = self.0.store.answer_credentials(&user.id, source).await;
        // An error of the store, which names no task.
        given.map_err(|error| task_refusal(&TaskId::generate(), error))
    }

    /// Deletes an ended tree. A repeat succeeds, too.
    pub async fn delete(&self, user: &User, id: &str) -> Result<(), Refusal> {
        let id = parse_id(id)?;
        self.0.store.delete_task_tree(&user.id, &id).await.map_err(why(&id))
    }
}

/// The text of a message in the digest of its request. It must stay the same across releases, since the digest is
/// stored.
fn canonical(message: &NewMessage) -> String {
    let NewMessage { speaker, text, opaque, step_ref } = message;
    let StepRef { step, position, tool_call_id, lease_token } = step_ref;
    format!(
        "NewMessage {{ speaker: {speaker:?}, text: {text:?}, opaque: {opaque:?}, turn: Turn {{ step: {step}, \
         position: {position}, tool_call_id: {tool_call_id:?}, lease_token: {lease_token} }} }}"
    )
}
