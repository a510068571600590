//! The gRPC face on the wire: what `docs/` and `proto/` say of it.

mod support;

use std::{
    fs,
    io::{Read, Write},
    path::Path,
};

use bytes::{BufMut, Bytes, BytesMut};
use flate2::{Compress, Compression, FlushCompress, read::GzDecoder, write::GzEncoder};
use futures_util::StreamExt;
use prost::Message;
use serde_json::{Value, json};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;
use toolwire::{
    contract::{
        json::{from_struct, to_struct},
        proto::v1::{
            CallToolRequest, CallToolResponse, CancelCallRequest, Chunk, DescribeForPlannerRequest,
            GetLimitsRequest, GetToolRequest, InvokeToolRequest, ListToolsRequest, ResultFormat,
            ToolCategory, ToolContext, ToolErrorCode, ToolResult, ToolView, WatchEventType,
            WatchToolsRequest, call_event::Event, call_tool_request, call_tool_response, cancel_call_request,
            invoke_tool_request, tool_result::Outcome,
        },
    },
    domains::brokerage::proto::v1::GetPositionsRequest,
};

use support::{
    arguments, patch_json,
    program::Program,
    raw::{Raw, frame},
    save,
    server::{Server, config},
};

fn invoke(tool: &str, input: Value) -> InvokeToolRequest {
    InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        ..InvokeToolRequest::default()
    }
}

fn call(tool: &str, input: Value) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        ..CallToolRequest::default()
    }
}

async fn called(
    server: &Server,
    request: impl tonic::IntoRequest<CallToolRequest>,
) -> Result<ToolResult, Status> {
    let response = server.tools().await.call_tool(request).await?.into_inner();
    match response.outcome {
        Some(call_tool_response::Outcome::Result(result)) => Ok(result),
        other => panic!("no result: {other:?}"),
    }
}

#[track_caller]
fn data(result: ToolResult) -> Value {
    match result.outcome {
        Some(Outcome::Data(structure)) => Value::Object(from_struct(structure)),
        Some(Outcome::DataJson(text)) => serde_json::from_str(&text).expect("JSON"),
        other => panic!("no data: {other:?}"),
    }
}

/// Every status carries exactly one `ErrorInfo` of our domain.
#[track_caller]
fn assert_status(status: &Status, code: Code, reason: &str) {
    assert_eq!(status.code(), code, "{status:?}");
    let info = status.get_details_error_info().expect("an ErrorInfo");
    assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, "toolwire"));
    assert!(status.message().len() <= 1024);
}

#[tokio::test]
async fn a_tool_is_invoked_with_a_stream_of_events() {
    let server = Server::start();
    let request = invoke("get_quotes", json!({"symbol": "AAPL"}));
    let mut stream = server.tools().await.invoke_tool(request).await.expect("accepted").into_inner();
    let mut events = Vec::new();
    while let Some(message) = stream.message().await.expect("no status") {
        events.push(message.event.expect("an event"));
    }
    let sequences: Vec<_> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, [0, 1]);
    assert!(matches!(&events[0].event, Some(Event::Accepted(accepted)) if accepted.tool == "get_quotes"));
    let Some(Event::Result(result)) = events.pop().and_then(|event| event.event) else { panic!("a result") };
    assert_eq!(result.provenance.as_ref().expect("provenance").source_ids, ["tool:quotes:v1"]);
    assert_eq!(data(result)["quotes"], json!([{"symbol": "AAPL", "price": 193.12, "change_pct": 1.1}]));
}

#[tokio::test]
async fn both_forms_of_arguments_and_of_results_say_the_same() {
    let server = Server::start();
    let structure =
        called(&server, call("get_positions", json!({"symbol": "AAPL"}))).await.expect("a result");
    let mut request = call("get_positions", json!({}));
    request.input = Some(call_tool_request::Input::ArgumentsJson(r#"{"symbol": "AAPL"}"#.to_owned()));
    request.result_format = ResultFormat::Json.into();
    let text = called(&server, request).await.expect("a result");
    assert_eq!(data(structure), data(text));
}

#[tokio::test]
async fn a_typed_rpc_gives_the_same_numbers() {
    let server = Server::start();
    let generic =
        data(called(&server, call("get_positions", json!({"symbol": "AAPL"}))).await.expect("a result"));
    let request = GetPositionsRequest { symbol: Some("AAPL".to_owned()), account: None };
    let typed = server.brokerage().await.get_positions(request).await.expect("a response").into_inner();
    let typed_data = typed.data.expect("data");
    assert_eq!(typed.provenance.expect("provenance").source_ids, ["tool:positions:v1"]);
    let quantities: Vec<_> = typed_data.positions.iter().map(|position| position.quantity).collect();
    let generic_quantities: Vec<_> = generic["positions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|position| position["quantity"].as_f64().expect("a number"))
        .collect();
    assert_eq!(quantities, generic_quantities);
    assert_eq!(json!(typed_data.position.expect("held").cost_basis), generic["position"]["cost_basis"]);
}

#[tokio::test]
async fn a_tool_error_on_a_typed_rpc_is_a_status() {
    let server = Server::start();
    let request = GetPositionsRequest { symbol: Some("APPL".to_owned()), account: None };
    let status = server.brokerage().await.get_positions(request).await.unwrap_err();
    assert_status(&status, Code::NotFound, "NOT_FOUND");
    assert!(status.message().contains("AAPL"), "{status:?}");
    let status = server.brokerage().await.get_positions(GetPositionsRequest::default()).await.unwrap_err();
    assert_status(&status, Code::InvalidArgument, "INVALID_ARGUMENT");
    let details = status.get_details_bad_request().expect("a BadRequest");
    assert_eq!(details.field_violations[0].field, "/symbol");
}

#[tokio::test]
async fn a_malformed_request_is_refused_without_a_stream() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.v1.ToolService/InvokeTool";
    let with = |change: fn(&mut InvokeToolRequest)| {
        let mut request = invoke("get_quotes", json!({"symbol": "AAPL"}));
        change(&mut request);
        request
    };
    let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
    let mut too_deep = with(|_| {});
    too_deep.input = Some(invoke_tool_request::Input::ArgumentsJson(format!("{{\"symbol\": {deep}}}")));
    let requests = [
        ("no target", with(|request| request.target = None)),
        ("empty target", with(|r| r.target = Some(invoke_tool_request::Target::Tool(String::new())))),
        (
            "not JSON",
            with(|r| r.input = Some(invoke_tool_request::Input::ArgumentsJson("{symbol".to_owned()))),
        ),
        (
            "not an object",
            with(|r| r.input = Some(invoke_tool_request::Input::ArgumentsJson("[]".to_owned()))),
        ),
        ("too deep", too_deep),
        ("bad request_id", with(|r| r.request_id = "42".to_owned())),
        (
            "claimed identity",
            with(|r| r.context = Some(ToolContext { user_id: "riley".into(), ..ToolContext::default() })),
        ),
    ];
    for (what, request) in requests {
        let end = raw.call(path, &[], &request).await;
        assert!(end.is_trailers_only(), "{what}");
        let status = end.grpc_status();
        assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
        assert!(status.get_details_bad_request().is_some(), "{what}");
    }
    let end = raw.call(path, &[("grpc-timeout", "soon")], &with(|_| {})).await;
    assert_eq!(end.status(), Code::InvalidArgument as i32);
    // The connection is as good as before.
    assert_eq!(raw.call(path, &[], &with(|_| {})).await.status(), 0);
}

#[tokio::test]
async fn what_is_too_large_or_no_message_ends_its_stream_only() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.v1.ToolService/CallTool";
    let mut large = call("get_quotes", json!({}));
    large.input = Some(call_tool_request::Input::ArgumentsJson("x".repeat(2 * 1024 * 1024)));
    assert_eq!(raw.call(path, &[], &large).await.grpc_status().code(), Code::ResourceExhausted);
    let garbage = bytes::Bytes::from_static(&[0, 0, 0, 0, 3, 0xff, 0xff, 0xff]);
    let end = raw.start_bytes(path, &[], garbage).await.end().await;
    assert_eq!(end.grpc_status().code(), Code::Internal);
    // Deeper than protobuf itself allows.
    let mut value = prost_types::Value::default();
    for _ in 0..1_000 {
        let list = prost_types::ListValue { values: vec![value] };
        value = prost_types::Value { kind: Some(prost_types::value::Kind::ListValue(list)) };
    }
    let mut deep = call("get_quotes", json!({}));
    let fields = [("symbol".to_owned(), value)].into_iter().collect();
    deep.input = Some(call_tool_request::Input::Arguments(prost_types::Struct { fields }));
    assert_eq!(raw.call(path, &[], &deep).await.grpc_status().code(), Code::Internal);
    assert_eq!(raw.call(path, &[], &call("get_quotes", json!({"symbol": "AAPL"}))).await.status(), 0);
}

/// The message of a frame, as a compressed one.
fn compressed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(1);
    bytes.put_u32(u32::try_from(message.len()).expect("small"));
    bytes.put_slice(message);
    bytes.freeze()
}

/// Just under 1 MiB of gzip that unpacks to 1 GiB of zeros: one compressed piece of 8 MiB, 128 times.
fn bomb() -> Vec<u8> {
    let zeros = vec![0; 8 << 20];
    let mut piece = Vec::with_capacity(64 << 10);
    Compress::new(Compression::best(), false)
        .compress_vec(&zeros, &mut piece, FlushCompress::Full)
        .expect("compresses");
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let bomb: Vec<u8> = header.into_iter().chain(piece.repeat(128)).collect();
    assert!((900 << 10..1 << 20).contains(&bomb.len()), "{} bytes", bomb.len());
    bomb
}

#[tokio::test]
async fn gzip_is_taken_and_given_to_those_who_ask() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.v1.ToolService/CallTool";
    let message = frame(&call("get_quotes", json!({"symbol": "AAPL"}))).slice(5..);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&message).expect("compresses");
    let body = compressed(&encoder.finish().expect("compresses"));
    let plain = raw.start_bytes(path, &[("grpc-encoding", "gzip")], body.clone()).await.end().await;
    assert_eq!(plain.status(), 0);
    assert!(!plain.headers.contains_key("grpc-encoding"), "{:?}", plain.headers);
    assert!(!plain.decode::<CallToolResponse>().is_empty());

    let asked = [("grpc-encoding", "gzip"), ("grpc-accept-encoding", "identity,deflate,gzip")];
    let packed = raw.start_bytes(path, &asked, body).await.end().await;
    assert_eq!(packed.headers["grpc-encoding"], "gzip");
    let mut unpacked = Vec::new();
    GzDecoder::new(&*packed.messages[0]).read_to_end(&mut unpacked).expect("gzip");
    assert!(CallToolResponse::decode(&*unpacked).is_ok_and(|response| response.outcome.is_some()));
}

#[tokio::test]
async fn a_gzip_bomb_is_refused_in_bounded_memory() {
    const BOUND: u64 = 64 << 10;
    let program = Program::start(Path::new("."), &[], &[]).await;
    let raw = Raw::connect(program.address).await;
    let before = program.peak_memory_kib();
    for path in ["/toolwire.v1.ToolService/CallTool", "/toolwire.brokerage.v1.BrokerageService/GetQuotes"] {
        let end = raw.start_bytes(path, &[("grpc-encoding", "gzip")], compressed(&bomb())).await.end().await;
        assert_status(&end.grpc_status(), Code::ResourceExhausted, "MESSAGE_TOO_LARGE");
    }
    let grown = program.peak_memory_kib() - before;
    assert!(grown < BOUND, "{grown} KiB");
    let path = "/toolwire.v1.ToolService/CallTool";
    assert_eq!(raw.call(path, &[], &call("get_quotes", json!({"symbol": "AAPL"}))).await.status(), 0);
}

#[tokio::test]
async fn an_unknown_tool_or_intent_is_not_found_with_near_names() {
    let server = Server::start();
    let status = called(&server, call("get_quote", json!({}))).await.unwrap_err();
    assert_status(&status, Code::NotFound, "UNKNOWN_TOOL");
    assert!(status.message().contains("get_quotes"), "{status:?}");
    assert_eq!(status.get_details_resource_info().expect("a ResourceInfo").resource_name, "get_quote");
    let mut request = call("x", json!({}));
    request.target = Some(call_tool_request::Target::Intent("nonsense".to_owned()));
    let status = called(&server, request).await.unwrap_err();
    assert_status(&status, Code::NotFound, "UNKNOWN_INTENT");
    assert!(status.message().starts_with("Unknown intent: nonsense"), "{status:?}");
}

#[tokio::test]
async fn arguments_that_break_the_schema_are_a_result_with_every_violation() {
    let server = Server::start();
    let result =
        called(&server, call("get_performance", json!({"timefram": "YTD"}))).await.expect("status OK");
    let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
    assert_eq!(error.code(), ToolErrorCode::InvalidArgument);
    let rules: Vec<_> = error.field_violations.iter().map(|violation| violation.rule.as_str()).collect();
    assert_eq!(rules.len(), 2, "{rules:?}");
    assert!(rules.contains(&"additionalProperties") && rules.contains(&"required"), "{rules:?}");
}

#[tokio::test]
async fn a_schema_comes_in_the_form_that_the_view_names() {
    let server = Server::start();
    let mut client = server.tools().await;
    let mut get = async |view: ToolView| {
        let request = GetToolRequest { name: "get_quotes".to_owned(), view: view.into() };
        client.get_tool(request).await.expect("answers").into_inner().tool.expect("a tool")
    };
    let (basic, full, json) =
        (get(ToolView::Basic).await, get(ToolView::Full).await, get(ToolView::FullJson).await);
    assert!(basic.input_schema.is_none() && basic.input_schema_json.is_empty());
    assert!(full.input_schema_json.is_empty() && json.input_schema.is_none());
    let text: Value = serde_json::from_str(&json.input_schema_json).expect("JSON");
    assert_eq!(Value::Object(from_struct(full.input_schema.clone().expect("a structure"))), text);
    assert_eq!(get(ToolView::Unspecified).await, full);
    assert!(basic.digest == full.digest && full.digest == json.digest);
}

#[tokio::test]
async fn chunks_have_the_form_of_the_result() {
    let server = Server::start();
    let mut client = server.tools().await;
    for format in [ResultFormat::Unspecified, ResultFormat::Struct, ResultFormat::Json] {
        let request = InvokeToolRequest {
            result_format: format.into(),
            ..invoke("debug_stream", json!({"count": 2, "interval": "0.01s"}))
        };
        let stream = client.invoke_tool(request).await.expect("accepted").into_inner();
        let events: Vec<_> =
            stream.map(|message| message.expect("no status").event.and_then(|it| it.event)).collect().await;
        let chunks = events.into_iter().flatten().filter_map(|event| match event {
            Event::Chunk(chunk) => Some(chunk),
            _ => None,
        });
        let indexes: Vec<_> = chunks
            .map(|Chunk { data, data_json }| {
                let data = data.map(|data| Value::Object(from_struct(data)));
                let text = serde_json::from_str::<Value>(&data_json).ok();
                assert_eq!(text.is_some(), format == ResultFormat::Json);
                assert!(data.is_none() || text.is_none());
                data.or(text).expect("one of them")["index"].clone()
            })
            .collect();
        assert_eq!(indexes, [0, 1]);
    }
}

#[tokio::test]
async fn a_missing_parameter_of_an_empty_struct_comes_with_a_hint_about_proto_loaders() {
    let server = Server::start();
    let missing = async |input: Option<call_tool_request::Input>| {
        let request = CallToolRequest { input, ..call("get_performance", json!({})) };
        let result = called(&server, request).await.expect("status OK");
        let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
        let missing = error.field_violations.into_iter().find(|violation| violation.rule == "required");
        missing.expect("timeframe is required").description
    };
    let structure = |value| Some(call_tool_request::Input::Arguments(to_struct(&arguments(value))));
    let description = missing(structure(json!({}))).await;
    assert!(description.starts_with("`timeframe` is required: "), "{description}");
    assert!(description.contains("proto loader"), "{description}");
    assert!(description.contains("arguments_json"), "{description}");

    let json = Some(call_tool_request::Input::ArgumentsJson("{}".to_owned()));
    for input in [None, json, structure(json!({"account": "x"}))] {
        let description = missing(input.clone()).await;
        assert!(!description.contains("proto loader"), "{input:?}: {description}");
    }
}

#[tokio::test]
async fn a_panic_leaves_the_connection_and_the_other_streams_alive() {
    let server = Server::start();
    let mut client = server.tools().await;
    let other = invoke("debug_stream", json!({"count": 2, "interval": "0.2s"}));
    let mut other = client.invoke_tool(other).await.expect("accepted").into_inner();
    for when in ["start", "stream"] {
        let mut stream = client
            .invoke_tool(invoke("debug_panic", json!({"when": when})))
            .await
            .expect("accepted")
            .into_inner();
        let mut last = None;
        while let Some(message) = stream.message().await.expect("no status") {
            last = message.event.and_then(|event| event.event);
        }
        let Some(Event::Result(result)) = last else { panic!("a result") };
        assert!(
            matches!(result.outcome, Some(Outcome::Error(error)) if error.code() == ToolErrorCode::Unknown)
        );
    }
    let mut last = None;
    while let Some(message) = other.message().await.expect("no status") {
        last = message.event.and_then(|event| event.event);
    }
    assert!(matches!(last, Some(Event::Result(result)) if matches!(result.outcome, Some(Outcome::Data(_)))));
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_user_and_says_so() {
    let server = Server::start();
    let mut client = server.tools().await;
    let request = invoke("debug_sleep", json!({"duration": "60s"}));
    let mut stream = client.invoke_tool(request).await.expect("accepted").into_inner();
    let accepted = stream.message().await.expect("no status").expect("an event").event.expect("an event");
    let cancel = |user: &'static str| {
        let call = Some(cancel_call_request::Call::CallId(accepted.call_id.clone()));
        let mut request = Request::new(CancelCallRequest { call });
        request.metadata_mut().insert("x-toolwire-user", user.parse().expect("a value"));
        request
    };
    assert!(!client.cancel_call(cancel("riley")).await.expect("answers").into_inner().cancelled);
    assert!(client.cancel_call(cancel("demo")).await.expect("answers").into_inner().cancelled);
    let last = stream.message().await.expect("no status").expect("an event").event.expect("an event");
    let Some(Event::Result(result)) = last.event else { panic!("a result") };
    let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
    assert_eq!((error.code(), error.message.as_str()), (ToolErrorCode::Cancelled, "Request was cancelled"));
    assert!(stream.message().await.expect("no status").is_none());
}

#[tokio::test]
async fn a_listing_is_sorted_filtered_and_complete() {
    let server = Server::start();
    let mut client = server.tools().await;
    let mut list = async |request: ListToolsRequest| -> Vec<_> {
        let stream = client.list_tools(request).await.expect("answers").into_inner();
        stream.map(|message| message.expect("no status").tool.expect("a tool")).collect().await
    };
    let all = list(ListToolsRequest::default()).await;
    let names: Vec<_> = all.iter().map(|tool| tool.name.clone()).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(names.len(), support::executors().len());
    assert!(all.iter().all(|tool| tool.digest.len() == 64 && tool.input_schema.is_some()));
    let writes = list(ListToolsRequest { category: ToolCategory::Write.into(), ..Default::default() }).await;
    assert_eq!(
        writes.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        ["add_to_watchlist", "debug_write"]
    );
    let found = list(ListToolsRequest {
        text: "ROTH".to_owned(),
        view: ToolView::Basic.into(),
        ..Default::default()
    });
    let found = found.await;
    assert_eq!(found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["get_facts"]);
    assert!(found[0].input_schema.is_none() && !found[0].description.is_empty());
    let tagged = list(ListToolsRequest { tags: vec!["diagnostics".to_owned()], ..Default::default() }).await;
    assert_eq!(tagged.len(), 6);
}

#[tokio::test]
async fn one_definition_a_planner_text_and_limits_can_be_asked_for() {
    let server = Server::start();
    let mut client = server.tools().await;
    let request = GetToolRequest { name: "get_quotes".to_owned(), ..Default::default() };
    let tool = client.get_tool(request).await.expect("known").into_inner().tool.expect("a tool");
    assert_eq!(tool.typed_method, "toolwire.brokerage.v1.BrokerageService/GetQuotes");
    let status = client
        .get_tool(GetToolRequest { name: "get_quote".to_owned(), ..Default::default() })
        .await
        .unwrap_err();
    assert_status(&status, Code::NotFound, "UNKNOWN_TOOL");

    let text = client.describe_for_planner(DescribeForPlannerRequest::default()).await.expect("answers");
    let tools = text.into_inner().tools;
    assert!(tools.lines().all(|line| line.starts_with("- ")) && tools.contains("- get_quotes: "), "{tools}");
    let none = DescribeForPlannerRequest { tags: vec!["nothing".to_owned()] };
    let none = client.describe_for_planner(none).await.expect("answers").into_inner();
    assert_eq!(none.tools, "No tools are currently available.");

    let limits = client.get_limits(GetLimitsRequest::default()).await.expect("answers").into_inner().limits;
    let sources: Vec<_> = limits.iter().map(|limit| limit.source.as_str()).collect();
    assert_eq!(sources, ["brokerage", "news", "nse", "reddit", "screener", "valuepickr", "yahoo"]);
    assert!(limits.iter().all(|limit| limit.can_make_request && limit.cool_down_until.is_none()));
    assert!(limits[0].policy.is_none(), "files refuse nobody");
    assert!(limits[1..].iter().all(|limit| limit.policy.is_some()));
    let status = client.get_limits(GetLimitsRequest { source: "nowhere".to_owned() }).await.unwrap_err();
    assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
}

#[tokio::test]
async fn the_data_of_one_user_is_not_reachable_by_another() {
    let server = Server::start();
    let as_user = |user: &str| {
        let mut request = Request::new(call("get_account_summary", json!({})));
        request.metadata_mut().insert("x-toolwire-user", user.parse().expect("a value"));
        request
    };
    let demo = data(called(&server, as_user("demo")).await.expect("a result"));
    let riley = data(called(&server, as_user("riley")).await.expect("a result"));
    assert_eq!(demo["accounts"][0]["total_value"], 128_450.22);
    assert_ne!(demo["accounts"], riley["accounts"]);
    let nobody = called(&server, as_user("nobody")).await.expect("a result");
    assert!(matches!(nobody.outcome, Some(Outcome::Error(error)) if error.code() == ToolErrorCode::NotFound));
}

#[tokio::test]
async fn edits_are_seen_by_the_next_call_and_by_watchers_and_broken_files_change_nothing_else() {
    let directory = support::data_directory();
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let server = Server::with(config);
    let mut watch =
        server.tools().await.watch_tools(WatchToolsRequest::default()).await.expect("answers").into_inner();
    let mut next = async |wanted: WatchEventType| loop {
        let event = watch.message().await.expect("no status").expect("no end");
        if event.r#type() == wanted {
            return event;
        }
    };
    next(WatchEventType::Synced).await;
    let price = async || {
        let result = called(&server, call("get_quotes", json!({"symbol": "AAPL"}))).await.expect("a result");
        data(result)["quotes"][0]["price"].clone()
    };
    assert_eq!(price().await, 193.12);

    let master = directory.path().join("brokerage/user_master.json");
    let good = fs::read_to_string(&master).expect("readable");
    save(&master, &good.replace("193.12", "200.5"));
    // The very next call, without waiting for any event.
    assert_eq!(price().await, 200.5);
    assert_eq!(next(WatchEventType::DataChanged).await.data_digest.len(), 64);

    let manifest = directory.path().join("tools/get_quotes.json");
    patch_json(&manifest, &json!({"title": "Prices"}));
    assert_eq!(next(WatchEventType::Changed).await.tool.expect("a tool").title, "Prices");

    save(&master, "{");
    let problems = next(WatchEventType::Problem).await.problems;
    assert!(problems[0].file.ends_with("user_master.json"), "{problems:?}");
    assert_eq!(price().await, 200.5);
    patch_json(&manifest, &json!({"titel": "x"}));
    let problems = next(WatchEventType::Problem).await.problems;
    assert!(problems.iter().any(|problem| problem.pointer == "/titel"), "{problems:?}");
    assert_eq!(price().await, 200.5);

    // Mended: said as well. A tool on which others depend cannot go; another can.
    save(&master, &good);
    fs::remove_file(directory.path().join("tools/get_facts.json")).expect("removed");
    remove_key(&manifest, "titel");
    assert_eq!(next(WatchEventType::Removed).await.tool.expect("a tool").name, "get_facts");
    assert_eq!(price().await, 193.12);
}

fn remove_key(path: &std::path::Path, key: &str) {
    let mut value: Value = serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON");
    value.as_object_mut().expect("an object").remove(key);
    save(path, &value.to_string());
}

#[tokio::test]
async fn a_result_beyond_what_clients_accept_is_an_error_that_says_so() {
    let directory = support::data_directory();
    let master = directory.path().join("brokerage/user_master.json");
    let trade = json!({"timestamp": "2026-01-14T15:42:00Z", "symbol": "AAPL", "side": "BUY", "quantity": 1, "price": 1.5});
    let trades = vec![trade; 40_000];
    patch_json(
        &master,
        &json!({"activity": {"as_of": "2026-01-15", "account": "Brokerage", "trades": trades}}),
    );
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let server = Server::with(config);
    for format in [ResultFormat::Struct, ResultFormat::Json] {
        let mut request = call("get_activity", json!({}));
        request.result_format = format.into();
        let result = called(&server, request).await.expect("status OK");
        let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
        assert_eq!(error.code(), ToolErrorCode::ResultTooLarge);
        assert!(error.message.contains("Narrow the arguments"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_typed_method_whose_tool_only_records_is_an_internal_error_of_that_call() {
    let directory = support::data_directory();
    let manifest = directory.path().join("tools/get_positions.json");
    patch_json(&manifest, &json!({"type": "non_function_tool"}));
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let server = Server::with(config);
    let request = GetPositionsRequest { symbol: Some("AAPL".to_owned()), account: None };
    let status = server.brokerage().await.get_positions(request).await.expect_err("refused");
    assert_status(&status, Code::Internal, "INTERNAL");
    assert!(status.message().contains("call_id"), "{status:?}");
}
