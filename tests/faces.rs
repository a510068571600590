//! Every diagnostics tool through every face: the same data, the same error, the same stop record, the same log line
//! but for what names the face. A tool of a domain besides through its typed RPC, which diagnostics have not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/mod.rs"]
mod support;

use std::path::Path;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};
use toolwire::{
    contract::proto::v1::{
        CallToolRequest, ResultFormat, ToolErrorCode,
        call_tool_request::{Input, Target},
        call_tool_response::Outcome,
        tool_result,
        tool_service_client::ToolServiceClient,
    },
    domains::brokerage::proto::v1::{GetQuotesRequest, brokerage_service_client::BrokerageServiceClient},
};

use crate::support::program::Program;

/// How a call ended and what the server noted of it.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Data, or the code of an error, or `CONFIRMATION_REQUIRED`.
    outcome: Result<Value, String>,
    /// Tool and cause of each stop record.
    stops: Vec<(Value, Value)>,
    line: Value,
}

#[tokio::test]
async fn every_diagnostics_tool_is_the_same_through_every_face() {
    let mut program =
        Program::start(Path::new("."), &["--http=127.0.0.1:0"], &[("TOOLWIRE_LOG_ARGUMENTS", "true")]).await;
    for (at, (tool, arguments)) in [
        ("debug_sleep", json!({"duration": "10ms"})),
        ("debug_stream", json!({"count": 2, "bytes": 8})),
        ("debug_nested", json!({"depth": 3})),
        ("debug_write", json!({"value": "x"})),
        ("debug_confirm", json!({"value": "x"})),
        ("debug_panic", json!({})),
        ("debug_fail", json!({"code": "RATE_LIMITED", "retry_after": "2s"})),
        ("debug_fail", json!({"code": "CONFLICT"})),
        ("debug_sleep", json!({"duration": -1})),
    ]
    .into_iter()
    .enumerate()
    {
        let text = arguments.to_string();
        let key = |face: usize| format!("6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b{face:02}{at:02}");
        let grpc = by_grpc(&program, tool, &text, &key(1)).await;
        let grpc = noted(&mut program, tool, grpc).await;
        let rest = by_rest(&program, tool, &text, &key(2)).await;
        let rest = noted(&mut program, tool, rest).await;
        let program_said = by_command_line(&program, tool, &text, &key(3)).await;
        let command_line = noted(&mut program, tool, program_said).await;
        assert_eq!(grpc, rest, "{tool} {text}");
        assert_eq!(grpc, command_line, "{tool} {text}");
    }
}

#[tokio::test]
async fn a_typed_rpc_returns_what_the_other_faces_do() {
    let program = Program::start(Path::new("."), &["--http=127.0.0.1:0"], &[]).await;
    let rest = by_rest(&program, "get_quotes", r#"{"symbol": "AAPL"}"#, "").await.unwrap();
    let grpc = by_grpc(&program, "get_quotes", r#"{"symbol": "AAPL"}"#, "").await.unwrap();
    assert_eq!(rest, grpc);
    let mut typed = BrokerageServiceClient::new(program.channel().await);
    let data = typed
        .get_quotes(GetQuotesRequest { symbol: Some("AAPL".to_owned()) })
        .await
        .unwrap()
        .into_inner()
        .data
        .unwrap();
    assert_eq!(rest["quotes"].as_array().unwrap().len(), data.quotes.len());
}

async fn by_grpc(program: &Program, tool: &str, arguments: &str, key: &str) -> Result<Value, String> {
    let request = CallToolRequest {
        target: Some(Target::Tool(tool.to_owned())),
        input: Some(Input::ArgumentsJson(arguments.to_owned())),
        request_id: key.to_owned(),
        result_format: ResultFormat::Json.into(),
        ..CallToolRequest::default()
    };
    let response = ToolServiceClient::new(program.channel().await).call_tool(request).await.unwrap();
    match response.into_inner().outcome.unwrap() {
        Outcome::ConfirmationRequired(_) => Err("CONFIRMATION_REQUIRED".to_owned()),
        Outcome::Result(result) => match result.outcome.unwrap() {
            tool_result::Outcome::DataJson(text) => Ok(serde_json::from_str(&text).unwrap()),
            tool_result::Outcome::Error(error) => Err(code(error.code())),
            other => panic!("{other:?}"),
        },
    }
}

fn code(code: ToolErrorCode) -> String {
    code.as_str_name().trim_start_matches("TOOL_ERROR_CODE_").to_owned()
}

async fn by_rest(program: &Program, tool: &str, arguments: &str, key: &str) -> Result<Value, String> {
    let mut stream = TcpStream::connect(program.http.unwrap()).await.unwrap();
    let key = if key.is_empty() { String::new() } else { format!("idempotency-key: {key}\r\n") };
    let head = format!(
        "POST /v1/tools/{tool}:call HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{key}\
         connection: close\r\ncontent-length: {}\r\n\r\n{arguments}",
        arguments.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    match body["code"].as_str() {
        Some(code) => Err(code.to_owned()),
        None => Ok(body["data"].clone()),
    }
}

async fn by_command_line(program: &Program, tool: &str, arguments: &str, key: &str) -> Result<Value, String> {
    let server = format!("http://{}", program.address);
    let output = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args([
            "call",
            tool,
            "--json",
            arguments,
            "--request-id",
            key,
            "--server",
            &server,
            "--format",
            "json",
        ])
        .output()
        .await
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let last =
        text.lines().rfind(|line| line.contains("\"result\"") || line.contains("\"confirmation_required\""));
    let last = last.unwrap_or_else(|| panic!("{text} {}", String::from_utf8_lossy(&output.stderr)));
    let event: Value = serde_json::from_str(last).unwrap();
    if event.get("confirmation_required").is_some() {
        return Err("CONFIRMATION_REQUIRED".to_owned());
    }
    match event["result"]["error"]["code"].as_str() {
        Some(code) => Err(code.trim_start_matches("TOOL_ERROR_CODE_").to_owned()),
        None => Ok(event["result"]["data"].clone()),
    }
}

/// What the server noted of the call that has just ended.
async fn noted(program: &mut Program, tool: &str, mut outcome: Result<Value, String>) -> Seen {
    // What differs from call to call.
    for level in outcome.iter_mut().filter_map(|data| data["levels"].as_array_mut()).flatten() {
        for own in ["call_id", "parent_call_id", "remaining"] {
            level.as_object_mut().unwrap().remove(own);
        }
    }
    let mut stops = Vec::new();
    loop {
        let mut line = program.next_line().await;
        if line["target"] == "toolwire::diagnostics" && line.get("cause").is_some() {
            stops.push((line["tool_name"].clone(), line["cause"].clone()));
        }
        // Nested calls have lines of their own.
        if line["target"] != "toolwire::call"
            || line["tool_name"] != tool
            || line.get("parent_call_id").is_some()
        {
            continue;
        }
        let fields = line.as_object_mut().unwrap();
        for own in [
            "timestamp",
            "call_id",
            "request_id",
            "duration_ms",
            "face",
            "peer",
            "trace_id",
            "confirmation_id",
        ] {
            fields.remove(own);
        }
        return Seen { outcome, stops, line };
    }
}
