//! The log line of a call, from the real program: the fields of every line, and those that only some have.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::Request;
use toolwire::{
    base::digest::Digest,
    contract::{
        json::to_struct,
        proto::{
            agent::v1::{ChatRequest, TurnInput, agent_service_client::AgentServiceClient, turn_input::Say},
            v1::{CallToolRequest, ToolContext, call_tool_request, tool_service_client::ToolServiceClient},
        },
    },
};

use crate::support::{arguments, program::Program};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const REQUEST_ID: &str = "0196f1c2-7a4b-7c3d-8e5f-0123456789ab";

/// Every line has these; `error_code` is there when there is one.
const TOOL_LOG: [&str; 7] =
    ["timestamp", "user_id", "tool_name", "args", "duration_ms", "success", "cache_hit"];
/// What Toolwire adds to every line of a call.
const ADDED: [&str; 6] = ["level", "target", "message", "status", "face", "call_id"];

fn request(tool: &str, input: Value) -> Request<CallToolRequest> {
    Request::new(CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        ..CallToolRequest::default()
    })
}

/// The line of a call.
async fn line(program: &mut Program, request: Request<CallToolRequest>) -> Value {
    let Some(call_tool_request::Target::Tool(tool)) = request.get_ref().target.clone() else {
        unreachable!()
    };
    ToolServiceClient::new(program.channel().await).call_tool(request).await.expect("status OK");
    program.line(&tool).await
}

#[track_caller]
fn assert_fields(line: &Value, more: &[&str]) {
    let fields: BTreeSet<_> = line.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(fields, TOOL_LOG.iter().chain(&ADDED).chain(more).copied().collect(), "{line}");
    assert!(line["timestamp"].as_str().is_some_and(|it| it.ends_with('Z')), "{line}");
    assert!(line["duration_ms"].is_number() && line["args"].is_object(), "{line}");
    assert_eq!(line["user_id"], "demo");
}

#[tokio::test]
async fn success_failure_and_hit_have_exactly_the_specified_fields() {
    let mut program = Program::start(Path::new("."), &[], &[("TOOLWIRE_LOG_ARGUMENTS", "true")]).await;

    let success = line(&mut program, request("get_quotes", json!({"symbol": "AAPL"}))).await;
    assert_fields(&success, &[]);
    assert_eq!((&success["success"], &success["cache_hit"]), (&json!(true), &json!(false)));
    assert_eq!((&success["args"], &success["status"]), (&json!({"symbol": "AAPL"}), &json!("OK")));

    let failure = line(&mut program, request("debug_fail", json!({"code": "NOT_FOUND"}))).await;
    assert_fields(&failure, &["error_code"]);
    assert_eq!((&failure["success"], &failure["error_code"]), (&json!(false), &json!("NOT_FOUND")));

    let write = || {
        let mut request = request("debug_write", json!({"value": "x"}));
        request.get_mut().request_id = REQUEST_ID.to_owned();
        request
    };
    assert_eq!(line(&mut program, write()).await["cache_hit"], false);
    let hit = line(&mut program, write()).await;
    assert_fields(&hit, &[]);
    assert_eq!((&hit["success"], &hit["cache_hit"]), (&json!(true), &json!(true)));

    // A tool with a cache of its own.
    let browse = || request("browse_screener", json!({}));
    assert_eq!(line(&mut program, browse()).await["cache_hit"], false);
    assert_eq!(line(&mut program, browse()).await["cache_hit"], true);
}

#[tokio::test]
async fn the_callers_trace_is_named_although_none_is_exported() {
    let mut program = Program::start(Path::new("."), &[], &[]).await;
    let mut traced = request("get_symbol_performance", json!({"symbol": "AAPL"}));
    let traceparent = format!("00-{TRACE_ID}-b7ad6b7169203331-00");
    traced.metadata_mut().insert("traceparent", traceparent.parse().expect("a value"));
    let mut client = ToolServiceClient::new(program.channel().await);
    client.call_tool(traced).await.expect("status OK");
    // A nested call belongs to the same trace, and its line comes first.
    assert_eq!(program.line("get_quotes").await["trace_id"], TRACE_ID);
    let line = program.line("get_symbol_performance").await;
    assert_eq!((&line["trace_id"], &line["args"]), (&json!(TRACE_ID), &json!("[redacted]")));

    let mut broken = request("get_facts", json!({"topic": "roth"}));
    broken.metadata_mut().insert("traceparent", "00-xyz".parse().expect("a value"));
    client.call_tool(broken).await.expect("status OK");
    assert!(program.line("get_facts").await.get("trace_id").is_none());
}

/// What a caller may write as it likes: it is logged as a digest or not at all.
#[tokio::test]
async fn a_callers_own_text_is_in_no_line() {
    const OWN: &str = "riley's-own-words-4711";
    let mut program = Program::start(Path::new("."), &["--http=127.0.0.1:0"], &[]).await;
    let context = || {
        let attributes = [(OWN.to_owned(), OWN.to_owned())].into();
        Some(ToolContext {
            session_id: OWN.to_owned(),
            task_id: OWN.to_owned(),
            attributes,
            ..ToolContext::default()
        })
    };
    let mut labelled = request("get_facts", json!({"topic": "roth"}));
    labelled.get_mut().context = context();
    for header in ["baggage", "tracestate"] {
        labelled.metadata_mut().insert(header, format!("a={OWN}").parse().expect("a value"));
    }
    let mut client = ToolServiceClient::new(program.channel().await);
    client.call_tool(labelled).await.expect("status OK");
    client.call_tool(request(OWN, json!({}))).await.expect_err("no such tool");
    let mut unnamed = request("get_facts", json!({"topic": "roth"}));
    unnamed.get_mut().request_id = OWN.to_owned();
    client.call_tool(unnamed).await.expect_err("no UUID");

    let mut stream = TcpStream::connect(program.http.expect("asked for")).await.expect("connects");
    let unknown = format!(
        "GET /{OWN}?{OWN} HTTP/1.1\r\nhost: localhost\r\nuser-agent: {OWN}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(unknown.as_bytes()).await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("readable");
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");

    let message = Some(Say::Message("What is Apple trading at?".to_owned()));
    let input = TurnInput { say: message, context: context(), ..TurnInput::default() };
    let mut agent = AgentServiceClient::new(program.channel().await);
    agent.chat(ChatRequest { input: Some(input) }).await.expect("status OK");

    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &Value| line["message"] != "turn") {
        lines.push(program.next_line().await);
    }
    let digest = Value::from(Digest::of_bytes(OWN.as_bytes()).to_string());
    assert_eq!(lines.last().expect("one")["session_digest"], digest);
    let calls: Vec<_> = lines.iter().filter(|line| line["target"] == "toolwire::call").collect();
    assert_eq!((&calls[0]["tool_name"], &calls[0]["task_digest"]), (&json!("get_facts"), &digest));
    assert!(calls[0].get("task_id").is_none(), "{}", calls[0]);
    assert_eq!(calls[1]["tool_name"], "_OTHER");
    let lines: Vec<_> = lines.iter().map(Value::to_string).chain([program.stop().await]).collect();
    assert!(lines.iter().all(|line| !line.contains("own-words")), "{lines:#?}");
}
