//! The one table of RPCs that are routes: method, path, RPC, how it answers. A new RPC is one line.
//!
//! Names in a path are fields of the request; the query or the body says the rest. What is done stands behind the last
//! colon, as with tools.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    routing::{MethodFilter, on},
};
use http::{Method, StatusCode};

use super::rpc;
use crate::faces::{
    http::{
        problem::Problem,
        route::{Handler, Http, Route},
    },
    transport::rules::{Messages, Pool, Rule},
};

/// An RPC as a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) method: Verb,
    /// As the router reads it, but for what follows a colon behind a parameter.
    pub(super) path: &'static str,
    /// The service's full name and the method's.
    pub(super) rpc: (&'static str, &'static str),
    pub(super) form: Form,
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
pub(super) enum Form {
    /// By its response.
    Message,
    /// By its response, and must never be shed.
    Free,
    /// By its responses, as events.
    Events,
    /// By the bytes of a document.
    Document,
    /// By its response, when the bytes of a document have come.
    Upload,
}

use Form::{Document, Events, Free, Message, Upload};
use Verb::{Delete, Get, Patch, Post, Put};

const TOOLS: &str = "toolwire.v1.ToolService";
const CONFIRMATIONS: &str = "toolwire.v1.ConfirmationService";
const AUDIT: &str = "toolwire.v1.AuditService";
const TASKS: &str = "toolwire.tasks.v1.TaskService";
const WORKSPACES: &str = "toolwire.workspace.v1.WorkspaceService";
const JOBS: &str = "toolwire.agent.v1.JobService";

/// Every RPC that is a route.
pub(super) const ROWS: &[Row] = &[
    row(Get, "/v1/limits", (TOOLS, "GetLimits"), Message),
    row(Get, "/v1/guidance", (TOOLS, "DescribeForPlanner"), Message),
    row(Get, "/v1/tools:watch", (TOOLS, "WatchTools"), Events),
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
    row(Get, "/v1/jobs/{job_id}", (JOBS, "GetJob"), Message),
    row(Get, "/v1/jobs/{job_id}/events", (JOBS, "WatchJob"), Events),
    row(Post, "/v1/jobs/{job_id}:cancel", (JOBS, "CancelJob"), Free),
];

const fn row(method: Verb, path: &'static str, rpc: (&'static str, &'static str), form: Form) -> Row {
    Row { method, path, rpc, form }
}

impl Row {
    /// The path as the router reads it, and what is to stand behind the last colon of its last value.
    fn split(&self) -> (&'static str, Option<&'static str>) {
        match self.path.rsplit_once("}:") {
            // Its closing brace belongs to the path.
            Some((path, verb)) => (&self.path[..=path.len()], Some(verb)),
            None => (self.path, None),
        }
    }

    fn rule(&self) -> Rule {
        match self.form {
            Message => Rule::USER,
            Free => Rule { pool: Pool::Free, ..Rule::USER },
            Events => Rule::WATCH,
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
    /// As HTTP has it.
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

/// The rows as routes: those that differ only behind the colon are one.
pub(super) fn routes() -> Vec<Route> {
    let mut grouped: BTreeMap<(&'static str, Verb), Vec<&'static Row>> = BTreeMap::new();
    for row in ROWS {
        grouped.entry((row.split().0, row.method)).or_default().push(row);
    }
    let route = |((path, method), rows): ((&'static str, Verb), Vec<&'static Row>)| {
        // Of those that share a route, what must never be shed decides.
        let rule = rows.iter().map(|row| row.rule()).max_by_key(|rule| rule.pool == Pool::Free);
        let rule = rule.expect("a group has a row");
        Route { method: method.http(), path, rule, handler: handler(method, rows.into()) }
    };
    grouped.into_iter().map(route).collect()
}

fn handler(method: Verb, rows: Arc<[&'static Row]>) -> Handler {
    let filter = MethodFilter::try_from(method.http()).expect("a method that the router knows");
    let answer = move |State(http): State<Http>,
                       path: Result<RawPathParams, RawPathParamsRejection>,
                       request: Request| {
        let rows = Arc::clone(&rows);
        async move {
            let path = path.map_err(|_| {
                Problem::new(
                    "INVALID_REQUEST",
                    StatusCode::BAD_REQUEST,
                    "the path must be UTF-8 with percent-encoding",
                )
            })?;
            let mut named: Vec<_> =
                path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let row = chosen(&rows, &mut named)?;
            rpc::answer(row, http, named, request).await
        }
    };
    on(filter, answer)
}

/// The row that is meant by what stands behind the last colon, which is taken off.
fn chosen(rows: &[&'static Row], named: &mut [(String, String)]) -> Result<&'static Row, Problem> {
    if let [row] = rows
        && row.split().1.is_none()
    {
        return Ok(row);
    }
    let last = named.last_mut().map(|(_, value)| value);
    let unknown = || {
        let verbs: Vec<_> = rows.iter().filter_map(|row| row.split().1).collect();
        let what = format!("this path ends in one of :{}; /openapi.json says what for", verbs.join(", :"));
        Problem::new("UNKNOWN_ROUTE", StatusCode::NOT_FOUND, what)
    };
    let last = last.ok_or_else(unknown)?;
    let (value, verb) = last.rsplit_once(':').ok_or_else(unknown)?;
    let row = rows.iter().find(|row| row.split().1 == Some(verb)).ok_or_else(unknown)?;
    *last = value.to_owned();
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_an_rpc_and_fields_of_its_request() {
        for row in ROWS {
            let method = rpc::described(row);
            let input = if row.form == Upload {
                "toolwire.workspace.v1.PutHeader"
            } else {
                method.input().full_name()
            }
            .to_owned();
            let message = rpc::POOL.get_message_by_name(&input).unwrap();
            for part in row.path.split('/').filter_map(|part| part.strip_prefix('{')) {
                let name = part.split('}').next().unwrap().trim_start_matches('*');
                assert!(message.get_field_by_name(name).is_some(), "{}: {input} has no {name}", row.path);
            }
            assert_eq!(method.is_server_streaming(), matches!(row.form, Events | Document), "{}", row.path);
        }
    }

    #[test]
    fn what_stands_behind_the_colon_chooses() {
        let rows: Vec<_> =
            ROWS.iter().filter(|row| row.split().0 == "/v1/tasks/{task_id}" && row.method == Post).collect();
        let mut named = [("task_id".to_owned(), "task_1:end".to_owned())];
        assert_eq!(chosen(&rows, &mut named).unwrap().rpc.1, "EndTask");
        assert_eq!(named[0].1, "task_1");
        let mut named = [("task_id".to_owned(), "task_1:burn".to_owned())];
        assert_eq!(chosen(&rows, &mut named).unwrap_err().status(), StatusCode::NOT_FOUND);
    }
}
