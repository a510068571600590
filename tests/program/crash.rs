//! Kill -9 between the record of a call and its end (promise 11).

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Streaming, transport::Channel};
use toolwire::{
    contract::{
        json::to_struct,
        proto::v1::{
            CallToolRequest, InvokeToolRequest, InvokeToolResponse, ToolErrorCode, ToolResult,
            call_event::Event, call_tool_request, call_tool_response, invoke_tool_request,
            tool_result::Outcome, tool_service_client::ToolServiceClient,
        },
    },
    tool::context::RequestId,
};

use crate::support::{arguments, program::Program};

/// The program, and again after it was killed: with the same state.
async fn serve(state: &TempDir) -> (Program, ToolServiceClient<Channel>) {
    let variables = [("TOOLWIRE_STATE", state.path().to_str().expect("a name"))];
    let program = Program::start(Path::new("."), &[], &variables).await;
    let client = ToolServiceClient::new(program.channel().await);
    (program, client)
}

async fn begin(
    client: &mut ToolServiceClient<Channel>,
    tool: &str,
    input: Value,
    id: RequestId,
) -> Streaming<InvokeToolResponse> {
    let request = InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        request_id: id.to_string(),
        ..InvokeToolRequest::default()
    };
    client.invoke_tool(request).await.expect("status OK").into_inner()
}

async fn next(events: &mut Streaming<InvokeToolResponse>) -> Event {
    let response = events.message().await.expect("status OK").expect("no end");
    response.event.and_then(|event| event.event).expect("an event")
}

async fn write(client: &mut ToolServiceClient<Channel>, duration: &str, id: RequestId) -> ToolResult {
    let input = arguments(json!({"value": "x", "duration": duration}));
    let request = CallToolRequest {
        target: Some(call_tool_request::Target::Tool("debug_write".to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&input))),
        request_id: id.to_string(),
        ..CallToolRequest::default()
    };
    let response = client.call_tool(request).await.expect("status OK").into_inner();
    match response.outcome {
        Some(call_tool_response::Outcome::Result(result)) => result,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn after_a_kill_a_write_that_had_begun_has_an_unknown_outcome_and_a_read_is_read_again() {
    let state = tempfile::tempdir().expect("a directory");
    let (program, mut client) = serve(&state).await;
    let (ended, cut, read) = (RequestId::generate(), RequestId::generate(), RequestId::generate());
    let first = write(&mut client, "0s", ended).await;
    let mut writing = begin(&mut client, "debug_write", json!({"value": "x", "duration": "60s"}), cut).await;
    let mut reading = begin(&mut client, "debug_sleep", json!({"duration": "60s"}), read).await;
    for events in [&mut writing, &mut reading] {
        let event = next(events).await;
        assert!(matches!(event, Event::Accepted(_)), "{event:?}");
    }
    program.kill().await;

    let (_program, mut client) = serve(&state).await;
    let repeat = write(&mut client, "0s", ended).await;
    assert_eq!(repeat.outcome, first.outcome, "what had ended is remembered");
    for _ in 0..2 {
        let Some(Outcome::Error(error)) = write(&mut client, "60s", cut).await.outcome else {
            panic!("an error")
        };
        // The process that a restart replaces might carry it out still.
        assert_eq!((error.code(), error.retryable), (ToolErrorCode::OutcomeUnknown, true), "{error:?}");
    }
    // It would not be accepted if its outcome were known or in doubt.
    let mut reading = begin(&mut client, "debug_sleep", json!({"duration": "60s"}), read).await;
    let event = next(&mut reading).await;
    assert!(matches!(event, Event::Accepted(_)), "{event:?}");
}
