//! Traces over OTLP from the real program, and the log line that goes with them.

use std::{collections::BTreeSet, net::SocketAddr, path::Path};

use opentelemetry_proto::tonic::{
    common::v1::any_value::Value as Any,
    trace::v1::{Span, span::SpanKind},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::Request;
use toolwire::contract::{
    json::to_struct,
    proto::v1::{CallToolRequest, call_tool_request, tool_service_client::ToolServiceClient},
};

use crate::support::{
    arguments,
    collector::{Collector, Wire, attribute, typed},
    program::Program,
};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID: &str = "b7ad6b7169203331";

/// The program, exporting to the collector.
async fn serve(collector: SocketAddr) -> Program {
    let endpoint = format!("http://{collector}");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
        // Only traces are exported while a test runs, however long it takes.
        ("OTEL_METRIC_EXPORT_INTERVAL", "3600000"),
    ];
    Program::start(Path::new("."), &[], &variables).await
}

async fn call(program: &Program, tool: &str, input: Value) {
    let mut request = Request::new(CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        ..CallToolRequest::default()
    });
    let traceparent = format!("00-{TRACE_ID}-{PARENT_ID}-01");
    request.metadata_mut().insert("traceparent", traceparent.parse().expect("a value"));
    ToolServiceClient::new(program.channel().await).call_tool(request).await.expect("status OK");
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex")).collect()
}

#[track_caller]
fn only<'a>(spans: &'a std::collections::HashMap<String, Vec<Span>>, name: &str) -> &'a Span {
    match spans.get(name).map(Vec::as_slice) {
        Some([span]) => span,
        other => panic!("{name}: {other:?} among {:?}", spans.keys()),
    }
}

#[tokio::test]
async fn a_composite_is_one_trace_from_the_caller_to_its_nested_tools() {
    let (collector, address) = Collector::start().await;
    let mut program = serve(address).await;
    call(&program, "get_symbol_performance", json!({"symbol": "AAPL"})).await;
    let spans = collector.trace(&unhex(TRACE_ID), 5).await;

    let server = only(&spans, "toolwire.v1.ToolService/CallTool");
    assert_eq!(server.kind(), SpanKind::Server);
    assert_eq!(hex(&server.parent_span_id), PARENT_ID);
    assert_eq!(attribute(server, "rpc.method").as_deref(), Some("toolwire.v1.ToolService/CallTool"));

    // Numbers are numbers and texts are texts, as the semantic conventions have them.
    assert_eq!(typed(server, "server.port"), Some(Any::IntValue(program.address.port().into())));
    assert!(matches!(typed(server, "network.peer.port"), Some(Any::IntValue(_))));
    assert_eq!(typed(server, "rpc.response.status_code"), Some(Any::StringValue("OK".to_owned())));
    let resource = collector.resource();
    assert!(resource.contains(&"service.name=toolwire".to_owned()), "{resource:?}");
    assert!(resource.contains(&format!("service.version={}", env!("CARGO_PKG_VERSION"))), "{resource:?}");
    assert!(resource.iter().any(|it| it.starts_with("service.instance.id=")), "{resource:?}");

    let composite = only(&spans, "execute_tool get_symbol_performance");
    assert_eq!(composite.parent_span_id, server.span_id);
    assert_eq!(attribute(composite, "gen_ai.operation.name").as_deref(), Some("execute_tool"));
    assert_eq!(attribute(composite, "gen_ai.tool.name").as_deref(), Some("get_symbol_performance"));
    let call_id = attribute(composite, "gen_ai.tool.call.id").expect("a call id");

    for name in ["get_positions", "get_quotes", "get_activity"] {
        let nested = only(&spans, &format!("execute_tool {name}"));
        assert_eq!(nested.parent_span_id, composite.span_id, "{name}");
        assert_eq!(attribute(nested, "toolwire.parent_call.id").as_ref(), Some(&call_id), "{name}");
    }
    // Arguments and results are recorded nowhere.
    let all = spans.values().flatten().flat_map(|span| &span.attributes);
    assert!(!all.into_iter().any(|attribute| format!("{attribute:?}").contains("AAPL")));

    let line = program.line("get_symbol_performance").await;
    assert_eq!(line["trace_id"], TRACE_ID);
    assert_eq!(line["call_id"], call_id.as_str());
    assert_eq!(line["user_id"], "demo");
    assert_eq!(line["success"], true);
    assert_eq!(line["cache_hit"], false);
    assert_eq!(line["args"], "[redacted]");
    assert!(line["duration_ms"].is_number() && line["timestamp"].is_string(), "{line}");
}

#[tokio::test]
async fn a_failure_is_marked_with_its_type() {
    let (collector, address) = Collector::start().await;
    let mut program = serve(address).await;
    call(&program, "debug_fail", json!({"code": "BLOCKED"})).await;
    let spans = collector.trace(&unhex(TRACE_ID), 2).await;
    let span = only(&spans, "execute_tool debug_fail");
    assert_eq!(attribute(span, "error.type").as_deref(), Some("BLOCKED"));
    assert_eq!(span.status.as_ref().expect("a status").code, 2);
    let line = program.line("debug_fail").await;
    assert_eq!((&line["success"], &line["error_code"]), (&json!(false), &json!("BLOCKED")));
}

#[tokio::test]
async fn a_span_of_mcp_names_the_method_and_the_session() {
    let (collector, address) = Collector::start().await;
    let endpoint = format!("http://{address}");
    let variables =
        [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "50")];
    let program = Program::start(Path::new("."), &["--http=127.0.0.1:0"], &variables).await;
    let at = program.http.expect("a listener");
    let send = async |session: &str, message: Value| {
        let body = message.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {at}\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\n{session}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut socket = TcpStream::connect(at).await.expect("connects");
        socket.write_all(head.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.expect("answered");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    };
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                      "params": {"name": "get_quotes", "arguments": {"symbol": "AAPL"}}});
    send("mcp-session-id: a-session\r\n", call).await;
    send("", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})).await;
    let spans = collector.named("POST /mcp", 2).await;
    let said: BTreeSet<_> = spans
        .iter()
        .map(|span| (attribute(span, "mcp.method.name"), attribute(span, "mcp.session.id")))
        .collect();
    let some = |text: &str| Some(text.to_owned());
    let expected = [(some("tools/call"), some("a-session")), (some("tools/list"), None)];
    assert_eq!(said, expected.into());
}

#[tokio::test]
async fn traces_go_over_http_too() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (collector, address) = Collector::at(any, Wire::Http, None).await;
    let endpoint = format!("http://{address}");
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{endpoint}/v1/traces")),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf".to_owned()),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=pod-7".to_owned()),
        ("OTEL_BSP_SCHEDULE_DELAY", "50".to_owned()),
    ];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let program = Program::start(Path::new("."), &[], &variables).await;
    call(&program, "get_quotes", json!({"symbol": "AAPL"})).await;
    let spans = collector.trace(&unhex(TRACE_ID), 2).await;
    only(&spans, "execute_tool get_quotes");
    assert!(
        collector.resource().contains(&"service.instance.id=pod-7".to_owned()),
        "{:?}",
        collector.resource()
    );
}

#[tokio::test]
async fn a_variable_without_effect_is_a_warning_at_start_and_attributes_are_decoded() {
    let (collector, address) = Collector::start().await;
    let endpoint = format!("http://{address}");
    let attributes = "team=a b,k8s.pod.name=x=y,novalue,=v,deployment=caf%C3%A9";
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_TRACES_SAMPLER", "Parentbased_TraceIdRatio"),
        ("OTEL_TRACES_SAMPLER_ARG", "10%"),
        ("OTEL_RESOURCE_ATTRIBUTES", attributes),
        ("OTEL_SERVICE_NAME", "café ☃"),
        ("OTEL_LOG_LEVEL", "debug"),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ];
    let program = Program::start(Path::new("."), &[], &variables).await;
    call(&program, "get_quotes", json!({"symbol": "AAPL"})).await;
    collector.trace(&unhex(TRACE_ID), 2).await;
    let log = program.stop().await;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let warnings = lines.iter().filter(|line| line["level"] == "WARN");
    let warnings: Vec<_> = warnings.filter_map(|line| line["message"].as_str()).collect();
    for expected in [
        "OTEL_EXPORTER_OTLP_TIMEOUT \"10s\" is not a whole number",
        "OTEL_TRACES_SAMPLER_ARG \"10%\" is not a number from 0 to 1",
        "OTEL_RESOURCE_ATTRIBUTES holds entries that are no attribute and are ignored: number 3, 4",
        "OTEL_LOG_LEVEL is not read and has no effect",
    ] {
        assert_eq!(warnings.iter().filter(|it| it.contains(expected)).count(), 1, "{expected}: {warnings:?}");
    }
    assert_eq!(warnings.iter().filter(|it| it.contains("OTEL_")).count(), 4, "{warnings:?}");
    let resource = collector.resource();
    for expected in ["service.name=café ☃", "team=a b", "k8s.pod.name=x=y", "deployment=café"] {
        assert!(resource.iter().any(|it| it == expected), "{expected}: {resource:?}");
    }
    assert!(!resource.iter().any(|it| it.starts_with('=')), "{resource:?}");
}

#[tokio::test]
async fn a_collector_that_is_down_is_told_once_and_once_when_it_is_back() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
    let absent = listener.local_addr().expect("bound");
    drop(listener);
    let mut program = serve(absent).await;
    call(&program, "get_quotes", json!({"symbol": "AAPL"})).await;
    let (warning, _) = program.wait_for_log("the OTLP collector does not take what is sent").await;
    assert_eq!((&warning["level"], &warning["signal"]), (&json!("WARN"), &json!("traces")));
    // Nothing is said of what follows, which is lost too.
    for _ in 0..3 {
        call(&program, "get_quotes", json!({"symbol": "AAPL"})).await;
    }
    let (collector, _) = Collector::at(absent, Wire::Grpc, None).await;
    let mut told = Vec::new();
    let back = loop {
        call(&program, "get_quotes", json!({"symbol": "AAPL"})).await;
        let line = program.next_line().await;
        if line["message"] == "the OTLP collector is back" {
            break line;
        }
        told.push(line);
    };
    assert_eq!(back["level"], "INFO");
    let noise = told.iter().find(|line| line["level"] != "INFO");
    assert!(noise.is_none(), "{noise:?}");
    assert!(!collector.trace(&unhex(TRACE_ID), 1).await.is_empty());
}
