//! Tasks over gRPC: flows entry by entry, the table of types cell by cell, and what is refused.

#![allow(clippy::single_match_else, reason = "two cases beside each other")]

mod bad_input;
mod cli;
mod confirmed;
mod credentials;
mod flow;
mod hosted;
mod killed;
mod masked;
mod mistakes;
mod model;
mod noted;
mod open_calls;
mod questions;
mod races;
mod remote;
mod render;
mod roles;
mod run_command;
mod runs;
mod streams;
mod timers;
mod types;
mod users;
mod watches;

use crate::support::assert_refused;
use std::collections::BTreeMap;

use prost_reflect::{ReflectMessage, SerializeOptions};
use serde_json::{Value, json};
use tonic::{Code, Request, Status, transport::Channel};
use toolwire::{
    contract::{
        json::to_struct,
        proto::{
            tasks::v1::{
                BlockAction, CompletedEnd, CreateTaskRequest, EndTaskRequest, GetTaskRequest,
                HandleToolCallRequest, HandleToolCallResponse, LeaseTaskRequest, ListTimelineRequest, Roles,
                Task, TaskState, TimelineEntry, WatchTimelineRequest, end_task_request::End,
                handle_tool_call_request::Input, handle_tool_call_response::Detail,
                lease_task_request::Target, task_service_client::TaskServiceClient, timeline_entry::Entry,
                watch_timeline_response,
            },
            v1::{
                CallToolRequest, CallToolResponse, ToolContext, call_tool_request,
                confirmation_service_client::ConfirmationServiceClient,
                tool_service_client::ToolServiceClient,
            },
        },
    },
    tool::context::RequestId,
};

use crate::support::server::{Server, config};

/// One user's services.
#[derive(Clone)]
struct Person {
    tasks: TaskServiceClient<Channel>,
    tools: ToolServiceClient<Channel>,
    confirmations: ConfirmationServiceClient<Channel>,
    channel: Channel,
    name: String,
}

/// What a worker does in a task.
#[derive(Clone)]
struct Agent {
    person: Person,
    task: String,
    lease_token: u64,
}

async fn person(server: &Server, name: &str) -> Person {
    let channel = server.channel().await;
    Person {
        tasks: TaskServiceClient::new(channel.clone()),
        tools: ToolServiceClient::new(channel.clone()),
        confirmations: ConfirmationServiceClient::new(channel.clone()),
        channel,
        name: name.to_owned(),
    }
}

/// A server on which a person may decide on the own calls.
fn server() -> Server {
    let mut config = config();
    config.confirmations.own_calls = true;
    Server::with(config)
}

fn new_id() -> String {
    RequestId::generate().to_string()
}

impl Person {
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("x-toolwire-user", self.name.parse().unwrap());
        request
    }

    async fn create(&self, request: &str) -> Agent {
        self.create_for("", request).await
    }

    /// Creates a root that an agent of this role is to work on.
    async fn create_for(&self, role: &str, request: &str) -> Agent {
        let (request, role) = (request.to_owned(), role.to_owned());
        let message = CreateTaskRequest { request, role, request_id: new_id(), ..Default::default() };
        let answer = self.tasks.clone().create_task(self.request(message)).await.unwrap();
        self.drives(&answer.into_inner().task.unwrap().task_id)
    }

    /// Drives a task without a lease.
    fn drives(&self, task: &str) -> Agent {
        Agent { person: self.clone(), task: task.to_owned(), lease_token: 0 }
    }

    /// Takes the oldest task of a role.
    async fn leases(&self, role: &str) -> Option<Agent> {
        let target = Some(Target::AnyOf(Roles { roles: vec![role.to_owned()] }));
        let message = LeaseTaskRequest { target, holder: format!("the {role}"), ..Default::default() };
        let answer = self.tasks.clone().lease_task(self.request(message)).await.unwrap().into_inner();
        let task = answer.task?;
        let lease_token = task.lease.unwrap().token;
        Some(Agent { person: self.clone(), task: task.task_id, lease_token })
    }

    async fn task(&self, id: &str) -> Result<Task, Status> {
        let message = GetTaskRequest { task_id: id.to_owned() };
        Ok(self.tasks.clone().get_task(self.request(message)).await?.into_inner().task.unwrap())
    }

    async fn timeline(&self, id: &str) -> Vec<TimelineEntry> {
        let message = ListTimelineRequest { task_id: id.to_owned(), page_size: 1_000, ..Default::default() };
        self.tasks.clone().list_timeline(self.request(message)).await.unwrap().into_inner().entries
    }

    /// Calls a tool as any client does, with a task in its context.
    async fn call(&self, tool: &str, arguments: &Value, task: &str) -> Result<CallToolResponse, Status> {
        let message = CallToolRequest {
            target: Some(call_tool_request::Target::Tool(tool.to_owned())),
            input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_string())),
            context: Some(ToolContext { task_id: task.to_owned(), ..Default::default() }),
            request_id: new_id(),
            result_format: toolwire::contract::proto::v1::ResultFormat::Json.into(),
            ..Default::default()
        };
        Ok(self.tools.clone().call_tool(self.request(message)).await?.into_inner())
    }
}

impl Agent {
    fn message(&self, tool: &str, arguments: &Value) -> HandleToolCallRequest {
        HandleToolCallRequest {
            task_id: self.task.clone(),
            tool: tool.to_owned(),
            input: Some(Input::ArgumentsJson(arguments.to_string())),
            request_id: new_id(),
            lease_token: self.lease_token,
            result_format: toolwire::contract::proto::v1::ResultFormat::Json.into(),
            ..Default::default()
        }
    }

    async fn send(&self, message: HandleToolCallRequest) -> Result<HandleToolCallResponse, Status> {
        let mut tasks = self.person.tasks.clone();
        Ok(tasks.handle_tool_call(self.person.request(message)).await?.into_inner())
    }

    async fn handle(&self, tool: &str, arguments: &Value) -> Result<HandleToolCallResponse, Status> {
        self.send(self.message(tool, arguments)).await
    }

    /// Delegates or asks, and returns the task that is waited for.
    async fn blocks(&self, tool: &str, arguments: &Value) -> String {
        blocked(&self.handle(tool, arguments).await.unwrap()).task_id.clone()
    }

    async fn hands_off(&self, result: &Value, documents: &[&str]) -> HandleToolCallResponse {
        let arguments = match documents {
            [] => json!({"result": result}),
            _ => json!({"result": result, "documents": documents}),
        };
        let answer = self.handle("handoff", &arguments).await.unwrap();
        assert_eq!(answer.action, "return");
        answer
    }

    async fn ends(&self, text: &str) -> Task {
        let result = to_struct(json!({"text": text}).as_object().unwrap());
        let completed = CompletedEnd { result: Some(result), documents: Vec::new() };
        let message = EndTaskRequest {
            task_id: self.task.clone(),
            end: Some(End::Completed(completed)),
            lease_token: self.lease_token,
            request_id: new_id(),
        };
        let answer = self.person.tasks.clone().end_task(self.person.request(message)).await.unwrap();
        answer.into_inner().task.unwrap()
    }

    /// Writes a document into the workspace of the tree.
    async fn writes(&self, path: &str, bytes: &[u8]) {
        use toolwire::contract::proto::workspace::v1::{
            PutDocumentRequest, PutHeader, put_document_request::Part,
            workspace_service_client::WorkspaceServiceClient,
        };
        let header = PutHeader {
            task_id: self.task.clone(),
            path: path.to_owned(),
            request_id: new_id(),
            ..Default::default()
        };
        let parts = [Part::Header(header), Part::Chunk(bytes.to_vec())];
        let parts = parts.map(|part| PutDocumentRequest { part: Some(part) });
        let mut client = WorkspaceServiceClient::new(self.person.channel.clone());
        client.put_document(self.person.request(futures_util::stream::iter(parts))).await.unwrap();
    }

    async fn state(&self) -> TaskState {
        self.person.task(&self.task).await.unwrap().state()
    }
}

/// Waits for the first entry of a kind, as it comes.
async fn entry_of(person: &Person, task: &str, is_meant: impl Fn(&Entry) -> bool) -> TimelineEntry {
    let message = WatchTimelineRequest { task_id: task.to_owned(), after_sequence: None };
    let mut stream = person.tasks.clone().watch_timeline(person.request(message)).await.unwrap().into_inner();
    while let Some(message) = stream.message().await.unwrap() {
        if let Some(watch_timeline_response::Event::Entry(entry)) = message.event
            && is_meant(entry.entry.as_ref().unwrap())
        {
            return entry;
        }
    }
    panic!("the timeline ended")
}

#[track_caller]
fn blocked(answer: &HandleToolCallResponse) -> &BlockAction {
    assert_eq!(answer.action, "block", "{answer:?}");
    match &answer.detail {
        Some(Detail::Block(block)) => block,
        other => panic!("{other:?}"),
    }
}

/// The data of a result.
#[track_caller]
fn data(answer: &HandleToolCallResponse) -> Value {
    use toolwire::contract::proto::v1::tool_result::Outcome;
    assert_eq!(answer.action, "continue", "{answer:?}");
    match &answer.detail {
        Some(Detail::Result(result)) => match result.outcome.clone() {
            Some(Outcome::DataJson(text)) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Timelines as text: an entry a line, names of tasks, calls and confirmations in the order in which they are met, and
/// no times.
async fn golden(person: &Person, tasks: &[&str]) -> String {
    let mut names = Names::default();
    for task in tasks {
        names.of("task", task);
    }
    let mut lines = Vec::new();
    for task in tasks {
        lines.push(names.replaced(task));
        for entry in person.timeline(task).await {
            lines.push(format!("  {}", names.replaced(&line(&entry))));
        }
    }
    lines.join("\n")
}

/// Every field that is set but for times and traces.
fn line(entry: &TimelineEntry) -> String {
    let options = SerializeOptions::new().use_proto_field_name(true).stringify_64_bit_integers(false);
    let message = entry.transcode_to_dynamic();
    let mut value = message.serialize_with_options(serde_json::value::Serializer, &options).unwrap();
    let object = value.as_object_mut().unwrap();
    for field in ["timestamp", "trace_id", "task_id"] {
        object.shift_remove(field);
    }
    for body in object.values_mut().filter_map(Value::as_object_mut) {
        if body.get("provenance").is_some_and(|it| it == &json!({})) {
            body.shift_remove("provenance");
        }
    }
    value.to_string()
}

/// Names that are made anew each time, as `task_0`, `call_0`, `conf_0`.
#[derive(Default)]
struct Names {
    known: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
}

impl Names {
    fn of(&mut self, kind: &'static str, name: &str) -> String {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_default();
        let new = format!("{kind}_{count}");
        *count += 1;
        self.known.insert(name.to_owned(), new.clone());
        new
    }

    fn replaced(&mut self, text: &str) -> String {
        let digits = |text: &str, dashes: bool| {
            text.chars().take_while(|c| c.is_ascii_hexdigit() || (dashes && *c == '-')).count()
        };
        let (mut done, mut rest) = (String::new(), text);
        while !rest.is_empty() {
            let made = [("task", "task_", 32), ("conf", "conf_", 32)].into_iter().find_map(
                |(kind, prefix, length)| {
                    let after = rest.strip_prefix(prefix)?;
                    (digits(after, false) == length).then_some((kind, prefix.len() + length))
                },
            );
            let made = made.or_else(|| (digits(rest, true) == 36).then_some(("call", 36)));
            let length = match made {
                Some((kind, length)) => {
                    done += &self.of(kind, &rest[..length]);
                    length
                }
                None => {
                    let first = rest.chars().next().unwrap();
                    done.push(first);
                    first.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        done
    }
}
