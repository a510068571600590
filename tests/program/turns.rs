//! Kill -9 in the middle of a turn that a yes began: what it wrote is written once, however often the yes is said
//! again.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use toolwire::contract::proto::{
    agent::v1::{
        ChatRequest, ChatStreamRequest, TurnEvent, TurnInput, agent_service_client::AgentServiceClient,
        chat_response, tool_call_finished, turn_event::Event, turn_input::Say,
    },
    v1::{ResultFormat, ToolContext, ToolResult, tool_result::Outcome},
};

use crate::support::program::Program;

/// The conversation in which the write is proposed.
const SESSION: &str = "kills";

async fn serve(state: &TempDir) -> Program {
    let variables = [("TOOLWIRE_STATE", state.path().to_str().unwrap())];
    Program::start(Path::new("."), &[], &variables).await
}

fn says(id: &str, message: &str) -> TurnInput {
    TurnInput {
        say: Some(Say::Message(message.to_owned())),
        context: Some(ToolContext { session_id: SESSION.to_owned(), ..Default::default() }),
        request_id: id.to_owned(),
        result_format: ResultFormat::Json.into(),
        ..Default::default()
    }
}

/// The events of the yes until the write has ended, or its stored end: the data of the write.
async fn written(program: &Program, id: &str) -> Value {
    let input = says(id, "yes");
    let mut client = AgentServiceClient::new(program.channel().await);
    let request = ChatStreamRequest { input: Some(input) };
    let mut stream = client.chat_stream(request).await.unwrap().into_inner();
    let mut calls = std::collections::HashMap::new();
    loop {
        let event: TurnEvent = stream.message().await.unwrap().expect("no end").event.unwrap();
        match event.event {
            Some(Event::ToolCallStarted(call)) => _ = calls.insert(call.call_id, call.tool),
            Some(Event::ToolCallFinished(call)) if calls[&call.call_id] == "add_to_watchlist" => {
                let Some(tool_call_finished::Outcome::Result(result)) = call.outcome else { panic!() };
                // The stream is left with the program.
                std::mem::forget(stream);
                return data(result);
            }
            Some(Event::Final(reply)) => return data(reply.tool_results[0].result.clone().unwrap()),
            _ => {}
        }
    }
}

fn data(result: ToolResult) -> Value {
    let Some(Outcome::DataJson(text)) = result.outcome else { panic!("{result:?}") };
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_kill_between_the_result_of_a_write_and_the_end_of_its_turn_writes_once() {
    let state = tempfile::tempdir().unwrap();
    let id = || toolwire::tool::context::RequestId::generate().to_string();
    let program = serve(&state).await;
    let mut client = AgentServiceClient::new(program.channel().await);
    let proposing = ChatRequest { input: Some(says(&id(), "Add TCS to my watchlist")) };
    let Some(chat_response::End::Reply(reply)) = client.chat(proposing).await.unwrap().into_inner().end
    else {
        panic!("no reply")
    };
    assert!(reply.proposal.is_some() && reply.tool_results.is_empty(), "{reply:?}");
    program.kill().await;
    let yes = id();
    for round in 0..3 {
        let program = serve(&state).await;
        let data = written(&program, &yes).await;
        // A second write would say that the stock was there.
        assert_eq!(
            (&data["added"], &data["items_count"]),
            (&Value::Bool(true), &Value::from(1)),
            "round {round}"
        );
        program.kill().await;
    }
}
