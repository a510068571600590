//! Beyond what may wait for a user an answer gives way on every face, in that face's words.

use serde_json::json;
use tonic::{Code, Request};
use toolwire::contract::proto::v1::{
    InvokeToolRequest, WatchToolsRequest,
    invoke_tool_request::{Input, Target},
};

use crate::{
    http::{
        raw::{Raw, ask},
        toys::Toys,
    },
    support::server::config_with_http,
};

const JSON: &str = "content-type: application/json";
const MCP: [&str; 2] = [JSON, "accept: application/json, text/event-stream"];
const REASON: &str = "TOO_MUCH_UNREAD";

/// A server on which 20 kB may wait for one user: less than any answer here.
fn toys() -> Toys {
    let mut config = config_with_http();
    config.server.limits.max_unread_per_user = 20_000;
    Toys::with(config)
}

#[tokio::test]
async fn an_answer_over_rest_is_a_problem() {
    let toys = toys();
    for path in ["/v1/tools?view=FULL_JSON", "/openapi.json"] {
        let answer = ask(toys.http, "GET", path, &[], "").await;
        assert_eq!((answer.status, answer.code().as_str()), (429, REASON), "{path}");
        assert!(answer.body.contains("max_unread_per_user"), "{}", answer.body);
    }
    let small = ask(toys.http, "POST", "/v1/tools/debug_sleep:call", &[JSON], r#"{"duration": "0s"}"#).await;
    assert_eq!(small.status, 200, "{}", small.body);
}

#[tokio::test]
async fn a_stream_of_events_ends_with_a_problem_as_its_last() {
    let toys = toys();
    let chunks = r#"{"count": 3, "bytes": 30000}"#;
    let mut raw = Raw::connect(toys.http).await;
    raw.ask("POST", "/v1/tools/debug_stream:invoke", &[JSON], chunks).await;
    let answer = raw.answer().await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("event: error") && answer.body.contains(REASON), "{}", answer.body);
}

#[tokio::test]
async fn an_answer_over_mcp_is_a_problem() {
    let toys = toys();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
    let answer = ask(toys.http, "POST", "/mcp", &MCP, &list).await;
    assert_eq!((answer.status, answer.code().as_str()), (429, REASON), "{}", answer.body);
}

#[tokio::test]
async fn streams_over_grpc_end_with_a_status() {
    let toys = toys();
    let mut tools = toys.server.tools().await;
    let call = InvokeToolRequest {
        target: Some(Target::Tool("debug_stream".to_owned())),
        input: Some(Input::ArgumentsJson(r#"{"count": 3, "bytes": 30000}"#.to_owned())),
        ..InvokeToolRequest::default()
    };
    let status = match tools.invoke_tool(Request::new(call)).await {
        Ok(events) => events.into_inner().message().await.unwrap_err(),
        Err(status) => status,
    };
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("max_unread_per_user"), "{status}");
    let watched = tools.watch_tools(Request::new(WatchToolsRequest::default())).await;
    let status = match watched {
        Ok(watch) => watch.into_inner().message().await.unwrap_err(),
        Err(status) => status,
    };
    assert_eq!(status.code(), Code::ResourceExhausted);
}
