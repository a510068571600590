//! Results as a model reads them: the same text by every RPC that has results, and by the command.

use std::process::Command;

use futures_util::StreamExt;
use toolwire::{
    contract::proto::v1::{
        GetCallRequest, InvokeToolRequest, ResultFormat, ToolResult, call_event::Event,
        call_tool_response::Outcome as Called, get_call_request, invoke_tool_request, tool_result::Outcome,
    },
    tokens,
};

use super::*;

const QUOTE: &str = r#"{"success":true,"data":{"as_of":"2026-01-15","quotes":[{"symbol":"AAPL","price":193.12,"change_pct":1.1}],"currency":"USD"},"source_ids":["tool:quotes:v1"],"as_of":"2026-01-15"}"#;

fn request(tool: &str, arguments: &Value, max_tokens: u32) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_string())),
        request_id: new_id(),
        result_format: ResultFormat::Model.into(),
        max_tokens,
        ..Default::default()
    }
}

fn invoke(tool: &str, arguments: &Value, max_tokens: u32) -> InvokeToolRequest {
    InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(arguments.to_string())),
        result_format: ResultFormat::Model.into(),
        max_tokens,
        ..Default::default()
    }
}

fn get_call(request_id: &str, max_tokens: u32) -> GetCallRequest {
    GetCallRequest {
        call: Some(get_call_request::Call::RequestId(request_id.to_owned())),
        result_format: ResultFormat::Model.into(),
        max_tokens,
        ..Default::default()
    }
}

async fn call(person: &Person, request: CallToolRequest) -> ToolResult {
    let answer = person.tools.clone().call_tool(person.request(request)).await.unwrap().into_inner();
    let Some(Called::Result(result)) = answer.outcome else { panic!("{answer:?}") };
    result
}

async fn events(person: &Person, request: InvokeToolRequest) -> Vec<Event> {
    let stream = person.tools.clone().invoke_tool(person.request(request)).await.unwrap().into_inner();
    let events: Vec<_> = stream.map(|response| response.unwrap().event.unwrap()).collect().await;
    let sequence: Vec<_> = events.iter().map(|event| event.sequence).collect();
    assert!(sequence.iter().copied().eq(0..events.len() as u64), "{sequence:?}");
    events.into_iter().map(|event| event.event.unwrap()).collect()
}

#[track_caller]
fn text(result: ToolResult) -> String {
    match result.outcome {
        Some(Outcome::DataText(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_is_the_same_text_whoever_is_asked_for_it() {
    let server = server();
    let person = person(&server, "demo").await;
    let arguments = json!({"symbol": "AAPL"});
    let once = request("get_quotes", &arguments, 0);
    let request_id = once.request_id.clone();
    assert_eq!(text(call(&person, once).await), QUOTE);

    let events = events(&person, invoke("get_quotes", &arguments, 0)).await;
    let [Event::Accepted(_), .., Event::Result(result)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(text(result.clone()), QUOTE);

    let looked = person.tools.clone().get_call(person.request(get_call(&request_id, 0))).await.unwrap();
    assert_eq!(text(looked.into_inner().result.unwrap()), QUOTE);

    let agent = person.create("Look at Apple").await;
    let result_format = ResultFormat::Model.into();
    let message = HandleToolCallRequest { result_format, ..agent.message("get_quotes", &arguments) };
    let answer = agent.send(message).await.unwrap();
    let Some(Detail::Result(result)) = answer.detail else { panic!("{answer:?}") };
    assert_eq!(text(result), QUOTE);
}

#[tokio::test]
async fn a_failure_is_a_text_too() {
    let server = server();
    let person = person(&server, "demo").await;
    let failed = text(call(&person, request("get_quotes", &json!({"symbl": "AAPL"}), 0)).await);
    let read: Value = serde_json::from_str(&failed).unwrap();
    assert!(
        failed.starts_with(r#"{"success":false,"error":{"code":"INVALID_ARGUMENT","message":"#),
        "{failed}"
    );
    assert_eq!(read["error"]["retryable"], false);
    assert!(read["error"]["message"].as_str().unwrap().contains("Did you mean symbol?"), "{failed}");
}

#[tokio::test]
async fn it_is_cut_to_the_budget_and_says_so() {
    let server = server();
    let person = person(&server, "demo").await;
    let whole = text(call(&person, request("browse_news", &json!({}), 100_000)).await);
    let cut = text(call(&person, request("browse_news", &json!({}), 256)).await);
    assert!(tokens::count(&whole) > 256 && !whole.contains("left out"), "{whole}");
    assert!(tokens::count(&cut) <= 256 && cut.contains("left out"), "{cut}");
    let head: Value = serde_json::from_str(cut.lines().next().unwrap()).unwrap();
    let note = head["note"].as_str().unwrap();
    assert!(note.contains("category") && note.contains("limit"), "{note}");
}

#[tokio::test]
async fn text_from_outside_is_between_lines_with_the_nonce_of_the_response() {
    let server = server();
    let person = person(&server, "demo").await;
    let request = request("get_stock_thesis", &json!({"query": "Tata Motors"}), 0);
    let request_id = request.request_id.clone();
    let first = call(&person, request).await;
    let framing = first.provenance.clone().unwrap().untrusted_framing.unwrap();
    let text_of_first = text(first);
    let lines: Vec<_> = text_of_first.lines().collect();
    assert_eq!(lines.len(), 4, "{text_of_first}");
    let head: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!((&head["success"], &head["_meta"]), (&json!(true), &json!(framing.meta)));
    assert_eq!(lines[1], format!("----- USER_GENERATED_CONTENT_BELOW {}", framing.nonce));
    assert_eq!(lines[3], format!("----- END OF USER_GENERATED_CONTENT_BELOW {}", framing.nonce));
    let data: Value = serde_json::from_str(lines[2]).unwrap();
    assert_eq!(data["found"], true);
    // A response of its own has a nonce of its own.
    let again = person.tools.clone().get_call(person.request(get_call(&request_id, 0))).await.unwrap();
    let again = again.into_inner().result.unwrap();
    assert_ne!(again.provenance.clone().unwrap().untrusted_framing.unwrap().nonce, framing.nonce);
    assert_eq!(text(again).lines().nth(2), Some(lines[2]));
}

#[tokio::test]
async fn parts_on_the_way_come_as_json() {
    let server = server();
    let person = person(&server, "demo").await;
    let arguments = json!({"count": 2, "interval": "0s"});
    let events = events(&person, invoke("debug_stream", &arguments, 0)).await;
    let chunks = events.iter().filter_map(|event| match event {
        Event::Chunk(chunk) => Some(chunk),
        _ => None,
    });
    assert!(chunks.clone().all(|chunk| chunk.data.is_none() && chunk.data_json.starts_with('{')));
    assert_eq!(chunks.count(), 2);
}

#[tokio::test]
async fn a_budget_that_holds_nothing_is_refused() {
    let server = server();
    let person = person(&server, "demo").await;
    let (arguments, few) = (json!({"symbol": "AAPL"}), 255);
    let mut tools = person.tools.clone();
    let refused = [
        tools.call_tool(person.request(request("get_quotes", &arguments, few))).await.unwrap_err(),
        tools.invoke_tool(person.request(invoke("get_quotes", &arguments, few))).await.unwrap_err(),
        tools.get_call(person.request(get_call(&new_id(), few))).await.unwrap_err(),
        tools.call_tool(person.request(request("get_quotes", &arguments, 1_000_001))).await.unwrap_err(),
    ];
    for status in refused {
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("max_tokens must be at "), "{status:?}");
    }
    let agent = person.create("Look at Apple").await;
    let result_format = ResultFormat::Model.into();
    let message =
        HandleToolCallRequest { result_format, max_tokens: few, ..agent.message("get_quotes", &arguments) };
    assert_eq!(agent.send(message).await.unwrap_err().code(), Code::InvalidArgument);
    // Other forms have no budget.
    let other = CallToolRequest {
        result_format: ResultFormat::Json.into(),
        ..request("get_quotes", &arguments, few)
    };
    assert!(matches!(call(&person, other).await.outcome, Some(Outcome::DataJson(_))));
}

#[test]
fn the_command_prints_it() {
    let state = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.args(["call", "get_quotes"]).args(arguments).arg("--state").arg(state.path());
        let output = command.env_remove("TOOLWIRE_SERVER").output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run(&["AAPL", "--format", "model"]), (0, format!("{QUOTE}\n")));
    let (code, printed) = run(&["symbl=AAPL", "--format", "model", "--max-tokens", "300"]);
    assert_eq!(code, 1);
    assert!(printed.starts_with(r#"{"success":false"#), "{printed}");
    assert_eq!(run(&["AAPL", "--max-tokens", "300"]).0, 2);
}
