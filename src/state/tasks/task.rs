//! Tasks, their leases, and the requests and responses of reading them.

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
    pub user: UserId,
    pub kind: Kind,
    /// The role of its agent. Empty for a root that its caller drives, and for a question to a person.
    pub role: String,
    pub request: String,
    pub documents: Vec<DocumentVersion>,
    pub state: State,
    /// Its waits, in the order in which they began.
    pub waits: Vec<Waiting>,
    /// The step in which its oldest wait began; other calls of that step are still accepted. 0: none are.
    pub waiting_step: u64,
    /// The result, as JSON text of an object, once it is completed.
    pub result: Option<String>,
    /// The documents that it handed off.
    pub result_documents: Vec<DocumentVersion>,
    /// Why it failed or was cancelled. Empty otherwise.
    pub message: String,
    pub cause: Option<Cause>,
    /// Number of its ancestors.
    pub depth: u32,
    /// Number of entries of its timeline.
    pub next_sequence: u64,
    /// The newest step of its entries. 0: no entry has a step.
    pub newest_step: u64,
    /// The lease of its worker; it may have expired.
    pub lease: Option<Lease>,
    pub created_at: SystemTime,
    /// When its last entry was appended.
    pub updated_at: SystemTime,
    pub ended_at: Option<SystemTime>,
    /// When it times out.
    pub deadline: SystemTime,
    /// Labels that its creator chose.
    pub labels: BTreeMap<String, String>,
    /// The position of its last change in the order of all changes.
    pub position: u64,
    /// Whether it has been given untrusted text.
    pub tainted: bool,
    /// Of a question: the master's task, and the number of its entries when the question was asked. The question's
    /// messages begin with those entries.
    pub master: Option<(TaskId, u64)>,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Kind {
    /// The entry point of a tree.
    Root,
    /// Work that another task delegated.
    Agent,
    Question,
}

/// A wait of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Sequence number of the entry with which the wait began.
    pub sequence: u64,
    pub target: WaitTarget,
}

/// The exclusive right of a worker to drive a task, until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker, as shown to people.
    pub holder: String,
    /// Fencing token: increases with each holder.
    pub token: u64,
    /// When it expires unless it is renewed.
    pub expires_at: SystemTime,
}

/// The tree of a task, for crates that authorise access to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The root, which identifies the workspace.
    pub root: TaskId,
    pub user: UserId,
    /// Whether the task itself has been given untrusted text.
    pub tainted: bool,
    /// The state of the task itself.
    pub state: State,
}

/// A task that a worker has leased, and the calls that the previous worker left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Leased {
    pub task: Task,
    /// Calls without an end, to be repeated under their `request_id` before anything else.
    pub open_calls: Vec<OpenCall>,
}

/// A call that has not ended; a repeat resumes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    pub state: OpenCallState,
    pub call_id: CallId,
    pub request_id: RequestId,
    pub tool: String,
    /// The model's identifier of the call.
    pub tool_call_id: String,
    pub step: u64,
    /// Its position in the step.
    pub position: u32,
    /// The arguments as JSON text, with sensitive values redacted.
    pub input: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenCallState {
    /// A process executes it. A repeat waits for its end.
    UnderWay,
    /// A read whose process has ended. It must be made again.
    Left,
    /// A person has approved it, but it has not begun. A repeat executes it.
    Approved,
}

/// The newest entry of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEntry {
    pub sequence: u64,
    pub call_id: CallId,
    /// The current state of its task.
    pub state: State,
}

/// The task that a worker requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseTarget {
    /// This task. With a token, only as a renewal of that lease.
    Task(TaskId, Option<u64>),
    /// The available task of any of these roles that has waited longest.
    AnyOf(Vec<String>),
}

/// A request to acquire or renew a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    pub target: LeaseTarget,
    /// The worker, as shown to people.
    pub holder: String,
    pub duration: Duration,
}

/// Selects tasks. Criteria are combined with AND; empty ones match every task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub scope: Scope,
    /// Any of these states, by name.
    pub states: Vec<&'static str>,
    pub roles: Vec<String>,
    pub kinds: Vec<Kind>,
    /// Labels that must all match.
    pub labels: BTreeMap<String, String>,
}

/// The tasks of a user that a list covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    /// The roots, newest first.
    Roots,
    /// The tasks of the tree of this root, parents before children.
    Tree(TaskId),
}

/// A cursor into a list of tasks: the number of the last task on the previous page.
pub type Cursor = u64;

#[derive(Clone, Debug, PartialEq)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<Cursor>,
}

/// Tasks that changed after a position, in the order of their last changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// Each task in its current state.
    pub tasks: Vec<Task>,
    /// The position up to which the changes are complete; the next query begins here.
    pub up_to: u64,
    pub more: bool,
}

/// A request for a page of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The first entry of the page. By default the first entry of the timeline, or the last one if the page goes
    /// backwards.
    pub from: Option<u64>,
    /// Whether the page is in descending order.
    pub backwards: bool,
    /// Maximum number of entries.
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The entries, in the requested order.
    pub entries: Vec<Entry>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<u64>,
}

impl Task {
    /// The writes whose outcome is unknown.
    pub fn unknown_calls(&self) -> impl Iterator<Item = CallId> {
        self.waits.iter().filter_map(|wait| match &wait.target {
            WaitTarget::Call(call_id) => Some(*call_id),
            _ => None,
        })
    }

    /// Whether it is a question that a person should see: no agent was asked, or half of its time limit has elapsed.
    pub fn is_for_person(&self, now: SystemTime) -> bool {
        let time = self.deadline.duration_since(self.created_at).unwrap_or_default();
        self.kind == Kind::Question
            && !self.state.is_final()
            && (self.role.is_empty() || now >= self.created_at + time / 2)
    }

    /// The lease, if it has not expired.
    pub fn leased(&self, now: SystemTime) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.expires_at > now)
    }
}
