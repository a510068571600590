//! Kill -9 in the middle of a turn: what it wrote is written once, however often the turn is asked for again.

use std::{path::Path, time::Duration};

use prost::Message as _;
use serde_json::Value;
use tempfile::TempDir;
use toolwire::contract::proto::{
    agent::v1::{
        ChatStreamRequest, GetTurnRequest, TurnEvent, TurnInput, TurnState,
        agent_service_client::AgentServiceClient, tool_call_finished, turn_event::Event, turn_input::Say,
    },
    v1::{ResultFormat, tool_result::Outcome},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use crate::support::program::Program;

/// A write and a read: the read's source does not answer.
const MESSAGE: &str = "Add TCS to my watchlist and what is trending on ValuePickr?";

async fn serve(state: &TempDir, forum: &str) -> Program {
    let variables = [
        ("TOOLWIRE_STATE", state.path().to_str().unwrap()),
        ("TOOLWIRE_SOURCES", "embedded,valuepickr=live"),
        ("TOOLWIRE_SOURCES_VALUEPICKR_BASE_URL", forum),
    ];
    Program::start(Path::new("."), &[], &variables).await
}

/// The events of the turn until the write has ended: its data.
async fn written(program: &Program, id: &str) -> Value {
    let input = TurnInput {
        say: Some(Say::Message(MESSAGE.to_owned())),
        request_id: id.to_owned(),
        result_format: ResultFormat::Json.into(),
        ..Default::default()
    };
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
                let Some(Outcome::DataJson(text)) = result.outcome else { panic!("{result:?}") };
                // The stream is left with the program.
                std::mem::forget(stream);
                return serde_json::from_str(&text).unwrap();
            }
            Some(Event::Final(reply)) => panic!("{} bytes", reply.encoded_len()),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_kill_between_the_result_of_a_write_and_the_end_of_its_turn_writes_once() {
    let (state, forum) = (tempfile::tempdir().unwrap(), MockServer::start().await);
    let late = ResponseTemplate::new(200).set_delay(Duration::from_mins(1));
    Mock::given(any()).respond_with(late).mount(&forum).await;
    let id = toolwire::context::RequestId::generate().to_string();
    for round in 0..3 {
        let program = serve(&state, &forum.uri()).await;
        let data = written(&program, &id).await;
        // A second write would say that the stock was there.
        assert_eq!(
            (&data["added"], &data["items_count"]),
            (&Value::Bool(true), &Value::from(1)),
            "round {round}"
        );
        let mut client = AgentServiceClient::new(program.channel().await);
        let turn = client.get_turn(GetTurnRequest { turn_id: id.clone() }).await.unwrap().into_inner();
        assert_eq!(turn.turn.unwrap().state(), TurnState::Running, "the turn has not ended");
        program.kill().await;
    }
}
