//! Jobs of the real program: watched over a kill of the server, and followed at the terminal.

use std::{path::Path, process::Output, time::Duration};

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use toolwire::{
    contract::proto::agent::v1::{
        JobEvent, WatchJobRequest, job_service_client::JobServiceClient, watch_job_response::News,
    },
    domains::research::proto::v1::{StartDiscoveryRequest, discovery_service_client::DiscoveryServiceClient},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use crate::support::program::Program;

/// A forum that does not answer for a minute.
async fn slow() -> MockServer {
    let server = MockServer::start().await;
    let late = ResponseTemplate::new(200).set_delay(Duration::from_mins(1));
    Mock::given(any()).respond_with(late).mount(&server).await;
    server
}

async fn serve(state: &TempDir, forum: &str) -> Program {
    let variables = [
        ("TOOLWIRE_STATE", state.path().to_str().unwrap()),
        ("TOOLWIRE_SOURCES", "embedded,valuepickr=live"),
        ("TOOLWIRE_SOURCES_VALUEPICKR_BASE_URL", forum),
    ];
    Program::start(Path::new("."), &[], &variables).await
}

/// The events after one: so many, or all.
async fn watch(program: &Program, job_id: &str, after_sequence: Option<u64>, most: usize) -> Vec<JobEvent> {
    let message = WatchJobRequest { job_id: job_id.to_owned(), after_sequence, ..Default::default() };
    let mut client = JobServiceClient::new(program.channel().await);
    let mut stream = client.watch_job(message).await.unwrap().into_inner();
    let mut events = Vec::new();
    while events.len() < most
        && let Some(response) = stream.message().await.unwrap()
    {
        if let Some(News::Event(event)) = response.news {
            events.push(event);
        }
    }
    events
}

#[tokio::test]
async fn a_job_is_watched_over_a_kill_of_its_server_without_gap_or_duplicate() {
    let (state, forum) = (tempfile::tempdir().unwrap(), slow().await);
    let program = serve(&state, &forum.uri()).await;
    let mut client = DiscoveryServiceClient::new(program.channel().await);
    let request = StartDiscoveryRequest { sources: vec!["valuepickr".to_owned()], ..Default::default() };
    let job_id = client.start_discovery(request.clone()).await.unwrap().into_inner().job_id;
    // It waits for the forum.
    let before = watch(&program, &job_id, None, 3).await;
    assert_eq!(before[2].line, "[30%] 🔍 Browsing ValuePickr for ideas...");
    program.kill().await;

    let program = serve(&state, &forum.uri()).await;
    let after = watch(&program, &job_id, Some(2), usize::MAX).await;
    assert_eq!((after.len(), after[0].sequence), (1, 3));
    let ended = after[0].ended.clone().unwrap();
    let error = ended.error.unwrap();
    assert_eq!((error.code.as_str(), error.retryable), ("INTERRUPTED", true));
    // All of it once, in order.
    let all = watch(&program, &job_id, None, usize::MAX).await;
    assert_eq!(all[..3], before);
    assert_eq!(all[3..], after);
    // Another can be started.
    let mut client = DiscoveryServiceClient::new(program.channel().await);
    assert!(client.start_discovery(request).await.is_ok());
}

async fn discover(state: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.arg("discover").args(arguments).env("TOOLWIRE_STATE", state.path()).env_remove("TOOLWIRE_SERVER");
    let Output { status, stdout, stderr } = command.current_dir(state).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[tokio::test]
async fn a_discovery_is_followed_at_the_terminal_without_a_server_and_with_one() {
    let state = tempfile::tempdir().unwrap();
    let arguments = ["--max-candidates", "1", "--from", "valuepickr"];
    let (code, out, said) = discover(&state, &arguments).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("[10%] Starting discovery cycle...\n"), "{said}");
    assert!(said.contains("[30%] 🔍 Browsing ValuePickr for ideas...\n"), "{said}");
    assert!(out.contains(" conviction\n") && out.contains("[tool:"), "{out}");

    let program = Program::start(Path::new("."), &[], &[]).await;
    let address = format!("http://{}", program.address);
    let with = [&arguments[..], &["--server", &address, "--json"]].concat();
    let (code, out, said) = discover(&state, &with).await;
    assert_eq!(code, Some(0), "{said}");
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = &events.last().unwrap()["ended"];
    assert_eq!(last["state"], "JOB_STATE_SUCCEEDED", "{last}");
    assert!(last["result"]["suggestions"].is_array(), "{last}");
    // It can be followed again, to the same end.
    let job_id = last["job_id"].as_str().unwrap();
    let (code, again, said) = discover(&state, &["--job", job_id, "--server", &address, "--json"]).await;
    assert_eq!((code, again), (Some(0), out), "{said}");
    let (code, _, said) = discover(&state, &["--job", "42", "--server", &address]).await;
    assert_eq!(code, Some(2), "{said}");
}
