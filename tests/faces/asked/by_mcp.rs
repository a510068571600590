//! A call by MCP, over HTTP and over standard input.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::Command,
};
use toolwire::contract::{
    ErrorCode,
    proto::v1::{
        ErrorOrigin, FieldViolation, GetCallRequest, GetCallResponse, ToolError, ToolErrorCode,
        get_call_request::Call,
    },
};

use super::{Answer, Asked, Places};
use crate::support::raw::Raw;

const REVISION: &str = "2026-07-28";
/// The tools that may wait for a person, until a second before the deadline.
const WAITING: [&str; 3] = ["debug_confirm", "debug_confirm_nested", "pay"];

fn message(asked: &Asked) -> String {
    let Asked { tool, arguments, .. } = asked;
    let deadline = if WAITING.contains(&asked.tool.as_str()) { 5_000 } else { 30_000 };
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "toolwire/request_id": asked.key,
        "toolwire/timeout_ms": deadline,
    });
    // The arguments to the letter.
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
}

pub(super) async fn over_http(places: &Places, asked: &Asked) -> Answer {
    let mut stream = TcpStream::connect(places.http).await.unwrap();
    let (tool, body) = (&asked.tool, message(asked));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: {REVISION}\r\n\
         mcp-method: tools/call\r\nmcp-name: {tool}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    read(places, asked, body).await
}

pub(super) async fn over_stdio(places: &Places, asked: &Asked) -> Answer {
    let server = format!("http://{}", places.grpc);
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["mcp", "--server", &server])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{}\n", message(asked)).as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    drop(input);
    assert!(child.wait().await.unwrap().success());
    read(places, asked, &line).await
}

async fn read(places: &Places, asked: &Asked, text: &str) -> Answer {
    let answer: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    if let Some(error) = answer.get("error") {
        return Answer::Refused("INTERNAL".to_owned(), error["message"].as_str().unwrap().to_owned());
    }
    let result = &answer["result"];
    if result["isError"] != true {
        return Answer::Data(result["structuredContent"].clone());
    }
    let error = &result["_meta"]["toolwire/error"];
    let code = error["code"].as_str().unwrap();
    if code == "CONFIRMATION_REQUIRED" {
        return confirmation(places, asked).await;
    }
    let words = result["content"][0]["text"].as_str().unwrap();
    let words = words.strip_prefix(&format!("FAILED {code}: ")).unwrap_or_else(|| panic!("{words}"));
    let is_retryable = error["retryable"].as_bool().unwrap();
    let advice = code.parse::<ErrorCode>().ok().and_then(|code| code.advice(is_retryable));
    let words = advice.map_or(words, |advice| words.strip_suffix(&*format!("\n{advice}")).unwrap_or(words));
    let message = words.split("; call again").next().unwrap().to_owned();
    let Some(known) = ToolErrorCode::from_str_name(&format!("TOOL_ERROR_CODE_{code}")) else {
        return Answer::Refused(code.to_owned(), message);
    };
    Answer::Error(of_json(known, message, error))
}

fn of_json(code: ToolErrorCode, message: String, error: &Value) -> ToolError {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let violation = |it: &Value| FieldViolation {
        pointer: text(&it["pointer"]),
        rule: text(&it["rule"]),
        description: text(&it["description"]),
    };
    let origin = format!("ERROR_ORIGIN_{}", text(&error["origin"]).to_uppercase());
    ToolError {
        code: code.into(),
        message,
        retryable: error["retryable"].as_bool().unwrap(),
        retry_after: error["retry_after_ms"].as_i64().map(|millis| prost_types::Duration {
            seconds: millis / 1_000,
            nanos: i32::try_from(millis % 1_000).unwrap() * 1_000_000,
        }),
        origin: ErrorOrigin::from_str_name(&origin).unwrap().into(),
        field_violations: error["field_violations"].as_array().into_iter().flatten().map(violation).collect(),
        attempts: u32::try_from(error["attempts"].as_u64().unwrap()).unwrap(),
    }
}

/// What the call waits for, which the answer tells in words.
async fn confirmation(places: &Places, asked: &Asked) -> Answer {
    let call = Some(Call::RequestId(asked.key.clone()));
    let request = GetCallRequest { call, ..GetCallRequest::default() };
    let end = Raw::connect(places.grpc).await.call("/toolwire.v1.ToolService/GetCall", &[], &request).await;
    Answer::Confirmation(end.decode::<GetCallResponse>().remove(0).confirmation_required.unwrap())
}
