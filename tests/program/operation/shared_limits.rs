//! The processes of one machine share the budgets of live sources: a loop of commands is paced like one server.

use std::process::Output;

use tokio::process::Command;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

/// `toolwire call` of a tool of a live source, whose budget is one request an hour.
async fn call(state: &tempfile::TempDir, server: &MockServer) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["call", "browse_valuepickr", "--sources", "embedded,valuepickr=live", "--deadline", "10s"])
        .env("TOOLWIRE_STATE", state.path())
        .env("TOOLWIRE_SOURCES_VALUEPICKR_BASE_URL", server.uri())
        .env("TOOLWIRE_SOURCES_VALUEPICKR_MAX_REQUESTS", "1")
        .env("TOOLWIRE_SOURCES_VALUEPICKR_WINDOW", "1h")
        .current_dir(state)
        .output()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_loop_of_commands_spends_one_budget() {
    let server = MockServer::start().await;
    let not_found = ResponseTemplate::new(404).set_body_json(serde_json::json!({"errors": ["gone"]}));
    Mock::given(any()).respond_with(not_found).expect(1).mount(&server).await;
    let state = tempfile::tempdir().unwrap();
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let first = said(&call(&state, &server).await);
    assert!(first.contains("NOT_FOUND"), "{first}");
    for _ in 0..2 {
        let later = said(&call(&state, &server).await);
        assert!(later.contains("RATE_LIMITED") && later.contains("may be asked again at"), "{later}");
    }
}
