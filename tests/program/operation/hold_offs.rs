//! A source that answers 429 or 503 and says for how long is left alone for that time, by all processes of one machine,
//! and its limits say so.

use std::{path::Path, process::Output, time::Duration};

use serde_json::json;
use tokio::process::Command;
use toolwire::{
    base::clock,
    contract::proto::v1::{
        GetLimitsRequest, SourceLimit, call_tool_response::Outcome as Called, tool_result::Outcome,
        tool_service_client::ToolServiceClient,
    },
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use crate::support::program::Program;

/// A live forum that asks for a pause, once.
async fn pausing(status: u16, retry_after: &str) -> MockServer {
    let server = MockServer::start().await;
    let pause = ResponseTemplate::new(status).insert_header("retry-after", retry_after);
    Mock::given(any()).respond_with(pause).expect(1).mount(&server).await;
    server
}

fn variables<'a>(state: &'a Path, server: &'a str) -> [(&'static str, &'a str); 3] {
    [
        ("TOOLWIRE_STATE", state.to_str().unwrap()),
        ("TOOLWIRE_SOURCES", "embedded,valuepickr=live"),
        ("TOOLWIRE_SOURCES_VALUEPICKR_BASE_URL", server),
    ]
}

/// A command in a process of its own.
async fn command(state: &Path, server: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(arguments).envs(variables(state, server)).current_dir(state).output().await.unwrap()
}

fn output(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

async fn limit(program: &Program) -> SourceLimit {
    let request = GetLimitsRequest { source: "valuepickr".to_owned() };
    let answer = ToolServiceClient::new(program.channel().await).get_limits(request).await.unwrap();
    answer.into_inner().limits.remove(0)
}

/// The code of a call of the server that holds the pause.
async fn browse(program: &Program) -> String {
    let answer = super::call(&program.channel().await, "browse_valuepickr", json!({}), None).await.unwrap();
    let Some(Called::Result(result)) = answer.outcome else { panic!("a result") };
    let Some(Outcome::Error(error)) = result.outcome else { panic!("no data") };
    format!("{} {}", error.code().as_str_name(), error.message)
}

#[tokio::test]
async fn a_pause_that_a_source_asked_for_is_shown_and_obeyed_by_every_process() {
    let in_an_hour = httpdate::fmt_http_date(clock::wall() + Duration::from_hours(1));
    for (status, retry_after) in [(429, "3600"), (429, &*in_an_hour), (503, "3600"), (503, &*in_an_hour)] {
        let (server, state) = (pausing(status, retry_after).await, tempfile::tempdir().unwrap());
        let uri = server.uri();
        let program = Program::start(Path::new("."), &[], &variables(state.path(), &uri)).await;
        let free = limit(&program).await;
        assert!(free.can_make_request && free.reason.is_empty(), "{free:?}");

        let refused = browse(&program).await;
        assert!(refused.contains(if status == 429 { "RATE_LIMITED" } else { "UNAVAILABLE" }), "{refused}");
        let held = limit(&program).await;
        let wait = Duration::try_from(held.wait_time.unwrap()).unwrap();
        assert!(!held.can_make_request && wait > Duration::from_mins(55), "{held:?}");
        assert!(held.cool_down_until.is_none(), "waiting ends it");
        for part in ["ValuePickr said that", "asked for a pause. It is asked again from 20", "(in 60 min)."] {
            assert!(held.reason.contains(part), "{part}: {held:?}");
        }

        // Another process: what it shows, and that it does not ask.
        let shown = output(&command(state.path(), &uri, &["limits"]).await);
        assert!(shown.contains("after 60 min: ValuePickr said that"), "{shown}");
        let call = output(&command(state.path(), &uri, &["call", "browse_valuepickr"]).await);
        assert!(call.contains("RATE_LIMITED") && call.contains("may be asked again at"), "{call}");
        let refused = browse(&program).await;
        assert!(refused.contains("RATE_LIMITED") && refused.contains("may be asked again at"), "{refused}");
    }
}

#[tokio::test]
async fn a_loop_of_commands_obeys_the_pause_that_its_first_one_was_asked_for() {
    let (server, state) = (pausing(429, "3600").await, tempfile::tempdir().unwrap());
    let uri = server.uri();
    let call = async || output(&command(state.path(), &uri, &["call", "browse_valuepickr"]).await);
    assert!(call().await.contains("RATE_LIMITED"));
    for _ in 0..2 {
        let later = call().await;
        assert!(later.contains("RATE_LIMITED") && later.contains("may be asked again at"), "{later}");
    }
}
