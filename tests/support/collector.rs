//! An OTLP receiver over gRPC: keeps every span and the name of every metric it is sent.

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use hyper::server::conn::http2;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    service::TowerToHyperService,
};
use opentelemetry_proto::tonic::{
    collector::{
        metrics::v1::{
            ExportMetricsServiceRequest, ExportMetricsServiceResponse,
            metrics_service_server::{MetricsService, MetricsServiceServer},
        },
        trace::v1::{
            ExportTraceServiceRequest, ExportTraceServiceResponse,
            trace_service_server::{TraceService, TraceServiceServer},
        },
    },
    common::v1::any_value::Value,
    trace::v1::Span,
};
use tokio::{net::TcpListener, sync::watch};
use tonic::{Request, Response, Status, service::Routes};
use tower::ServiceExt;

/// The spans and metrics received so far. Cloning it makes another handle of the same.
#[derive(Clone, Default)]
pub struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    metrics: Arc<watch::Sender<HashSet<String>>>,
    count: Arc<watch::Sender<usize>>,
}

impl Collector {
    /// Receives from now on, on a free port.
    pub async fn start() -> (Self, SocketAddr) {
        let collector = Self::default();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("binds");
        let address = listener.local_addr().expect("bound");
        let routes = Routes::new(TraceServiceServer::new(collector.clone()))
            .add_service(MetricsServiceServer::new(collector.clone()));
        tokio::spawn(serve(listener, routes));
        (collector, address)
    }

    /// Waits until there is a metric of the name.
    pub async fn metric(&self, name: &str) {
        self.metrics.subscribe().wait_for(|seen| seen.contains(name)).await.expect("open");
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

/// As plain a server as hyper makes them: what is tested is the client.
async fn serve(listener: TcpListener, routes: Routes) {
    let service = routes.prepare();
    loop {
        let (socket, _) = listener.accept().await.expect("accepts");
        let service = TowerToHyperService::new(
            service.clone().map_request(|request: http::Request<_>| request.map(tonic::body::Body::new)),
        );
        tokio::spawn(
            http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service),
        );
    }
}

/// A text attribute of a span.
pub fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
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
        let resources = request.into_inner().resource_spans.into_iter();
        let spans = resources.flat_map(|it| it.scope_spans).flat_map(|it| it.spans);
        self.spans.lock().expect("not poisoned").extend(spans);
        self.count.send_modify(|count| *count += 1);
        Ok(Response::new(ExportTraceServiceResponse::default()))
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
