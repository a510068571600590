//! The one table of RPCs that are routes: method, path, RPC, how it answers. A new RPC is one line.
//!
//! Names in a path are fields of the request; the query or the body says the rest. What is done stands behind the last
//! colon, as with tools.

use http::Method;

use crate::faces::transport::rules::{Messages, Pool, Rule};

/// An RPC as a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) method: Verb,
    /// As the router reads it, but for what follows a colon behind a parameter.
    pub(super) path: &'static str,
    /// The service's full name and the method's.
    pub(super) rpc: (&'static str, &'static str),
    pub(super) form: ResponseForm,
}

/// The methods of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// How an RPC answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseForm {
    Message,
    /// With an `ETag`; 304 if it matches.
    Tagged,
    /// By its response, and must never be shed.
    Free,
    Events,
    /// By the tools there are and what becomes of them, as events.
    Tools,
    Document,
    /// By its response, when the bytes of a document have come.
    Upload,
}

use ResponseForm::{Document, Events, Free, Message, Tagged, Tools, Upload};
use Verb::{Delete, Get, Patch, Post, Put};

const TOOLS: &str = "toolwire.v1.ToolService";
const CONFIRMATIONS: &str = "toolwire.v1.ConfirmationService";
const AUDIT: &str = "toolwire.v1.AuditService";
const TASKS: &str = "toolwire.tasks.v1.TaskService";
const WORKSPACES: &str = "toolwire.workspace.v1.WorkspaceService";
const JOBS: &str = "toolwire.agent.v1.JobService";

/// Every RPC that is a route.
pub(super) const ROWS: &[Row] = &[
    row(Get, "/v1/limits", (TOOLS, "GetLimits"), Tagged),
    row(Get, "/v1/guidance", (TOOLS, "DescribeForPlanner"), Tagged),
    row(Get, "/v1/tools:watch", (TOOLS, "WatchTools"), Tools),
    row(Get, "/v1/calls", (TOOLS, "ListCalls"), Message),
    row(Get, "/v1/calls/{call_id}", (TOOLS, "GetCall"), Message),
    row(Post, "/v1/calls/{call_id}:cancel", (TOOLS, "CancelCall"), Free),
    row(Get, "/v1/confirmations", (CONFIRMATIONS, "ListConfirmations"), Message),
    row(Get, "/v1/confirmations:watch", (CONFIRMATIONS, "WatchConfirmations"), Events),
    row(Get, "/v1/confirmations/{confirmation_id}", (CONFIRMATIONS, "GetConfirmation"), Message),
    row(Post, "/v1/confirmations/{confirmation_id}:decide", (CONFIRMATIONS, "DecideConfirmation"), Message),
    row(Get, "/v1/records", (AUDIT, "ListRecords"), Message),
    row(Get, "/v1/tasks", (TASKS, "ListTasks"), Message),
    row(Post, "/v1/tasks", (TASKS, "CreateTask"), Message),
    row(Get, "/v1/tasks:watch", (TASKS, "WatchTasks"), Events),
    row(Post, "/v1/tasks:lease", (TASKS, "LeaseTask"), Message),
    row(Get, "/v1/tasks/{task_id}", (TASKS, "GetTask"), Message),
    row(Delete, "/v1/tasks/{task_id}", (TASKS, "DeleteTask"), Message),
    row(Post, "/v1/tasks/{task_id}:lease", (TASKS, "LeaseTask"), Message),
    row(Post, "/v1/tasks/{task_id}:release", (TASKS, "ReleaseTask"), Message),
    row(Post, "/v1/tasks/{task_id}:call", (TASKS, "HandleToolCall"), Message),
    row(Post, "/v1/tasks/{task_id}:append", (TASKS, "AppendMessage"), Message),
    row(Post, "/v1/tasks/{task_id}:end", (TASKS, "EndTask"), Message),
    row(Post, "/v1/tasks/{task_id}:cancel", (TASKS, "CancelTask"), Message),
    row(Post, "/v1/tasks/{task_id}:answer", (TASKS, "AnswerQuestion"), Message),
    row(Post, "/v1/tasks/{task_id}:resolve", (TASKS, "ResolveUnknown"), Message),
    row(Get, "/v1/tasks/{task_id}/timeline", (TASKS, "ListTimeline"), Message),
    row(Get, "/v1/tasks/{task_id}/timeline:watch", (TASKS, "WatchTimeline"), Events),
    row(Get, "/v1/tasks/{task_id}/timeline/{sequence}", (TASKS, "GetEntry"), Message),
    row(Get, "/v1/tasks/{task_id}/rendering", (TASKS, "RenderForModel"), Message),
    row(Get, "/v1/workspaces/{task_id}/documents", (WORKSPACES, "ListDocuments"), Message),
    row(Get, "/v1/workspaces/{task_id}/documents:search", (WORKSPACES, "SearchDocuments"), Message),
    row(Get, "/v1/workspaces/{task_id}/documents/{*path}", (WORKSPACES, "GetDocument"), Document),
    row(Put, "/v1/workspaces/{task_id}/documents/{*path}", (WORKSPACES, "PutDocument"), Upload),
    row(Patch, "/v1/workspaces/{task_id}/documents/{*path}", (WORKSPACES, "UpdateMetadata"), Message),
    row(Delete, "/v1/workspaces/{task_id}/documents/{*path}", (WORKSPACES, "DeleteDocument"), Message),
    row(Get, "/v1/workspaces/{task_id}/versions/{*path}", (WORKSPACES, "ListVersions"), Message),
    row(Get, "/v1/jobs", (JOBS, "ListJobs"), Message),
    row(Get, "/v1/jobs/{job_id}", (JOBS, "GetJob"), Message),
    row(Get, "/v1/jobs/{job_id}/events", (JOBS, "WatchJob"), Events),
    row(Post, "/v1/jobs/{job_id}:cancel", (JOBS, "CancelJob"), Free),
];

const fn row(method: Verb, path: &'static str, rpc: (&'static str, &'static str), form: ResponseForm) -> Row {
    Row { method, path, rpc, form }
}

impl Row {
    /// The path as the router reads it, and what is to stand behind the last colon of its last value.
    pub(super) fn split(&self) -> (&'static str, Option<&'static str>) {
        match self.path.rsplit_once("}:") {
            // Its closing brace belongs to the path.
            Some((path, verb)) => (&self.path[..=path.len()], Some(verb)),
            None => (self.path, None),
        }
    }

    /// Which callers may use it, and the bound on its time.
    pub(super) fn rule(&self) -> Rule {
        match self.form {
            Message | Tagged => Rule::USER,
            Free => Rule { pool: Pool::Free, ..Rule::USER },
            Events | Tools => Rule::WATCH,
            Document => Rule::TRANSFER,
            Upload => Rule { messages: Messages::Many, ..Rule::TRANSFER },
        }
    }

    /// Whether the query says what the path does not; else the body does.
    pub(super) fn is_queried(&self) -> bool {
        matches!(self.method, Get | Delete | Put)
    }
}

impl Verb {
    pub(super) const fn http(self) -> Method {
        match self {
            Get => Method::GET,
            Post => Method::POST,
            Put => Method::PUT,
            Patch => Method::PATCH,
            Delete => Method::DELETE,
        }
    }
}
