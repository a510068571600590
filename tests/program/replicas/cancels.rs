//! What is cancelled through the program that does not carry it out.

use std::{path::Path, process::Output, time::Duration};

use rustix::process::Signal;
use serde_json::json;
use tokio::process::Command;
use tonic::{Code, Request};
use toolwire::{
    contract::{
        json::to_struct,
        proto::{
            agent::v1::{
                CancelJobRequest, CancelTurnRequest, ChatStreamRequest, TurnInput,
                agent_service_client::AgentServiceClient, cancel_turn_request::Which,
                job_service_client::JobServiceClient, turn_event::Event as TurnNews, turn_input::Say,
            },
            tasks::v1::{
                CancelTaskRequest, CreateTaskRequest, GetTaskRequest, HandleToolCallRequest,
                handle_tool_call_request::Input, task_service_client::TaskServiceClient,
            },
            v1::{CancelCallRequest, ToolErrorCode, cancel_call_request::Call, tool_result::Outcome},
        },
    },
    domains::research::proto::v1::{StartDiscoveryRequest, discovery_service_client::DiscoveryServiceClient},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::{Two, begin, cancel, known, new_id, signal, sleep_of, write_of};
use crate::support::arguments;

/// Longer than any test waits: what ends earlier was cancelled.
const LONG: &str = "60s";

#[tokio::test]
async fn a_call_is_cancelled_through_the_other_program_by_either_of_its_names() {
    let two = Two::start().await;
    let (one, other) = two.tools().await;
    for (id, by_request) in [(new_id(), true), (new_id(), false), (String::new(), false)] {
        let (call_id, end) = begin(&one, "debug_sleep", sleep_of(LONG), &id).await;
        let call = if by_request { Call::RequestId(id) } else { Call::CallId(call_id) };
        assert!(cancel(&other, call.clone()).await, "{call:?}");
        let Some(Outcome::Error(error)) = end.await.unwrap().unwrap().outcome else { panic!("{call:?}") };
        assert_eq!(error.code(), ToolErrorCode::Cancelled, "{call:?}");
        assert!(!cancel(&other, call).await, "it has ended");
    }
    // A write is told, and goes on.
    let id = new_id();
    let (_, end) = begin(&one, "debug_write", write_of("2s"), &id).await;
    assert!(cancel(&other, Call::RequestId(id)).await);
    assert!(matches!(end.await.unwrap().unwrap().outcome, Some(Outcome::Data(_))));
}

#[tokio::test]
async fn nobody_cancels_the_call_of_another_user_through_the_other_program() {
    let two = Two::start().await;
    let (one, other) = two.tools().await;
    let id = new_id();
    let (call_id, end) = begin(&one, "debug_sleep", sleep_of("2s"), &id).await;
    for call in [Call::RequestId(id), Call::CallId(call_id)] {
        let mut request = Request::new(CancelCallRequest { call: Some(call) });
        request.metadata_mut().insert("x-toolwire-user", "mallory".parse().unwrap());
        assert!(!other.clone().cancel_call(request).await.unwrap().into_inner().cancelled);
    }
    assert!(matches!(end.await.unwrap().unwrap().outcome, Some(Outcome::Data(_))));
}

#[tokio::test]
async fn the_command_cancels_through_the_other_program_and_sees_the_call_there() {
    let two = Two::start().await;
    let (one, _) = two.tools().await;
    let id = new_id();
    let (_, end) = begin(&one, "debug_sleep", sleep_of(LONG), &id).await;
    let server = format!("http://{}", two.other.address);
    let open = run(&two, &["calls", "--open", "--server", &server]).await;
    assert!(String::from_utf8_lossy(&open.stdout).contains("debug_sleep"), "{open:?}");
    let cancelled = run(&two, &["cancel", &id, "--server", &server]).await;
    assert!(cancelled.status.success(), "{cancelled:?}");
    let Some(Outcome::Error(error)) = end.await.unwrap().unwrap().outcome else { panic!("an error") };
    assert_eq!(error.code(), ToolErrorCode::Cancelled);
}

#[tokio::test]
async fn a_command_that_serves_nobody_is_cancelled_through_a_program_of_its_state() {
    let two = Two::start().await;
    let (_, other) = two.tools().await;
    let id = new_id();
    let mut command = toolwire(&two);
    command.args(["call", "debug_sleep", "duration=60s", "--diagnostics", "--request-id", &id]);
    let calling = tokio::spawn(async move { command.output().await.unwrap() });
    known(&other, &id).await;
    assert!(cancel(&other, Call::RequestId(id)).await);
    let output = calling.await.unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("cancelled"), "{output:?}");
}

#[tokio::test]
async fn a_request_to_cancel_waits_for_an_owner_that_is_stopped() {
    let two = Two::start().await;
    let (one, other) = two.tools().await;
    let id = new_id();
    let (_, end) = begin(&one, "debug_sleep", sleep_of(LONG), &id).await;
    signal(&two.one, Signal::STOP);
    assert!(cancel(&other, Call::RequestId(id)).await, "it lives");
    signal(&two.one, Signal::CONT);
    let Some(Outcome::Error(error)) = end.await.unwrap().unwrap().outcome else { panic!("an error") };
    assert_eq!(error.code(), ToolErrorCode::Cancelled);
}

#[tokio::test]
async fn the_end_of_a_task_stops_its_calls_in_the_other_program() {
    let two = Two::start().await;
    let mut one = TaskServiceClient::new(two.one.channel().await);
    let mut other = TaskServiceClient::new(two.other.channel().await);
    let request =
        CreateTaskRequest { request: "Wait".to_owned(), request_id: new_id(), ..Default::default() };
    let task_id = one.create_task(request).await.unwrap().into_inner().task.unwrap().task_id;
    let handle = HandleToolCallRequest {
        task_id: task_id.clone(),
        tool: "debug_sleep".to_owned(),
        input: Some(Input::Arguments(to_struct(&arguments(sleep_of(LONG))))),
        request_id: new_id(),
        ..Default::default()
    };
    let mut caller = one.clone();
    let end = tokio::spawn(async move { caller.handle_tool_call(handle).await });
    let get = GetTaskRequest { task_id: task_id.clone() };
    while other.get_task(get.clone()).await.unwrap().into_inner().open_calls.is_empty() {
        tokio::task::yield_now().await;
    }
    other.cancel_task(CancelTaskRequest { task_id, ..Default::default() }).await.unwrap();
    let ended = end.await.unwrap();
    assert!(format!("{ended:?}").contains("ancelled"), "{ended:?}");
}

/// A forum that does not answer for a minute, and two programs that ask it.
async fn waiting_for_a_forum() -> (MockServer, Two) {
    let forum = MockServer::start().await;
    let late = ResponseTemplate::new(200).set_delay(Duration::from_mins(1));
    Mock::given(any()).respond_with(late).mount(&forum).await;
    let variables = [
        ("TOOLWIRE_SOURCES", "embedded,valuepickr=live"),
        ("TOOLWIRE_SOURCES_VALUEPICKR_BASE_URL", &forum.uri()),
    ];
    let two = Two::with(&[], &variables).await;
    (forum, two)
}

#[tokio::test]
async fn a_turn_is_cancelled_through_the_other_program_by_its_name_and_by_its_session() {
    let (_forum, two) = waiting_for_a_forum().await;
    let mut one = AgentServiceClient::new(two.one.channel().await);
    let mut other = AgentServiceClient::new(two.other.channel().await);
    for by_session in [false, true] {
        let say = Some(Say::Message("What is trending on ValuePickr?".to_owned()));
        let input = TurnInput { say, request_id: new_id(), ..Default::default() };
        let request = ChatStreamRequest { input: Some(input) };
        let mut events = one.chat_stream(request).await.unwrap().into_inner();
        let (mut session_id, mut turn_id) = (String::new(), String::new());
        loop {
            let event = events.message().await.unwrap().expect("no end").event.unwrap();
            turn_id.clone_from(&event.turn_id);
            match event.event.unwrap() {
                TurnNews::Started(started) => session_id = started.session_id,
                TurnNews::ToolCallStarted(_) => break,
                _ => {}
            }
        }
        let which = Some(if by_session { Which::SessionId(session_id) } else { Which::TurnId(turn_id) });
        let cancelled =
            other.cancel_turn(CancelTurnRequest { which: which.clone() }).await.unwrap().into_inner();
        assert!(cancelled.cancelled, "{which:?}");
        let end = loop {
            match events.message().await {
                Ok(Some(_)) => {}
                end => break end,
            }
        };
        assert_eq!(end.unwrap_err().code(), Code::Cancelled, "{which:?}");
    }
}

#[tokio::test]
async fn a_job_is_stopped_through_the_other_program() {
    let (forum, mut two) = waiting_for_a_forum().await;
    let mut one = DiscoveryServiceClient::new(two.one.channel().await);
    let mut other = JobServiceClient::new(two.other.channel().await);
    let request = StartDiscoveryRequest { sources: vec!["valuepickr".to_owned()], ..Default::default() };
    let job_id = one.start_discovery(request).await.unwrap().into_inner().job_id;
    while forum.received_requests().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    other.cancel_job(CancelJobRequest { job_id: job_id.clone(), ..Default::default() }).await.unwrap();
    // What it waits for would take a minute.
    let (line, _) = two.one.wait_for_log("job").await;
    assert_eq!((&line["job_id"], &line["state"]), (&json!(job_id), &json!("cancelled")));
    assert!(line["took_ms"].as_f64().unwrap() < 30_000.0, "{line}");
}

fn toolwire(two: &Two) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.current_dir(Path::new(".")).env("TOOLWIRE_STATE", two.state.path()).kill_on_drop(true);
    command
}

async fn run(two: &Two, arguments: &[&str]) -> Output {
    toolwire(two).args(arguments).output().await.unwrap()
}
