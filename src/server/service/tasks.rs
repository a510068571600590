//! Tasks as every face offers them: ownership, and the bounds of a request, once.
//!
//! A face decodes requests and encodes responses in its own form; nothing here is a wire type. Users access their own
//! trees only. Not here: how a call of a task is recorded (`toolwire_engine::pipeline`), and the states of a task
//! (`toolwire_state::tasks`).

mod change;
mod create;
mod handle;
mod lease;
mod list;
mod render;
mod timeline;
mod watch;

use std::sync::Arc;

use serde_json::Value;

pub use self::{
    create::NewTask,
    handle::{Detail, Handled},
    lease::{LeaseTarget, LeaseWish},
    list::Page,
    render::RenderWish,
    timeline::{Following, Step},
    watch::{Watch, WatchEvent},
};
use crate::service::request::refuse;
use toolwire_base::digest::Digest;
use toolwire_contract::{Refusal, TaskRefusal, json};
use toolwire_engine::{
    pipeline::{Pipeline, task_refusal},
    tasks::Orchestrator,
};
use toolwire_state::{
    Store,
    tasks::{Ending, Mutation, OpenCall, Task, TaskError},
    workspace::Workspace,
};
use toolwire_tool::context::{RequestId, TaskId, User};

/// Maximum length of a request, a question or an answer, in bytes.
pub const MAX_REQUEST_LENGTH: usize = 65_536;

/// Maximum number of documents that accompany a request, a result or an answer.
pub const MAX_DOCUMENTS: usize = 64;

/// The parts that tasks need.
#[derive(Clone, Debug)]
pub struct Parts {
    pub store: Arc<Store>,
    /// Carries their calls out.
    pub pipeline: Arc<Pipeline>,
    pub orchestrator: Orchestrator,
    pub workspace: Workspace,
}

/// Tasks, as every face offers them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tasks(Arc<Parts>);

impl Tasks {
    /// The tasks of a store, whose calls go through a pipeline over the same store.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    pub async fn get(&self, user: &User, id: &str) -> Result<Task, Refusal> {
        let id = parse_id(id)?;
        self.0.store.task(&user.id, &id).await.map_err(|error| task_refusal(&id, error))
    }

    /// The calls of a task that have no end yet.
    pub async fn open_calls(&self, user: &User, id: &str) -> Result<Vec<OpenCall>, Refusal> {
        let id = parse_id(id)?;
        self.0.store.open_calls(&user.id, &id).await.map_err(|error| task_refusal(&id, error))
    }

    /// Cancels the calls that a change has stopped, after its commit. Returns the result of the change.
    fn settle<T>(&self, ending: Ending<T>) -> T {
        self.0.pipeline.in_flight().cancel_calls(&ending.stopped.calls);
        ending.of
    }
}

/// Parses the task's name. A malformed one is unknown, in the same words as another user's.
fn parse_id(id: &str) -> Result<TaskId, Refusal> {
    match id.parse() {
        Ok(id) => Ok(id),
        Err(_) if id.is_empty() => {
            Err(refuse("task_id", "required", "must name a task; ListTasks lists yours"))
        }
        Err(_) => Err(TaskRefusal::Unknown { id: id.chars().take(64).collect() }.into()),
    }
}

/// Maps an error of the store to the refusal that names the task.
fn why(id: &TaskId) -> impl Fn(TaskError) -> Refusal + use<'_> {
    move |error| task_refusal(id, error)
}

/// The idempotency key of a change, with the digest of its content: a repeat with another content is refused.
fn mutation(
    method: &'static str,
    request_id: Option<RequestId>,
    content: &Value,
) -> Result<Mutation, Refusal> {
    let missing = || {
        let what = "is required: a new UUID, and the same one again when you repeat the request";
        refuse("request_id", "required", what)
    };
    let request_id = request_id.ok_or_else(missing)?;
    let digest = Digest::of_bytes(content.to_string().as_bytes());
    Ok(Mutation { method, request_id, digest })
}

/// Checks a text of 1 to this many bytes.
fn text<'a>(field: &str, text: &'a str, most: usize) -> Result<&'a str, Refusal> {
    if text.trim().is_empty() {
        return Err(refuse(field, "required", "must not be empty"));
    }
    check_length(field, text, most)
}

/// Checks a text of at most this many bytes.
fn check_length<'a>(field: &str, text: &'a str, most: usize) -> Result<&'a str, Refusal> {
    if text.len() > most {
        return Err(refuse(field, "max_length", &format!("must have at most {most} bytes")));
    }
    Ok(text)
}

/// Checks the paths of accompanying documents.
fn documents(field: &str, paths: Vec<String>) -> Result<Vec<String>, Refusal> {
    if paths.len() > MAX_DOCUMENTS {
        let what = format!("must have at most {MAX_DOCUMENTS} elements");
        return Err(refuse(field, "max_items", &what));
    }
    Ok(paths)
}

/// Checks a result, which may nest as deep as arguments.
fn result(
    field: &str,
    result: serde_json::Map<String, Value>,
) -> Result<serde_json::Map<String, Value>, Refusal> {
    let value = Value::Object(result);
    if !json::is_within_depth(&value) {
        let what = format!("must not nest deeper than {} levels", json::MAX_DEPTH);
        return Err(refuse(field, "depth", &what));
    }
    match value {
        Value::Object(result) => Ok(result),
        _ => unreachable!("it was made an object above"),
    }
}
