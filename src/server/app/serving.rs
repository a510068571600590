//! Serves the listeners of callers, and ends them together.

use std::{net::SocketAddr, sync::Arc};

use futures_util::future::{BoxFuture, FutureExt, Shared};
use tokio::sync::watch::Receiver;

use super::{App, access::host_tokens};
use crate::faces::{
    grpc::{self, Face, Routes},
    http::{
        self,
        boundary::Boundary,
        route::{Http, Services},
    },
    mcp,
    readiness::Readiness,
    trace_url::TraceUrl,
};
use toolwire_config::Config;
use toolwire_transport::{Common, Listener, Report};

/// The end of the service, awaited by each listener.
type Shutdown<'a> = Shared<BoxFuture<'a, ()>>;

impl App {
    /// Serves both listeners until `shutdown` is ready and their drains have ended.
    ///
    /// Boxed, so that the layers are compiled here and not once more in each crate that waits for this.
    pub(super) fn serve_callers<'a>(
        &'a self,
        config: &'a Config,
        grpc: Listener,
        http: Option<Listener>,
        ready: Receiver<Readiness>,
        shutdown: Shutdown<'a>,
    ) -> BoxFuture<'a, Report> {
        let authenticator = self.access.authenticator(config);
        let common = Common::new(authenticator, &config.server, http.is_some().then_some(&config.http));
        let common = common.with_hosts(host_tokens(config)).with_withdrawals(self.access.withdrawals());
        let common = common.with_refusals(Arc::clone(&self.state) as _);
        let common = common.with_toolsets(self.access.toolsets.clone());
        let http1_at = http.as_ref().and_then(|listener| listener.local_addr().ok());
        let (services, grpc_at) = (self.grpc.clone(), grpc.local_addr().ok());
        async move {
            let face = self.face_of(config);
            let over_grpc = grpc::serve(face, services, &common, http1_at, grpc, ready, shutdown.clone());
            let Some(http) = http else { return over_grpc.await };
            let (over_grpc, over_http) =
                tokio::join!(over_grpc, self.serve_http(config, &common, grpc_at, http, shutdown));
            over_grpc.and(over_http)
        }
        .boxed()
    }

    async fn serve_http(
        &self,
        config: &Config,
        common: &Common,
        grpc_at: Option<SocketAddr>,
        listener: Listener,
        shutdown: Shutdown<'_>,
    ) -> Report {
        let face = self.face_of(config);
        let grpc = self.grpc.routes(&face);
        let scheme = if config.server.tls.files().is_some() { "https" } else { "http" };
        let flags = grpc_at.map(|at| mcp::flags(scheme, at, !config.auth.is_open())).unwrap_or_default();
        let mcp = mcp::handler(face.clone(), grpc.clone(), config).with_flags(flags);
        let mcp = mcp.with_cancellations(Arc::clone(&self.client_requests));
        let rpc_routes = Arc::clone(&self.rpc_routes);
        let resource = self.access.protected_resource(config);
        let grpc_url = grpc_at.filter(|at| !at.ip().is_unspecified()).map(|at| format!("{scheme}://{at}"));
        let console = self.access.console(config, grpc_url);
        let http = Http::new(Services { face, grpc, rpc_routes, mcp, console, resource });
        let table = self.http.clone();
        http::serve(http, table, Boundary::of_users(config), common, grpc_at, listener, shutdown).await
    }

    /// The services over gRPC, for a program that makes requests to itself. The length of those is not bounded.
    pub fn routes(&self) -> Routes {
        self.grpc.routes(&self.face(usize::MAX, TraceUrl::default()))
    }

    fn face_of(&self, config: &Config) -> Face {
        let trace_url = TraceUrl::new(config.telemetry.trace_url.as_deref());
        self.face(config.server.limits.max_request_bytes, trace_url)
    }

    fn face(&self, max_request_bytes: usize, trace_url: TraceUrl) -> Face {
        Face {
            tools: self.tools.clone(),
            parts: self.attached.parts.clone(),
            workspaces: self.workspaces(),
            providers: self.providers.clone(),
            trace_url,
            max_request_bytes,
        }
    }
}
