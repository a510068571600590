//! The one table of RPCs that are routes: method, path, RPC, and the form of its response. A new route is one line.
//!
//! The parameters of a path are top-level fields of the request; the query or the body gives the others. A verb follows
//! the last colon. Behind a parameter, as in `{call_id}:cancel`, only a POST has one, and then every POST of that path
//! does: `http::table` gives a path with a verb to POST alone. Not here: the routes of tools, which `rest` lists.

use http::Method;

use crate::faces::transport::rules::{Messages, Pool, Rule};

/// An RPC as a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) method: Verb,
    /// As the router reads it, with the verb that may follow a parameter.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseForm {
    /// The message as JSON.
    Message,
    /// The same with an `ETag`; 304 if it matches.
    Tagged,
    /// The message of an RPC that must never be shed, since it frees resources.
    Free,
    /// Each message as an event.
    Events,
    /// The same for `WatchTools`, whose definitions are serialised once for all readers.
    Tools,
    /// The bytes of a document.
    Document,
    /// The message, after the body was stored as a document.
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
    /// The path as the router reads it, and the verb behind its last parameter.
    pub(super) fn split(&self) -> (&'static str, Option<&'static str>) {
        match self.path.rsplit_once("}:") {
            // With the brace that the separator took.
            Some((path, verb)) => (&self.path[..=path.len()], Some(verb)),
            None => (self.path, None),
        }
    }

    /// The rule of its route.
    pub(super) fn rule(&self) -> Rule {
        match self.form {
            Message | Tagged => Rule::USER,
            Free => Rule { pool: Pool::Free, ..Rule::USER },
            Events | Tools => Rule::WATCH,
            Document => Rule::TRANSFER,
            Upload => Rule { messages: Messages::Many, ..Rule::TRANSFER },
        }
    }

    /// Whether the query gives the fields that the path does not; else the body does. The body of a PUT is a document.
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
