//! The spans as an exporter receives them.

use std::{
    future::{pending, ready},
    sync::Mutex,
};

use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use opentelemetry::{
    Value,
    trace::{SpanKind, Status, TracerProvider},
};
use opentelemetry_sdk::{
    error::OTelSdkResult,
    trace::{SdkTracerProvider, SpanData, SpanExporter},
};
use tower::{Layer as _, Service as _, service_fn};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

use super::*;
use crate::{peer::Peer, rules::Rule};
use toolwire_base::middleware::Layer;
use toolwire_telemetry::attribute;

const TRACE_PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const KNOWN: &str = "/toolwire.v1.ToolService/ListTools";

#[tokio::test]
async fn a_span_has_the_name_the_parent_and_the_status_of_its_call() {
    let (_guard, spans) = record();
    let mut body = call(KNOWN, trailers("0")).await.into_body();
    assert!(spans.0.lock().unwrap().is_empty(), "the span ended before the body");
    while body.frame().await.is_some() {}
    drop(body);

    let span = only(&spans);
    assert_eq!(span.name, "toolwire.v1.ToolService/ListTools");
    assert_eq!(span.span_kind, SpanKind::Server);
    assert_eq!(span.parent_span_id.to_string(), "00f067aa0ba902b7");
    assert_eq!(span.span_context.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(span.status, Status::Unset);
    let expected = [
        (attribute::NETWORK_PEER_ADDRESS, Value::from("192.0.2.7")),
        (attribute::NETWORK_PEER_PORT, Value::from(4_000)),
        (attribute::RPC_METHOD, Value::from("toolwire.v1.ToolService/ListTools")),
        (attribute::RPC_RESPONSE_STATUS_CODE, Value::from("OK")),
        (attribute::RPC_SYSTEM_NAME, Value::from("grpc")),
        (attribute::SERVER_ADDRESS, Value::from("tools.example")),
        (attribute::SERVER_PORT, Value::from(50_051)),
    ];
    assert_eq!(own_attributes(&span), expected.map(|(name, value)| (name.to_owned(), value)));
}

#[tokio::test]
async fn a_failure_of_the_server_is_an_error_and_a_refusal_is_not() {
    let (_guard, spans) = record();
    call(KNOWN, trailers("13")).await.into_body().collect().await.unwrap();
    let span = only(&spans);
    assert_eq!(span.status, Status::error(""));
    assert_eq!(attribute(&span, attribute::ERROR_TYPE), Some(Value::from("INTERNAL")));

    spans.0.lock().unwrap().clear();
    call(KNOWN, trailers("5")).await.into_body().collect().await.unwrap();
    let span = only(&spans);
    assert_eq!(span.status, Status::Unset);
    assert_eq!(attribute(&span, attribute::RPC_RESPONSE_STATUS_CODE), Some(Value::from("NOT_FOUND")));
}

#[tokio::test]
async fn a_stream_dropped_before_its_trailers_was_cancelled() {
    let (_guard, spans) = record();
    drop(call(KNOWN, trailers("0")).await);
    assert_eq!(attribute(&only(&spans), attribute::RPC_RESPONSE_STATUS_CODE), Some(Value::from("CANCELLED")));

    spans.0.lock().unwrap().clear();
    let never = service_fn(|_: Request<()>| pending::<Result<Response<tonic::body::Body>, Infallible>>());
    drop(Layer(Trace::new(rules())).layer(never).call(request(KNOWN)));
    assert_eq!(attribute(&only(&spans), attribute::RPC_RESPONSE_STATUS_CODE), Some(Value::from("CANCELLED")));
}

#[tokio::test]
async fn an_unknown_method_names_no_span() {
    let (_guard, spans) = record();
    let path = format!("/evil.Service/{}", "x".repeat(500));
    drop(call(&path, trailers("12")).await);
    let span = only(&spans);
    assert_eq!(span.name, "grpc");
    assert_eq!(attribute(&span, attribute::RPC_METHOD), Some(Value::from("_OTHER")));
    let original = attribute(&span, attribute::RPC_METHOD_ORIGINAL).unwrap();
    assert_eq!(original.as_str(), path[1..=128]);
}

#[derive(Debug, Clone, Default)]
struct Finished(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Finished {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

/// Exports the spans of this thread until the guard is dropped.
fn record() -> (DefaultGuard, Finished) {
    let exporter = Finished::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    (toolwire_base::capture::capture(tracing_subscriber::registry().with(layer)), exporter)
}

/// A body that ends with this `grpc-status`.
fn trailers(code: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(tonic::Status::GRPC_STATUS, code.parse().unwrap())])
}

async fn call(
    path: &str,
    trailers: HeaderMap,
) -> Response<Body<impl HttpBody<Data = Bytes, Error = Infallible> + Unpin>> {
    let service = service_fn(|_: Request<()>| {
        let frames = [Frame::data(Bytes::from_static(b"x")), Frame::trailers(trailers.clone())];
        ready(Ok(Response::new(StreamBody::new(stream::iter(frames.map(Ok::<_, Infallible>))))))
    });
    Layer(Trace::new(rules())).layer(service).call(request(path)).await.unwrap()
}

fn rules() -> Rules {
    Rules::from_iter([(&KNOWN[1..], Rule::USER)])
}

fn request(path: &str) -> Request<()> {
    let mut request = Request::new(());
    *request.uri_mut() = format!("http://tools.example:50051{path}").parse().unwrap();
    request.headers_mut().insert("traceparent", TRACE_PARENT.parse().unwrap());
    request.extensions_mut().insert(Peer::stranger("192.0.2.7:4000".parse().unwrap()));
    request
}

#[track_caller]
fn only(spans: &Finished) -> SpanData {
    let mut spans = spans.0.lock().unwrap();
    assert_eq!(spans.len(), 1);
    spans.remove(0)
}

fn attribute(span: &SpanData, name: &str) -> Option<Value> {
    span.attributes
        .iter()
        .find(|attribute| attribute.key.as_str() == name)
        .map(|attribute| attribute.value.clone())
}

/// The attributes that this layer sets, sorted, without the code locations that `tracing-opentelemetry` adds.
fn own_attributes(span: &SpanData) -> Vec<(String, Value)> {
    let prefixes = ["rpc.", "server.", "network.", "error."];
    let own =
        span.attributes.iter().filter(|it| prefixes.iter().any(|prefix| it.key.as_str().starts_with(prefix)));
    let mut own: Vec<_> = own.map(|it| (it.key.to_string(), it.value.clone())).collect();
    own.sort_by(|left, right| left.0.cmp(&right.0));
    own
}
