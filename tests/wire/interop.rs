//! The cases of the gRPC interoperability description (`doc/interop-test-descriptions.md` of gRPC) that fit, each under
//! its own name and in terms of our methods, and what is left of each in the server: nothing.
//!
//! We have no method whose requests are a stream, so that `client_streaming`, `empty_stream` and `custom_metadata` have
//! no counterpart; where a case wants both directions it is said what stands in for it.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use h2::Reason;
use serde_json::json;
use tempfile::TempDir;
use tokio::{runtime::Handle, task::yield_now, time::timeout};
use tonic::{Code, client::Grpc};
use tonic_prost::ProstCodec;
use toolwire::contract::proto::v1::{
    CallToolRequest, CallToolResponse, CancelCallRequest, CancelCallResponse, GetLimitsRequest,
    GetLimitsResponse, InvokeToolRequest, InvokeToolResponse, ResultFormat, call_event::Event,
    call_tool_request, call_tool_response, cancel_call_request, invoke_tool_request, tool_result::Outcome,
};

use crate::support::{
    data_directory, patch_json,
    raw::{Raw, RawCall, RawEnd},
    server::{Server, config},
};

const CALL: &str = "/toolwire.v1.ToolService/CallTool";
const INVOKE: &str = "/toolwire.v1.ToolService/InvokeTool";
const LIMITS: &str = "/toolwire.v1.ToolService/GetLimits";
const CANCEL: &str = "/toolwire.v1.ToolService/CancelCall";

/// The payload of a large request and of a large response, in bytes.
const LARGE_REQUEST: usize = 271_828;
const LARGE_RESPONSE: usize = 314_159;

/// A server and one connection to it, and how many tasks the process has when nothing is under way.
struct Case {
    server: Server,
    client: Raw,
    idle: usize,
}

impl Case {
    async fn begin() -> Self {
        Self::with(Server::start()).await
    }

    async fn with(server: Server) -> Self {
        let client = Raw::connect(server.address).await;
        // What a first call and a first look into the state bring up stays.
        server.app.state.open().await.expect("opens");
        assert_eq!(client.call(LIMITS, &[], &GetLimitsRequest::default()).await.status(), 0);
        let mut idle = usize::MAX;
        for _ in 0..1_000 {
            yield_now().await;
            idle = idle.min(tasks());
        }
        Self { server, client, idle }
    }

    /// Waits until no call is in flight and no stream is open, and then makes sure that the connection still serves.
    async fn end(self) {
        let Self { server, client, idle } = self;
        let is_idle = async {
            while !server.app.tools.in_flight().is_empty() || tasks() > idle {
                yield_now().await;
            }
        };
        soon(is_idle).await;
        assert_eq!(client.call(LIMITS, &[], &GetLimitsRequest::default()).await.status(), 0);
    }

    /// Waits until a call is in flight.
    async fn under_way(&self) {
        let is_under_way = async {
            while self.server.app.tools.in_flight().is_empty() {
                yield_now().await;
            }
        };
        soon(is_under_way).await;
    }
}

/// Tasks of this test's runtime: one a connection at either end, one a stream, one a call that does not end at once.
fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Waits for what must come, but not for ever.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(Duration::from_mins(1), what).await.expect("it did not happen within a minute")
}

/// Arguments as JSON text, filled up with white space to a size.
fn padded(arguments: &serde_json::Value, size: usize) -> String {
    let mut text = arguments.to_string();
    text.extend(std::iter::repeat_n(' ', size.saturating_sub(text.len())));
    text
}

fn invoke(tool: &str, arguments_json: String) -> InvokeToolRequest {
    InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(arguments_json)),
        result_format: ResultFormat::Json.into(),
        ..InvokeToolRequest::default()
    }
}

fn call(tool: &str, arguments_json: String) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(arguments_json)),
        result_format: ResultFormat::Json.into(),
        ..CallToolRequest::default()
    }
}

fn sleep_for_a_minute() -> InvokeToolRequest {
    invoke("debug_sleep", json!({"duration": "60s"}).to_string())
}

/// The texts of the chunks of a call that went well.
#[track_caller]
fn chunks(end: &RawEnd) -> Vec<String> {
    assert_eq!(end.status(), 0, "{end:?}");
    let events = end.decode::<InvokeToolResponse>().into_iter().filter_map(|message| message.event?.event);
    let texts = events.filter_map(|event| match event {
        Event::Chunk(chunk) => {
            Some(serde_json::from_str::<serde_json::Value>(&chunk.data_json).expect("JSON"))
        }
        _ => None,
    });
    texts.map(|chunk| chunk["text"].as_str().expect("a text").to_owned()).collect()
}

/// The JSON text of a result.
#[track_caller]
fn data(response: CallToolResponse) -> String {
    let Some(call_tool_response::Outcome::Result(result)) = response.outcome else { panic!("a result") };
    match result.outcome {
        Some(Outcome::DataJson(text)) => text,
        other => panic!("no data: {other:?}"),
    }
}

#[tokio::test]
async fn empty_unary() {
    let case = Case::begin().await;
    // No method has both an empty request and an empty response: one has the one, another the other.
    let end = case.client.call(LIMITS, &[], &GetLimitsRequest::default()).await;
    assert_eq!((end.status(), end.messages.len()), (0, 1));
    let nothing = cancel_call_request::Call::CallId(uuid::Uuid::nil().to_string());
    let end = case.client.call(CANCEL, &[], &CancelCallRequest { call: Some(nothing) }).await;
    assert_eq!((end.status(), end.messages.as_slice()), (0, [Bytes::new()].as_slice()));
    assert_eq!(end.decode::<CancelCallResponse>(), [CancelCallResponse { cancelled: false }]);
    case.end().await;
}

#[tokio::test]
async fn large_unary() {
    let directory = data_with_large_results();
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let case = Case::with(Server::with(config)).await;
    let request = call("get_activity", padded(&json!({}), LARGE_REQUEST));
    let mut client = case.server.tools().await;
    let text = data(client.call_tool(request).await.expect("answers").into_inner());
    assert!(text.len() >= LARGE_RESPONSE, "only {} bytes", text.len());
    let activity: serde_json::Value = serde_json::from_str(&text).expect("whole");
    assert_eq!(activity["trades"].as_array().map(Vec::len), Some(TRADES));
    drop(client);
    case.end().await;
}

/// So many trades are more than a large response.
const TRADES: usize = 3_500;

fn data_with_large_results() -> TempDir {
    let directory = data_directory();
    let trade = json!({"timestamp": "2026-01-14T15:42:00Z", "symbol": "AAPL", "side": "BUY", "quantity": 1, "price": 1.5});
    let activity = json!({"as_of": "2026-01-15", "account": "Brokerage", "trades": vec![trade; TRADES]});
    patch_json(&directory.path().join("brokerage/user_master.json"), &json!({"activity": activity}));
    directory
}

#[tokio::test]
async fn ping_pong() {
    // Both directions at once has no method of ours. Its sizes, in turn on one connection, each sent once the one
    // before was answered.
    let case = Case::begin().await;
    for (request, response) in [(27_182, 31_415), (8, 9), (1_828, 2_653), (45_904, 58_979)] {
        let arguments = padded(&json!({"count": 1, "bytes": response}), request);
        let end = case.client.call(INVOKE, &[], &invoke("debug_stream", arguments)).await;
        let sizes: Vec<_> = chunks(&end).iter().map(String::len).collect();
        assert_eq!(sizes, [response]);
    }
    case.end().await;
}

#[tokio::test]
async fn cancel_after_begin() {
    let case = Case::begin().await;
    for path in [CALL, INVOKE] {
        let call = case.client.begin(path, &[]).await;
        let RawCall { response, mut request } = call;
        request.send_reset(Reason::CANCEL);
        let error = response.await.expect_err("cancelled");
        // `CANCELLED`, as gRPC reads it (gRPC over HTTP/2, "Errors").
        assert_eq!(error.reason(), Some(Reason::CANCEL), "{path}");
    }
    case.end().await;
}

#[tokio::test]
async fn cancel_after_first_response() {
    let case = Case::begin().await;
    for request in [sleep_for_a_minute(), invoke("debug_stream", r#"{"count": 100000}"#.to_owned())] {
        let call = case.client.start(INVOKE, &[], &request).await;
        let RawCall { response, mut request } = call;
        let mut body = response.await.expect("headers").into_body();
        let first = soon(body.data()).await.expect("a first response").expect("no error");
        assert!(!first.is_empty());
        request.send_reset(Reason::CANCEL);
        // What came before the cancellation may still be read; behind it there is nothing but the cancellation.
        let last = soon(async {
            loop {
                match body.data().await {
                    Some(Ok(_)) => {}
                    last => break last,
                }
            }
        });
        let error = last.await.expect("not the end of a response").expect_err("cancelled");
        assert_eq!(error.reason(), Some(Reason::CANCEL));
    }
    case.end().await;
}

#[tokio::test]
async fn timeout_on_sleeping_server() {
    let case = Case::begin().await;
    let at_once = [("grpc-timeout", "1m")];
    let large = padded(&json!({"duration": "60s"}), 27_182);
    for (path, end) in [
        (INVOKE, case.client.call(INVOKE, &at_once, &invoke("debug_sleep", large.clone())).await),
        (CALL, case.client.call(CALL, &at_once, &call("debug_sleep", large)).await),
    ] {
        assert_eq!(end.grpc_status().code(), Code::DeadlineExceeded, "{path}: {end:?}");
    }
    case.end().await;
}

#[tokio::test]
async fn a_server_that_sleeps_already_ends_by_the_time_out_too() {
    let case = Case::begin().await;
    let call = case.client.start(INVOKE, &[("grpc-timeout", "3S")], &sleep_for_a_minute()).await;
    case.under_way().await;
    assert_eq!(soon(call.end()).await.grpc_status().code(), Code::DeadlineExceeded);
    case.end().await;
}

#[tokio::test]
async fn status_code_and_message() {
    // Nobody's words are a status with us but ours: the name that is asked for is a part of them.
    let case = Case::begin().await;
    let message = "Unknown tool: test status message";
    let call = call("test status message", String::from("{}"));
    let unary = case.client.call(CALL, &[], &call).await.grpc_status();
    let invoke = invoke("test status message", String::from("{}"));
    let streamed = case.client.call(INVOKE, &[], &invoke).await.grpc_status();
    for status in [unary, streamed] {
        assert_eq!((status.code(), status.message()), (Code::NotFound, message));
    }
    case.end().await;
}

#[tokio::test]
async fn special_status_message() {
    const SPECIAL: &str = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";
    let case = Case::begin().await;
    let mut request = call("", String::from("{}"));
    request.target = Some(call_tool_request::Target::Intent(SPECIAL.to_owned()));
    let end = case.client.call(CALL, &[], &request).await;
    let status = end.grpc_status();
    assert_eq!((status.code(), status.message()), (Code::NotFound, &*format!("Unknown intent: {SPECIAL}")));
    // On the wire it is percent-encoded, nothing else (gRPC over HTTP/2, "Status-Message").
    let wire = end.headers["grpc-message"].as_bytes();
    assert!(wire.iter().all(|byte| (0x20..0x7f).contains(byte)), "{:?}", end.headers);
    case.end().await;
}

#[tokio::test]
async fn unimplemented_method() {
    assert_unimplemented("/toolwire.v1.ToolService/UnimplementedCall").await;
}

#[tokio::test]
async fn unimplemented_service() {
    assert_unimplemented("/toolwire.v1.UnimplementedService/UnimplementedCall").await;
}

async fn assert_unimplemented(path: &'static str) {
    let case = Case::begin().await;
    let raw = case.client.call(path, &[], &GetLimitsRequest::default()).await;
    assert_eq!(raw.grpc_status().code(), Code::Unimplemented);
    assert!(raw.is_trailers_only(), "{raw:?}");
    let mut client = Grpc::new(case.server.channel().await);
    client.ready().await.expect("ready");
    let codec = ProstCodec::<GetLimitsRequest, GetLimitsResponse>::default();
    let request = tonic::Request::new(GetLimitsRequest::default());
    let status =
        client.unary(request, path.parse().expect("a path"), codec).await.expect_err("nothing there");
    assert_eq!(status.code(), Code::Unimplemented);
    drop(client);
    case.end().await;
}

#[tokio::test]
async fn concurrent_large_unary() {
    const CALLS: usize = 1_000;
    // A tenth of the size of each call: without optimisation the whole would be a test of patience.
    const REQUEST: usize = LARGE_REQUEST / 10;
    const RESPONSE: usize = LARGE_RESPONSE / 10;
    let case = Case::begin().await;
    let arguments = padded(&json!({"count": 1, "bytes": RESPONSE}), REQUEST);
    let request = invoke("debug_stream", arguments);
    // All on one channel, which sends as many at a time as the server takes.
    let client = case.server.tools().await;
    let calls = (0..CALLS).map(|_| {
        let (mut client, request) = (client.clone(), request.clone());
        async move {
            let events = client.invoke_tool(request).await.expect("answers").into_inner();
            let events =
                events.map(|message| message.expect("no status").event.and_then(|event| event.event));
            let sizes = events.filter_map(async |event| match event {
                Some(Event::Chunk(chunk)) => Some(chunk.data_json.len()),
                _ => None,
            });
            sizes.collect::<Vec<_>>().await
        }
    });
    let answers: Vec<_> = stream::iter(calls).buffer_unordered(CALLS).collect().await;
    assert_eq!(answers.len(), CALLS);
    let is_whole = |sizes: &Vec<usize>| matches!(sizes.as_slice(), [size] if *size > RESPONSE);
    assert!(answers.iter().all(is_whole));
    drop(client);
    case.end().await;
}
