//! Two programs on one state: what one carries out the other sees, attaches to and cancels.

mod cancels;
mod repeats;
mod shares;

use std::{path::Path, time::Duration};

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tonic::{Request, Status, transport::Channel};
use toolwire::{
    contract::{
        json::to_struct,
        proto::v1::{
            CallToolRequest, CancelCallRequest, GetCallRequest, InvokeToolRequest, ToolResult,
            call_event::Event, call_tool_request, call_tool_response, cancel_call_request, get_call_request,
            invoke_tool_request, tool_service_client::ToolServiceClient,
        },
    },
    tool::context::RequestId,
};

use crate::support::{arguments, program::Program};

type Tools = ToolServiceClient<Channel>;

/// Two programs of one state.
struct Two {
    state: TempDir,
    one: Program,
    other: Program,
}

impl Two {
    async fn start() -> Self {
        Self::with(&[], &[]).await
    }

    /// With further arguments and variables.
    async fn with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let state = tempfile::tempdir().unwrap();
        let variables = [&[("TOOLWIRE_STATE", state.path().to_str().unwrap())], variables].concat();
        let one = Program::start(Path::new("."), arguments, &variables).await;
        let other = Program::start(Path::new("."), arguments, &variables).await;
        Self { state, one, other }
    }

    async fn tools(&self) -> (Tools, Tools) {
        (ToolServiceClient::new(self.one.channel().await), ToolServiceClient::new(self.other.channel().await))
    }
}

fn new_id() -> String {
    RequestId::generate().to_string()
}

fn signal(program: &Program, signal: Signal) {
    kill_process(program.pid(), signal).unwrap();
}

/// Calls a tool, by an identifier unless that is empty, and waits for its end.
async fn call(tools: &Tools, tool: &str, input: Value, id: &str) -> Result<ToolResult, Status> {
    call_within(tools, tool, input, id, Duration::from_mins(1)).await
}

async fn call_within(
    tools: &Tools,
    tool: &str,
    input: Value,
    id: &str,
    deadline: Duration,
) -> Result<ToolResult, Status> {
    let mut request = Request::new(CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        request_id: id.to_owned(),
        ..CallToolRequest::default()
    });
    // By its header alone: the client's own time-out would say something else.
    request.metadata_mut().insert("grpc-timeout", format!("{}m", deadline.as_millis()).parse().unwrap());
    match tools.clone().call_tool(request).await?.into_inner().outcome {
        Some(call_tool_response::Outcome::Result(result)) => Ok(result),
        other => panic!("{other:?}"),
    }
}

/// The same, under way: its `call_id`, and its end.
async fn begin(
    tools: &Tools,
    tool: &str,
    input: Value,
    id: &str,
) -> (String, JoinHandle<Result<ToolResult, Status>>) {
    let request = InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        request_id: id.to_owned(),
        ..InvokeToolRequest::default()
    };
    let mut events = tools.clone().invoke_tool(request).await.unwrap().into_inner();
    let first = events.message().await.unwrap().unwrap().event.unwrap();
    let Some(Event::Accepted(accepted)) = first.event else { panic!("{first:?}") };
    assert_eq!(accepted.tool, tool);
    let call_id = first.call_id;
    let end = async move {
        while let Some(response) = events.message().await? {
            if let Some(Event::Result(result)) = response.event.unwrap().event {
                return Ok(result);
            }
        }
        panic!("no end");
    };
    (call_id, tokio::spawn(end))
}

fn sleep_of(duration: &str) -> Value {
    json!({"duration": duration})
}

fn write_of(duration: &str) -> Value {
    json!({"value": "x", "duration": duration})
}

async fn cancel(tools: &Tools, call: cancel_call_request::Call) -> bool {
    let request = CancelCallRequest { call: Some(call) };
    tools.clone().cancel_call(request).await.unwrap().into_inner().cancelled
}

/// Waits until a program knows of the call of an identifier.
async fn known(tools: &Tools, id: &str) {
    let call = Some(get_call_request::Call::RequestId(id.to_owned()));
    while tools.clone().get_call(GetCallRequest { call: call.clone(), ..Default::default() }).await.is_err() {
        tokio::task::yield_now().await;
    }
}
