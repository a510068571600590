//! Confirmations: nothing that a person must approve is done without it, and what is approved is done once.

#![allow(clippy::match_bool, reason = "two cases beside each other")]

mod audit;
mod calls;
mod calls_of_others;
mod cli;
mod conditions;
mod decisions;
mod definition_changes;
mod equal_writes;
mod life;
mod lists;
mod matrix;
mod nested;
mod pooled;
mod races;
mod records_of_others;
mod refusals;
mod tasks;
mod ways_of_tasks;
mod ways_round;
mod webhook;
mod withdrawn_rights;

use crate::support::assert_refused;
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Code, Request, Status, transport::Channel};
use tonic_types::StatusExt;
use toolwire::{
    config::{Auth, AuthUser, Config, ToolPattern},
    contract::{
        json::from_struct,
        proto::v1::{
            Approve, CallToolRequest, Confirmation, ConfirmationRequired, ConfirmationState,
            DecideConfirmationRequest, Deny, GetConfirmationRequest, InvokeToolRequest, ToolErrorCode,
            audit_service_client::AuditServiceClient, call_event::Event, call_tool_request,
            call_tool_response, confirmation_service_client::ConfirmationServiceClient,
            decide_confirmation_request::Decision, invoke_tool_request, tool_result::Outcome,
            tool_service_client::ToolServiceClient,
        },
    },
    tool::context::RequestId,
};

use crate::support::{
    data_directory, patch_json, save,
    server::{Server, config},
};

/// Those who have credentials where they are needed.
const USERS: [&str; 4] = ["riley", "alex", "sam", "olga"];

/// A server and what it stands on.
struct House {
    server: Server,
    data: TempDir,
    needs_credentials: bool,
}

/// One user's three services.
#[derive(Clone)]
struct Person {
    tools: ToolServiceClient<Channel>,
    confirmations: ConfirmationServiceClient<Channel>,
    audit: AuditServiceClient<Channel>,
    name: String,
    needs_credentials: bool,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
enum Came {
    Data(Value),
    Error(ToolErrorCode, String),
    Required(Box<ConfirmationRequired>),
}

impl House {
    /// Nobody needs credentials.
    fn open() -> Self {
        Self::with(|_| ())
    }

    /// Riley may call everything, alex approve calls of `debug_*`, sam nothing more than riley, olga sees everything.
    fn with_users() -> Self {
        Self::with(|config| config.auth = users())
    }

    fn with(change: impl FnOnce(&mut Config)) -> Self {
        let data = data_directory();
        let mut config = config();
        config.data.dir = Some(data.path().to_owned());
        config.confirmations.own_calls = true;
        change(&mut config);
        let needs_credentials = !config.auth.is_open();
        Self { server: Server::with(config), data, needs_credentials }
    }

    async fn person(&self, name: &str) -> Person {
        let channel = self.server.channel().await;
        Person {
            tools: ToolServiceClient::new(channel.clone()),
            confirmations: ConfirmationServiceClient::new(channel.clone()),
            audit: AuditServiceClient::new(channel),
            name: name.to_owned(),
            needs_credentials: self.needs_credentials,
        }
    }

    /// Changes a manifest, and takes it over at once.
    fn patch(&self, tool: &str, changes: &Value) {
        patch_json(&self.data.path().join(format!("tools/{tool}.json")), changes);
        self.server.app.refresh();
    }
}

fn users() -> Auth {
    let pattern = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
    let users = USERS.map(|name| {
        let approve = if name == "alex" { vec![pattern("debug_*"), pattern("add_*")] } else { Vec::new() };
        let user = AuthUser::new(name.parse().unwrap(), token(name).into());
        AuthUser { approve, observe: name == "olga", ..user }
    });
    Auth { users: users.into(), ..Auth::default() }
}

fn token(name: &str) -> String {
    format!("{name}-0123456789abcdef")
}

impl Person {
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let (key, value) = match self.needs_credentials {
            true => ("authorization", format!("Bearer {}", token(&self.name))),
            false => ("x-toolwire-user", self.name.clone()),
        };
        request.metadata_mut().insert(key, value.parse().unwrap());
        request
    }

    async fn call(&self, message: CallToolRequest) -> Result<Came, Status> {
        let answer = self.tools.clone().call_tool(self.request(message)).await?.into_inner();
        Ok(match answer.outcome.expect("an outcome") {
            call_tool_response::Outcome::Result(result) => came(result.outcome),
            call_tool_response::Outcome::ConfirmationRequired(it) => Came::Required(Box::new(it)),
        })
    }

    /// Calls `debug_confirm`.
    async fn call_confirm(&self, request_id: RequestId, value: &str) -> Result<Came, Status> {
        self.call(debug_confirm(request_id, value)).await
    }

    /// Makes such a call, which asks for a confirmation.
    async fn asks(&self, request_id: RequestId, value: &str) -> ConfirmationRequired {
        confirmation(self.call_confirm(request_id, value).await)
    }

    async fn events(&self, message: InvokeToolRequest) -> Vec<Event> {
        let mut stream = self.tools.clone().invoke_tool(self.request(message)).await.unwrap().into_inner();
        let mut events = Vec::new();
        while let Some(message) = stream.message().await.unwrap() {
            events.extend(message.event.and_then(|event| event.event));
        }
        events
    }

    async fn get(&self, id: &str) -> Result<Confirmation, Status> {
        let message = GetConfirmationRequest { confirmation_id: id.to_owned(), wait: None };
        let answer = self.confirmations.clone().get_confirmation(self.request(message)).await?;
        Ok(answer.into_inner().confirmation.expect("a confirmation"))
    }

    async fn state(&self, id: &str) -> ConfirmationState {
        self.get(id).await.unwrap().state()
    }

    async fn approve(&self, id: &str) -> Result<Confirmation, Status> {
        let tool = self.get(id).await?.tool;
        self.decide(id, Decision::Approve(Approve { tool, reason: "fine".to_owned() })).await
    }

    async fn deny(&self, id: &str) -> Result<Confirmation, Status> {
        self.decide(id, Decision::Deny(Deny { reason: "not today".to_owned() })).await
    }

    async fn decide(&self, id: &str, decision: Decision) -> Result<Confirmation, Status> {
        let message = DecideConfirmationRequest {
            confirmation_id: id.to_owned(),
            decision: Some(decision),
            on_behalf_of: "chat:42".to_owned(),
        };
        let answer = self.confirmations.clone().decide_confirmation(self.request(message)).await?;
        Ok(answer.into_inner().confirmation.expect("a confirmation"))
    }
}

fn came(outcome: Option<Outcome>) -> Came {
    match outcome.expect("an outcome") {
        Outcome::Data(data) => Came::Data(Value::Object(from_struct(data))),
        Outcome::DataJson(text) => Came::Data(serde_json::from_str(&text).unwrap()),
        Outcome::DataText(text) => panic!("another form than was asked for: {text}"),
        Outcome::Error(error) => Came::Error(error.code(), error.message),
    }
}

fn call(tool: &str, arguments: &Value, request_id: Option<RequestId>) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_string())),
        request_id: request_id.map(|id| id.to_string()).unwrap_or_default(),
        ..CallToolRequest::default()
    }
}

fn debug_confirm(request_id: RequestId, value: &str) -> CallToolRequest {
    call("debug_confirm", &json!({"value": value}), Some(request_id))
}

/// The same as a stream, which waits so long for a person.
fn waiting(tool: &str, request_id: RequestId, value: &str, seconds: i64) -> InvokeToolRequest {
    InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(json!({"value": value}).to_string())),
        request_id: request_id.to_string(),
        wait_for_confirmation: Some(prost_types::Duration { seconds, nanos: 0 }),
        ..InvokeToolRequest::default()
    }
}

#[track_caller]
fn confirmation(came: Result<Came, Status>) -> ConfirmationRequired {
    match came.expect("not refused") {
        Came::Required(required) => *required,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn data(came: Result<Came, Status>) -> Value {
    match came.expect("not refused") {
        Came::Data(data) => data,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn error(came: Result<Came, Status>) -> (ToolErrorCode, String) {
    match came.expect("not refused") {
        Came::Error(code, message) => (code, message),
        other => panic!("{other:?}"),
    }
}
