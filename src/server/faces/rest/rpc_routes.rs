//! The table of the platform's RPCs that are routes. A new route is one line.
//!
//! Not here: the routes of tools, which `rest` lists, and those of the services of domains, which each domain lists.

use crate::faces::http::rpc_route::{ResponseForm, RpcRoute, Verb};
use ResponseForm::{Document, Events, Free, Message, Tagged, Tools, Upload};
use Verb::{Delete, Get, Patch, Post, Put};

const TOOLS: &str = "toolwire.v1.ToolService";
const PROVIDERS: &str = "toolwire.v1.ProviderService";
const CONFIRMATIONS: &str = "toolwire.v1.ConfirmationService";
const AUDIT: &str = "toolwire.v1.AuditService";
const TASKS: &str = "toolwire.tasks.v1.TaskService";
const WORKSPACES: &str = "toolwire.workspace.v1.WorkspaceService";

/// Every RPC of the platform that is a route.
pub(super) const ROWS: &[RpcRoute] = &[
    row(Get, "/v1/limits", (TOOLS, "GetLimits"), Tagged),
    row(Get, "/v1/providers", (TOOLS, "ListProviders"), Tagged),
    row(Get, "/v1/providers:watch", (PROVIDERS, "WatchProviders"), Events),
    row(Get, "/v1/quotas", (TOOLS, "ListQuotas"), Message),
    row(Get, "/v1/stats", (TOOLS, "GetStats"), Message),
    row(Get, "/v1/viewer", (TOOLS, "GetViewer"), Message),
    row(Get, "/v1/guidance", (TOOLS, "DescribeForPlanner"), Tagged),
    row(Get, "/v1/tools:watch", (TOOLS, "WatchTools"), Tools),
    row(Get, "/v1/calls", (TOOLS, "ListCalls"), Message),
    row(Get, "/v1/calls:watch", (TOOLS, "WatchCalls"), Events),
    row(Get, "/v1/calls/{call_id}", (TOOLS, "GetCall"), Message),
    row(Post, "/v1/calls/{call_id}:cancel", (TOOLS, "CancelCall"), Free),
    row(Get, "/v1/confirmations", (CONFIRMATIONS, "ListConfirmations"), Message),
    row(Get, "/v1/confirmations:watch", (CONFIRMATIONS, "WatchConfirmations"), Events),
    row(Get, "/v1/confirmations/{confirmation_id}", (CONFIRMATIONS, "GetConfirmation"), Message),
    row(Post, "/v1/confirmations/{confirmation_id}:decide", (CONFIRMATIONS, "DecideConfirmation"), Message),
    row(Get, "/v1/records", (AUDIT, "ListRecords"), Message),
    row(Get, "/v1/refusals", (AUDIT, "ListRefusals"), Message),
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
];

const fn row(
    method: Verb,
    path: &'static str,
    rpc: (&'static str, &'static str),
    form: ResponseForm,
) -> RpcRoute {
    RpcRoute::new(method, path, rpc, form)
}
