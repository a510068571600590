//! Writes without a `request_id` against servers that are killed: an equal call after the restart is answered from the
//! record of the first, once a write has begun, and never begins a second one.

use std::{collections::HashSet, env, path::Path, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use toolwire::contract::proto::v1::{
    CallToolRequest, CallToolResponse, ToolErrorCode, call_tool_request, call_tool_response,
    tool_result::Outcome, tool_service_client::ToolServiceClient,
};

use crate::support::{draws::draws, program::Program};

const LIMIT: Duration = Duration::from_secs(30);

async fn serve(state: &TempDir) -> Program {
    let state = state.path().to_str().expect("a name");
    let variables = [("TOOLWIRE_STATE", state), ("TOOLWIRE_LOG_FILTER", "toolwire::diagnostics=debug")];
    Program::start(Path::new("."), &[], &variables).await
}

fn write(round: usize) -> CallToolRequest {
    let arguments = json!({"value": format!("{round}"), "duration": "0.04s"}).to_string();
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool("debug_write".to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(arguments)),
        resume_equal_write: true,
        ..CallToolRequest::default()
    }
}

async fn answer(program: &Program, request: CallToolRequest) -> CallToolResponse {
    let mut client = ToolServiceClient::new(program.channel().await);
    timeout(LIMIT, client.call_tool(request)).await.expect("in time").expect("status OK").into_inner()
}

fn code(answer: &CallToolResponse) -> Option<ToolErrorCode> {
    let Some(call_tool_response::Outcome::Result(result)) = &answer.outcome else { panic!("{answer:?}") };
    match &result.outcome {
        Some(Outcome::Error(error)) => Some(error.code()),
        _ => None,
    }
}

/// The `request_id`s under which the log says that something was written.
fn written(log: &str) -> Vec<String> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let wrote = lines.filter(|line| line["message"] == "wrote");
    wrote.map(|line| line["request_id"].as_str().expect("an identifier").to_owned()).collect()
}

/// Kills at drawn moments of a write whose client repeats it after the restart. `KILL_ROUNDS` says how often.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_equal_call_after_a_kill_is_answered_from_the_record_and_writes_nothing_twice() {
    let rounds: usize = env::var("KILL_ROUNDS").map_or(5, |text| text.parse().expect("a number"));
    let (state, mut draws, mut log) = (tempfile::tempdir().expect("a directory"), draws(), String::new());
    let mut program = serve(&state).await;
    for round in 0..rounds {
        let mut client = ToolServiceClient::new(program.channel().await);
        let call = tokio::spawn(async move { client.call_tool(write(round)).await });
        tokio::time::sleep(Duration::from_millis(draws.u64(0..100))).await;
        log.push_str(&program.kill().await);
        let first = call.await.expect("no panic").ok().map(tonic::Response::into_inner);
        program = serve(&state).await;
        let again = answer(&program, write(round)).await;
        if let Some(first) = first {
            assert_eq!(
                first.request_id, again.request_id,
                "its answer was on its way when the server was killed"
            );
        }
        // The server was killed while it wrote, or it was not.
        assert!(matches!(code(&again), None | Some(ToolErrorCode::OutcomeUnknown)), "{again:?}");
        let ids = written(&log);
        assert!(ids.iter().filter(|id| **id == again.request_id).count() <= 1, "{ids:?}");
    }
    log.push_str(&program.stop().await);
    let (ids, values) = (written(&log), rounds);
    let distinct: HashSet<_> = ids.iter().collect();
    assert!(distinct.len() == ids.len() && ids.len() <= values, "{ids:?}");
}

/// The answer of a write that has ended is kept for its client for a moment after it was sent.
#[tokio::test]
async fn an_answer_that_a_kill_may_have_lost_is_given_again() {
    let state = tempfile::tempdir().expect("a directory");
    let mut program = serve(&state).await;
    let first = answer(&program, write(0)).await;
    program.wait_for_log("wrote").await;
    program.kill().await;
    let program = serve(&state).await;
    let again = answer(&program, write(0)).await;
    assert_eq!((&again.request_id, code(&again)), (&first.request_id, None));
    assert_eq!(written(&program.stop().await), Vec::<String>::new());
}
