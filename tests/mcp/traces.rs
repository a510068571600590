//! The trace of a client is linked, and continued only where the client records it and presents credentials.

use std::path::Path;

use serde_json::json;

use super::client::{Era, Message};
use crate::{
    http::talk::Talk,
    support::{collector::Collector, program::Program},
};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const OTHER_ID: &str = "1af7651916cd43dd8448eb211c80319c";
const PARENT_ID: &str = "b7ad6b7169203331";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[tokio::test]
async fn the_trace_of_a_client_is_linked_and_its_parent_only_with_credentials() {
    let (collector, address) = Collector::start().await;
    let endpoint = format!("http://{address}");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "50")];
    let program = Program::start(Path::new("."), &["--http=127.0.0.1:0"], &variables).await;
    let talk = Talk::to(program.http.unwrap(), "riley");
    let named = |trace: &str| format!("00-{trace}-{PARENT_ID}-01");
    let meta = json!({"traceparent": named(OTHER_ID)});
    let mut message = Message::call(Era::New, "get_quotes", &json!({"symbol": "AAPL"}), &meta);
    message.headers.push(("traceparent", named(TRACE_ID)));
    let answer = message.send(&talk, "/mcp").await;
    let own = bytes(answer.headers["x-toolwire-trace-id"].to_str().unwrap());
    let spans = collector.trace(&own, 2).await;
    let [server] = spans["POST /mcp"].as_slice() else { panic!("{spans:?}") };
    assert!(server.parent_span_id.is_empty(), "{server:?}");
    let mut links: Vec<_> = server.links.iter().map(|link| link.trace_id.clone()).collect();
    links.sort_unstable();
    assert_eq!(links, [bytes(TRACE_ID), bytes(OTHER_ID)]);
    let [call] = spans["execute_tool get_quotes"].as_slice() else { panic!("{spans:?}") };
    assert_eq!(call.parent_span_id, server.span_id);

    message.headers.push(("authorization", "Bearer a-token".to_owned()));
    message.send(&talk, "/mcp").await;
    let spans = collector.trace(&bytes(TRACE_ID), 2).await;
    assert_eq!(spans["POST /mcp"][0].parent_span_id, bytes(PARENT_ID));
}
