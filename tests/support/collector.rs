//! An OTLP receiver over gRPC or HTTP, with or without TLS: keeps every span, every log record and the name of every
//! metric it is sent.

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Bytes, extract::State, routing::post};
use hyper::server::conn::{http1, http2};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    service::TowerToHyperService,
};
use opentelemetry_proto::tonic::{
    collector::{
        logs::v1::{
            ExportLogsServiceRequest, ExportLogsServiceResponse,
            logs_service_server::{LogsService, LogsServiceServer},
        },
        metrics::v1::{
            ExportMetricsServiceRequest, ExportMetricsServiceResponse,
            metrics_service_server::{MetricsService, MetricsServiceServer},
        },
        trace::v1::{
            ExportTraceServiceRequest, ExportTraceServiceResponse,
            trace_service_server::{TraceService, TraceServiceServer},
        },
    },
    common::v1::{KeyValue, any_value::Value},
    logs::v1::{LogRecord, ResourceLogs},
    trace::v1::{ResourceSpans, Span},
};
use prost::Message;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::watch,
};
use tokio_rustls::TlsAcceptor;
use tonic::{Request, Response, Status, service::Routes};

/// The spans, log records and metrics received so far. Cloning it makes another handle of the same.
#[derive(Clone, Default)]
pub struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    resource: Arc<Mutex<Vec<String>>>,
    metrics: Arc<watch::Sender<HashSet<String>>>,
    logs: Arc<watch::Sender<Vec<LogRecord>>>,
    count: Arc<watch::Sender<usize>>,
}

impl Collector {
    /// Receives over gRPC from now on, on a free port.
    pub async fn start() -> (Self, SocketAddr) {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), Wire::Grpc, None).await
    }

    /// Receives from now on.
    pub async fn at(address: SocketAddr, wire: Wire, tls: Option<TlsAcceptor>) -> (Self, SocketAddr) {
        let collector = Self::default();
        let listener = TcpListener::bind(address).await.expect("binds");
        let address = listener.local_addr().expect("bound");
        let grpc = Routes::new(TraceServiceServer::new(collector.clone()))
            .add_service(MetricsServiceServer::new(collector.clone()))
            .add_service(LogsServiceServer::new(collector.clone()));
        let http = Router::new().route("/v1/traces", post(traces)).route("/v1/logs", post(logs));
        let http = http.with_state(collector.clone());
        tokio::spawn(serve(listener, grpc.into_axum_router().merge(http), wire, tls));
        (collector, address)
    }

    /// Waits until there are spans.
    pub async fn any(&self) {
        self.count.subscribe().wait_for(|count| *count > 0).await.expect("open");
    }

    /// What the spans come from, each attribute as `key=value`.
    pub fn resource(&self) -> Vec<String> {
        self.resource.lock().expect("not poisoned").clone()
    }

    fn take(&self, spans: Vec<ResourceSpans>) {
        for of_resource in spans {
            let attributes = of_resource.resource.into_iter().flat_map(|it| it.attributes);
            let texts = attributes.map(|it| format!("{}={}", it.key, text(it.value.and_then(|it| it.value))));
            *self.resource.lock().expect("not poisoned") = texts.collect();
            let spans = of_resource.scope_spans.into_iter().flat_map(|it| it.spans);
            self.spans.lock().expect("not poisoned").extend(spans);
        }
        self.count.send_modify(|count| *count += 1);
    }

    /// Waits until there is a metric of the name.
    pub async fn metric(&self, name: &str) {
        self.metrics.subscribe().wait_for(|seen| seen.contains(name)).await.expect("open");
    }

    /// Waits until there are as many log records of this event.
    pub async fn logs(&self, event: &str, count: usize) -> Vec<LogRecord> {
        let of = |all: &[LogRecord]| -> Vec<_> {
            all.iter().filter(|record| record.event_name == event).cloned().collect()
        };
        let mut seen = self.logs.subscribe();
        let all = seen.wait_for(|all| of(all).len() >= count).await.expect("open");
        of(&all)
    }

    fn take_logs(&self, logs: Vec<ResourceLogs>) {
        let records = logs.into_iter().flat_map(|it| it.scope_logs).flat_map(|it| it.log_records);
        self.logs.send_modify(|seen| seen.extend(records));
    }

    /// Waits until there are as many spans of this name.
    pub async fn named(&self, name: &str, count: usize) -> Vec<Span> {
        let mut seen = self.count.subscribe();
        loop {
            let spans = self.spans.lock().expect("not poisoned").clone();
            let found: Vec<_> = spans.into_iter().filter(|span| span.name == name).collect();
            if found.len() >= count {
                return found;
            }
            seen.changed().await.expect("open");
        }
    }

    /// Waits until there are as many spans of one trace, and returns them by name.
    pub async fn trace(&self, trace_id: &[u8], count: usize) -> HashMap<String, Vec<Span>> {
        let of_trace = || -> Vec<Span> {
            let spans = self.spans.lock().expect("not poisoned");
            spans.iter().filter(|span| span.trace_id == trace_id).cloned().collect()
        };
        let mut seen = self.count.subscribe();
        while of_trace().len() < count {
            seen.changed().await.expect("open");
        }
        let mut by_name: HashMap<String, Vec<Span>> = HashMap::new();
        for span in of_trace() {
            by_name.entry(span.name.clone()).or_default().push(span);
        }
        by_name
    }
}

/// What a collector speaks.
#[derive(Clone, Copy, Debug)]
pub enum Wire {
    Grpc,
    Http,
}

/// As plain a server as hyper makes them: what is tested is the client.
async fn serve(listener: TcpListener, routes: Router, wire: Wire, tls: Option<TlsAcceptor>) {
    loop {
        let (socket, _) = listener.accept().await.expect("accepts");
        let (routes, tls) = (routes.clone(), tls.clone());
        tokio::spawn(async move {
            match tls {
                None => speak(socket, routes, wire).await,
                // A client that does not trust us goes, and tries again.
                Some(tls) => {
                    if let Ok(socket) = tls.accept(socket).await {
                        speak(socket, routes, wire).await;
                    }
                }
            }
        });
    }
}

async fn speak(socket: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, routes: Router, wire: Wire) {
    let (io, service) = (TokioIo::new(socket), TowerToHyperService::new(routes));
    // How a connection ends is the client's affair.
    let _ = match wire {
        Wire::Grpc => http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await,
        Wire::Http => http1::Builder::new().serve_connection(io, service).await,
    };
}

async fn traces(State(collector): State<Collector>, body: Bytes) -> Vec<u8> {
    collector.take(ExportTraceServiceRequest::decode(body).expect("protobuf").resource_spans);
    ExportTraceServiceResponse::default().encode_to_vec()
}

async fn logs(State(collector): State<Collector>, body: Bytes) -> Vec<u8> {
    collector.take_logs(ExportLogsServiceRequest::decode(body).expect("protobuf").resource_logs);
    ExportLogsServiceResponse::default().encode_to_vec()
}

fn text(value: Option<Value>) -> String {
    match value {
        Some(Value::StringValue(text)) => text,
        other => format!("{other:?}"),
    }
}

/// An attribute of a span, with its type.
pub fn typed(span: &Span, key: &str) -> Option<Value> {
    span.attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value
}

/// A text attribute of a span.
pub fn attribute(span: &Span, key: &str) -> Option<String> {
    text_of(&span.attributes, key)
}

/// One of these attributes, as a text.
pub fn text_of(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        other => Some(format!("{other:?}")),
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.take(request.into_inner().resource_spans);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Collector {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        self.take_logs(request.into_inner().resource_logs);
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let resources = request.into_inner().resource_metrics.into_iter();
        let metrics = resources.flat_map(|it| it.scope_metrics).flat_map(|it| it.metrics);
        self.metrics.send_modify(|seen| seen.extend(metrics.map(|metric| metric.name)));
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}
