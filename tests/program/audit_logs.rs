//! The audit over OTLP from the real program, beside that of its state.

use std::{net::SocketAddr, path::Path};

use opentelemetry_proto::tonic::logs::v1::LogRecord;
use serde_json::{Value, json};
use tonic::{Code, Request, Status};
use toolwire::{
    contract::{
        json::to_struct,
        proto::v1::{CallToolRequest, call_tool_request, tool_service_client::ToolServiceClient},
    },
    tool::context::RequestId,
};

use crate::support::{
    arguments,
    collector::{Collector, Wire, text_of},
    program::Program,
};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";

/// The program, whose audit goes to the collector.
async fn serve(directory: &Path, collector: SocketAddr, protocol: &str) -> Program {
    let path = if protocol == "grpc" { "" } else { "/v1/logs" };
    let endpoint = format!("http://{collector}{path}");
    let variables = [
        ("TOOLWIRE_AUDIT_OTLP", "true"),
        ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", protocol),
    ];
    Program::start(directory, &[], &variables).await
}

async fn write(program: &Program, request_id: &str) -> Result<(), Status> {
    call(program, "debug_write", json!({"value": "s3cret-argument"}), request_id).await
}

async fn call(program: &Program, tool: &str, input: Value, request_id: &str) -> Result<(), Status> {
    let input = arguments(input);
    let mut request = Request::new(CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&input))),
        request_id: request_id.to_owned(),
        ..CallToolRequest::default()
    });
    let traceparent = format!("00-{TRACE_ID}-b7ad6b7169203331-01");
    request.metadata_mut().insert("traceparent", traceparent.parse().expect("a value"));
    ToolServiceClient::new(program.channel().await).call_tool(request).await.map(drop)
}

fn field(record: &LogRecord, name: &str) -> Option<String> {
    text_of(&record.attributes, &format!("toolwire.audit.{name}"))
}

#[tokio::test]
async fn a_write_is_sent_as_it_begins_and_as_it_ends_and_a_read_is_not() {
    for (wire, protocol) in [(Wire::Grpc, "grpc"), (Wire::Http, "http/protobuf")] {
        let (collector, address) = Collector::at(SocketAddr::from(([127, 0, 0, 1], 0)), wire, None).await;
        let program = serve(Path::new("."), address, protocol).await;
        let request_id = RequestId::generate().to_string();
        call(&program, "get_quotes", json!({"symbol": "AAPL"}), "").await.expect("a read");
        write(&program, &request_id).await.expect("a write");
        // A repeat is no other write.
        write(&program, &request_id).await.expect("a repeat");
        let [begun] = &collector.logs("toolwire.audit.write.begun", 1).await[..] else { panic!("one") };
        let [ended] = &collector.logs("toolwire.audit.write", 1).await[..] else { panic!("one") };
        assert_eq!((field(begun, "code"), field(ended, "code")), (None, Some("OK".to_owned())));
        assert!(field(begun, "ended_at").is_none() && field(ended, "ended_at").is_some());
        for record in [begun, ended] {
            assert_eq!(field(record, "tool").as_deref(), Some("debug_write"));
            assert_eq!(field(record, "user_id").as_deref(), Some("demo"));
            assert_eq!(field(record, "verdict").as_deref(), Some("allowed"));
            assert_eq!(field(record, "request_id").as_ref(), Some(&request_id));
            assert_eq!(field(record, "call_id"), field(begun, "call_id"));
            assert!(!record.trace_id.is_empty() && record.time_unix_nano > 0);
            assert!(!format!("{record:?}").contains("s3cret-argument"), "{record:?}");
        }
    }
}

#[tokio::test]
async fn refusals_are_sent_with_their_reason_and_count() {
    let directory = tempfile::tempdir().expect("a directory");
    let users = "[[auth.users]]\nuser_id = 'demo'\ntoken = 'a-long-enough-t0ken'\n";
    std::fs::write(directory.path().join("toolwire.toml"), users).expect("written");
    let (collector, address) = Collector::start().await;
    let program = serve(directory.path(), address, "grpc").await;
    let refused = write(&program, "").await.expect_err("without a token");
    assert_eq!(refused.code(), Code::Unauthenticated);
    let [refusal] = &collector.logs("toolwire.audit.refusal", 1).await[..] else { panic!("one") };
    assert_eq!(field(refusal, "reason").as_deref(), Some("missing"));
    assert_eq!(field(refusal, "target").as_deref(), Some("toolwire.v1.ToolService/CallTool"));
    assert_eq!(field(refusal, "count").as_deref(), Some("1"));
}

#[tokio::test]
async fn what_was_recorded_before_the_end_of_the_program_is_sent() {
    let (collector, address) = Collector::start().await;
    let program = serve(Path::new("."), address, "grpc").await;
    write(&program, &RequestId::generate().to_string()).await.expect("a write");
    program.stop().await;
    // Sooner than records that wait for others are sent.
    assert_eq!(collector.logs("toolwire.audit.write", 1).await.len(), 1);
}

#[tokio::test]
async fn a_collector_that_is_away_costs_no_write_and_is_told_once() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
    let absent = listener.local_addr().expect("bound");
    drop(listener);
    let mut program = serve(Path::new("."), absent, "grpc").await;
    for _ in 0..3 {
        write(&program, &RequestId::generate().to_string()).await.expect("a write");
    }
    let (warning, _) = program.wait_for_log("the OTLP collector does not take what is sent").await;
    assert_eq!((&warning["level"], &warning["signal"]), (&json!("WARN"), &json!("audit")));
}
