//! Request and response types of the task store.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    as_text,
    entry::{CallType, DocumentVersion, Opaque, Speaker},
    life::Reason,
    memory::Memory,
};
use crate::{
    confirmations::ConfirmationRequest,
    idempotency::{About, ArgumentsDigest, Beginning, Effect, Key},
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ToolName, ToolResult, proto::v1};
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

/// A call of a task's agent.
#[derive(Clone, Debug)]
pub struct TaskCall {
    pub task: TaskId,
    /// The user, the tool and the `request_id`, which is the caller's or a generated one.
    pub key: Key,
    pub effect: Effect,
    pub digest: ArgumentsDigest,
    /// Its identifier and metadata.
    pub about: About,
    pub tool_type: CallType,
    /// What the call may change.
    pub category: v1::ToolCategory,
    pub step_ref: StepRef,
    /// The arguments as JSON text, with sensitive values redacted, as the timeline stores them.
    pub input: String,
    /// The scope of the note, if the call saves one.
    pub remembers: Option<Memory>,
}

/// The step of an agent that a call or a message belongs to, as the agent states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepRef {
    /// The model's response that it belongs to, from 1. 0: it is a step by itself.
    pub step: u64,
    /// Its position in the step, from 0.
    pub position: u32,
    /// The model's identifier of the call. Empty: one is generated.
    pub tool_call_id: String,
    /// The fencing token of the lease, required while the task is leased. 0: none.
    pub lease_token: u64,
}

/// A request for the confirmation that a call requires, and its expiry.
#[derive(Clone, Copy, Debug)]
pub struct ExpiringRequest<'a> {
    pub asked: &'a ConfirmationRequest,
    pub decide_within: Duration,
}

#[derive(Clone, Copy, Debug)]
pub struct CallEnd<'a> {
    pub result: &'a ToolResult,
    /// Whether a repeat receives this result. Otherwise the call's record is deleted and it may be made again; the
    /// timeline records this attempt either way.
    pub is_final: bool,
    /// Documents that accompany the result.
    pub documents: &'a [DocumentVersion],
    /// Whether it returns untrusted text, which taints the task.
    pub untrusted: bool,
    /// The source for which the user must give credentials before the task can continue.
    pub needs_credentials: Option<&'a str>,
    /// Whether it may be recorded already, by an attempt whose commit was not confirmed.
    pub is_again: bool,
}

/// The recorded end of a call of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Sequence number of its entry. `None` if the task had ended before: then only the call's record has the outcome.
    pub sequence: Option<u64>,
    /// The wait that it caused: its status, and the reason for which the task is blocked.
    pub blocks: Option<(String, Option<Reason>)>,
}

/// What an agent's loop must do after a call that does not execute; also the data of such a call's outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    pub action: LoopControl,
    /// The status that the model reads, such as `→ delegated (task …)` or `→ asked …`. Empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// The child, the question or the root that was created.
    #[serde(default, with = "as_text::optional", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Sequence number of the entry that records it. `None` without a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Whether the call was only logged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logged: bool,
}

/// The next step of an agent's loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(rename_all = "snake_case")]
pub enum LoopControl {
    Continue,
    /// Stop: the task has ended.
    Return,
    /// Stop until the task runs again.
    Block,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoot {
    /// Chosen by the caller, so that its first documents can be put before it exists.
    pub id: TaskId,
    pub user: UserId,
    pub tool: String,
    pub request: String,
    /// The role of its agent. Empty: the caller drives it.
    pub role: String,
    /// Paths in its workspace.
    pub documents: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    pub labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChild {
    pub request: String,
    /// The role of its agent.
    pub role: String,
    /// Paths in the workspace.
    pub documents: Vec<String>,
    /// Its time limit, capped by that of its parent.
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewQuestion {
    pub question: String,
    /// Paths in the workspace.
    pub documents: Vec<String>,
    /// Its time limit, capped by that of the asking task.
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    pub speaker: Speaker,
    pub text: String,
    /// Opaque data that the model's provider expects back unchanged.
    pub opaque: Option<Opaque>,
    /// A message of a person needs no lease.
    pub step_ref: StepRef,
}

/// The end of a task by its agent.
#[derive(Clone, Debug, PartialEq)]
pub enum NewEnd {
    /// With a result, and paths of documents for the parent.
    Completed(Map<String, Value>, Vec<String>),
    /// Without a result; the reason is for the parent.
    Failed(String),
}

/// A person's finding about a write whose outcome was unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// It was executed, with this result.
    Done(Map<String, Value>),
    /// It was not executed.
    NotDone,
}

/// What an outcome that came late has replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The record of the call.
    pub record: bool,
    /// The wait of a task.
    pub wait: bool,
}

/// A request with an idempotency key, other than a tool call. A repeat receives the same response; another request
/// under the same key is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The method, such as `CreateTask`.
    pub method: &'static str,
    pub request_id: RequestId,
    pub digest: Digest,
}

/// A call of `start_task`, which belongs to no task.
#[derive(Clone, Debug)]
pub struct RootCall {
    /// The user, the tool and the `request_id`.
    pub key: Key,
    pub digest: ArgumentsDigest,
    /// Its metadata.
    pub about: About,
}

impl Action {
    /// The action after a call that is only logged.
    pub fn logged(sequence: u64) -> Self {
        Self {
            action: LoopControl::Continue,
            status: String::new(),
            task_id: None,
            sequence: Some(sequence),
            logged: true,
        }
    }

    /// Serialises the action as the data of the call's outcome.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and numbers are JSON")
    }

    /// Deserialises the data of an outcome.
    pub fn from_json(data: &Value) -> Option<Self> {
        Self::deserialize(data).ok()
    }
}

impl RootCall {
    pub fn begins(&self) -> Beginning<'_> {
        Beginning { key: &self.key, effect: Effect::Write, digest: self.digest, about: &self.about }
    }
}

impl StepRef {
    /// The model's identifier of the call, or `call_id` if there is none.
    pub fn id_or(&self, call_id: CallId) -> String {
        match self.tool_call_id.as_str() {
            "" => call_id.to_string(),
            own => own.to_owned(),
        }
    }
}

impl TaskCall {
    /// The model's identifier of the call, or `call_id` if there is none.
    pub fn tool_call_id(&self) -> String {
        self.step_ref.id_or(self.call_id())
    }

    pub fn tool(&self) -> &ToolName {
        &self.key.tool
    }

    pub fn call_id(&self) -> CallId {
        self.about.call_id
    }

    pub fn begins(&self) -> Beginning<'_> {
        Beginning { key: &self.key, effect: self.effect, digest: self.digest, about: &self.about }
    }
}
