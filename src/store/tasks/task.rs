//! Tasks as they stand, how they are looked for, and what one may ask of them.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use super::{
    entry::{Cause, DocumentVersion, Entry, WaitTarget},
    life::State,
};
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

/// A node of a tree of tasks: the fold of its timeline, and its lease.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub id: TaskId,
    pub root: TaskId,
    pub parent: Option<TaskId>,
    /// Whose tree it is.
    pub user: UserId,
    pub kind: Kind,
    /// The agent role that works on it. Empty for a root that its caller drives, and for a question to a person.
    pub role: String,
    /// What is to be done, or asked.
    pub request: String,
    /// The documents that it was given.
    pub documents: Vec<DocumentVersion>,
    pub state: State,
    /// What it waits for, in the order in which the waits began.
    pub waits: Vec<Waiting>,
    /// The step in which its oldest wait began, whose other calls are still taken. 0: none are.
    pub waiting_step: u64,
    /// The result, as JSON text of an object, once it is completed.
    pub result: Option<String>,
    /// What it handed off.
    pub result_documents: Vec<DocumentVersion>,
    /// Why it failed or was cancelled. Empty otherwise.
    pub message: String,
    pub cause: Option<Cause>,
    /// How many tasks stand above it.
    pub depth: u32,
    /// How many entries its timeline has.
    pub next_sequence: u64,
    /// The newest step of its entries. 0: none has one.
    pub newest_step: u64,
    /// The lease of the worker that works on it.
    pub lease: Option<Lease>,
    /// When it was created.
    pub created_at: SystemTime,
    /// When its last entry was made.
    pub updated_at: SystemTime,
    pub ended_at: Option<SystemTime>,
    /// When it fails by itself.
    pub deadline: SystemTime,
    /// Labels of its creator's.
    pub labels: BTreeMap<String, String>,
    /// The place of its last change among those of all tasks.
    pub position: u64,
    /// Whether it has been given text from outside.
    pub tainted: bool,
    /// Of a question: the master's task and how many entries that had when it was asked. The question's messages begin
    /// with those.
    pub master: Option<(TaskId, u64)>,
}

/// What a task is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Kind {
    /// The entry point of a tree.
    Root,
    /// Work for another agent.
    Agent,
    Question,
}

/// A wait of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The entry with which the wait began.
    pub sequence: u64,
    pub target: WaitTarget,
}

/// The right of a worker to drive a task, until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker, in words for people.
    pub holder: String,
    /// Grows with each holder.
    pub token: u64,
    /// Until when, unless it is renewed.
    pub expires_at: SystemTime,
}

/// What the crates above need of any task's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The root, which names the workspace.
    pub root: TaskId,
    /// Whose tree it is.
    pub user: UserId,
    /// Whether the task itself has been given text from outside.
    pub tainted: bool,
    /// Where the task itself stands.
    pub state: State,
}

/// A task that a worker has taken, and what the last one left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Leased {
    pub task: Task,
    /// What has no end yet, to be made again under its `request_id` before anything else.
    pub open_calls: Vec<OpenCall>,
}

/// A call that has no end yet: the same call again goes on with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    pub state: OpenCallState,
    pub call_id: CallId,
    pub request_id: RequestId,
    pub tool: String,
    /// The model's identifier of the call.
    pub tool_call_id: String,
    pub step: u64,
    /// Its place in the step.
    pub position: u32,
    /// The arguments as JSON text; what is sensitive is redacted.
    pub input: String,
}

/// The state of a call that has no end yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenCallState {
    /// A process carries it out. The same call again waits for its end.
    UnderWay,
    /// A read whose process is gone. It is to be made again.
    Left,
    /// A person has approved it, and nothing was done yet. The same call again carries it out.
    Approved,
}

/// The newest entry of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEntry {
    pub sequence: u64,
    pub call_id: CallId,
    /// Where its task stands now.
    pub state: State,
}

/// The task that a worker asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseTarget {
    /// This one. With a token: only as a renewal of that lease.
    Task(TaskId, Option<u64>),
    /// The one of any of these roles that has waited longest for a worker.
    AnyOf(Vec<String>),
}

/// A request for a lease, or for its renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    pub target: LeaseTarget,
    /// The worker, in words for people.
    pub holder: String,
    pub duration: Duration,
}

/// Which tasks are meant. Criteria are combined with AND; an empty one excludes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Which of the user's.
    pub scope: Scope,
    /// Any of these states, by their words.
    pub states: Vec<&'static str>,
    pub roles: Vec<String>,
    pub kinds: Vec<Kind>,
    /// Labels that must all be there.
    pub labels: BTreeMap<String, String>,
}

/// A part of a user's tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    /// The roots, newest first.
    Roots,
    /// Those of the tree of this root, parents before children.
    Tree(TaskId),
}

/// A cursor of a list of tasks: the number of the last task on the page before.
pub type Cursor = u64;

#[derive(Clone, Debug, PartialEq)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    /// Where the next page begins, unless this is the last one.
    pub next: Option<Cursor>,
}

/// Tasks that changed after a position, in the order of their changes, and the position up to which they are complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// Each task as it stands now.
    pub tasks: Vec<Task>,
    /// Where to go on.
    pub up_to: u64,
    /// Whether there may be more.
    pub more: bool,
}

/// Where a page of a timeline begins, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The first entry; otherwise the very first, or backwards the last.
    pub from: Option<u64>,
    /// Whether the page goes from later entries to earlier ones.
    pub backwards: bool,
    /// The maximum number of entries.
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The entries, in the order asked for.
    pub entries: Vec<Entry>,
    /// Where the next page begins, unless this is the last one.
    pub next: Option<u64>,
}

impl Task {
    /// Writes that began and whose end is not known.
    pub fn unknown_calls(&self) -> impl Iterator<Item = CallId> {
        self.waits.iter().filter_map(|wait| match &wait.target {
            WaitTarget::Call(call_id) => Some(*call_id),
            _ => None,
        })
    }

    /// Whether it is a question to show to a person: no agent was asked, or half of its time is over.
    pub fn is_for_person(&self, now: SystemTime) -> bool {
        let time = self.deadline.duration_since(self.created_at).unwrap_or_default();
        self.kind == Kind::Question
            && !self.state.is_final()
            && (self.role.is_empty() || now >= self.created_at + time / 2)
    }

    /// The lease that is valid at the given time.
    pub fn leased(&self, now: SystemTime) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.expires_at > now)
    }
}
