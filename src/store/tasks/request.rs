//! Request and response types of tasks.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

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
    /// Whose call of which tool it is, by which identifier: the caller's, or one that the server made.
    pub key: Key,
    pub effect: Effect,
    pub digest: ArgumentsDigest,
    /// Which call it is, and what else is recorded of it.
    pub about: About,
    pub tool_type: CallType,
    /// What it may change.
    pub category: v1::ToolCategory,
    /// Its step.
    pub step_ref: StepRef,
    /// The arguments as JSON text, as the timeline keeps them: what is sensitive is redacted.
    pub input: String,
    /// For whom it is remembered, if it is only logged.
    pub remembers: Option<Memory>,
}

/// The step of an agent that a call or a message belongs to, as the agent states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepRef {
    /// The model's response that it belongs to, from 1. 0: a step of its own.
    pub step: u64,
    /// Its place in the step, from 0.
    pub position: u32,
    /// The model's identifier of the call. Empty: ours.
    pub tool_call_id: String,
    /// The lease. Needed while the task is leased. 0: none.
    pub lease_token: u64,
}

/// The confirmation that a call needs.
#[derive(Clone, Copy, Debug)]
pub struct ExpiringRequest<'a> {
    /// The call to decide on.
    pub asked: &'a ConfirmationRequest,
    pub expires_at: SystemTime,
}

#[derive(Clone, Copy, Debug)]
pub struct CallEnd<'a> {
    pub result: &'a ToolResult,
    /// Whether a repeat is answered with it. Otherwise the call is forgotten, and may be made again; the timeline has
    /// this attempt all the same.
    pub is_final: bool,
    /// Documents that go with the result.
    pub documents: &'a [DocumentVersion],
    /// Whether it brings text from outside, which taints the task.
    pub untrusted: bool,
    /// The source whose credentials the user must give before the task goes on.
    pub needs_credentials: Option<&'a str>,
}

/// What became of a call of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its entry. `None` if the task had ended: then only its own record has the outcome.
    pub sequence: Option<u64>,
    /// What the task waits for because of it: the status and why.
    pub blocks: Option<(String, Option<Reason>)>,
}

/// What an agent's loop does after a call that does not execute; also the data of such a call's outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// What the loop does.
    pub action: LoopControl,
    /// What was begun: `→ delegated (task …)`, `→ asked …`. Empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// The child, the question or the root that was made.
    #[serde(default, with = "as_text::optional", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The entry that records it. `None` where there is no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Whether it was logged, and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logged: bool,
}

/// What an agent's loop does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(rename_all = "snake_case")]
pub enum LoopControl {
    Continue,
    /// It stops: the task has ended.
    Return,
    /// It stops until the task runs again.
    Block,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoot {
    /// Its name, by which its first documents were put already.
    pub id: TaskId,
    pub user: UserId,
    pub tool: String,
    /// What is to be done.
    pub request: String,
    /// The role that is to work on it. Empty: its caller drives it.
    pub role: String,
    /// Paths in its workspace.
    pub documents: Vec<String>,
    /// When it fails by itself.
    pub deadline: SystemTime,
    pub labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChild {
    /// What is to be done.
    pub request: String,
    /// The role that is to do it.
    pub role: String,
    /// Paths in the workspace.
    pub documents: Vec<String>,
    /// How long it has, at most as long as its parent.
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewQuestion {
    pub question: String,
    /// Paths in the workspace.
    pub documents: Vec<String>,
    /// How long it has, at most as long as its asker.
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    pub speaker: Speaker,
    pub text: String,
    /// What a provider wants back unchanged.
    pub opaque: Option<Opaque>,
    /// Its step. A message of a person needs no lease.
    pub step_ref: StepRef,
}

/// How a task is ended by its agent.
#[derive(Clone, Debug, PartialEq)]
pub enum NewEnd {
    /// With a result and paths to hand to the parent.
    Completed(Map<String, Value>, Vec<String>),
    /// Without; why, for the parent.
    Failed(String),
}

/// What a person found out about a write whose end was not known.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// It was done, with this result.
    Done(Map<String, Value>),
    /// It was not done.
    NotDone,
}

/// A change with an identifier of the caller's. A repeat has the same answer; one with other content is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// What is done, such as `CreateTask`.
    pub method: &'static str,
    pub request_id: RequestId,
    pub digest: Digest,
}

/// A call of `start_task`, which has no task.
#[derive(Clone, Debug)]
pub struct RootCall {
    /// Whose call of which tool it is.
    pub key: Key,
    pub digest: ArgumentsDigest,
    /// What else is recorded of it.
    pub about: About,
}

impl Action {
    /// The loop goes on.
    pub fn logged(sequence: u64) -> Self {
        Self {
            action: LoopControl::Continue,
            status: String::new(),
            task_id: None,
            sequence: Some(sequence),
            logged: true,
        }
    }

    /// The data of the call's outcome.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and numbers are JSON")
    }

    /// The action that the data of an outcome is.
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
    /// The model's identifier of the call, or ours.
    pub fn id_or(&self, call_id: CallId) -> String {
        match self.tool_call_id.as_str() {
            "" => call_id.to_string(),
            own => own.to_owned(),
        }
    }
}

impl TaskCall {
    /// The model's identifier of the call, or ours.
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
