//! The HTTP listener: the table of its routes, and the layers that each request passes.
//!
//! HTTP/1.1 and HTTP/2 on one port, beside that of gRPC. Connections, users, deadlines, quotas and the drain, which
//! both share, are in `toolwire_transport`; here are hosts, origins, routes and problems. A face is a list of routes:
//! it converts a request to a call, renders the result, and is named in the records.

mod answer;
pub mod boundary;
pub mod chunks;
pub mod conditional;
pub mod console_document;
mod cors;
pub(super) mod expect;
pub(super) mod header;
pub(super) mod header_checks;
pub(super) mod host;
pub mod json_answer;
pub mod json_body;
mod media_type;
mod origin;
mod path;
pub mod problem;
mod problem_layer;
pub mod protected_resource;
pub mod query;
pub(super) mod resource_document;
pub mod route;
pub mod rpc_route;
pub mod sse;
pub mod table;
mod timeout;
mod toolset;
mod trace;

use std::{convert::Infallible, net::SocketAddr};

use axum::body::Body as AxumBody;
use http::{Request, Response};
use tonic::body::Body;
use tower::{Service, ServiceBuilder};

pub use self::problem_layer::LastWord;
use self::{
    boundary::Boundary,
    conditional::CheckConditions,
    header_checks::HeaderChecks,
    route::Http,
    table::{RouteMatch, Table},
    trace::Trace,
};
use toolwire_base::middleware::Layer;
use toolwire_config as config;
use toolwire_transport::{
    self as transport, Arrival, Common, CountRequests, Hooks, HttpLimits, ListenError, Listener, Protocols,
    Report, Socket, tls::Files,
};

/// Takes the address, and reads the certificate if one is configured.
pub fn bind(
    listen: SocketAddr,
    config: &config::Http,
    server: &config::Server,
) -> Result<Listener, ListenError> {
    let protocols = Protocols::Both(HttpLimits::from(config));
    Listener::open(listen, server.reuse_port, Files::of(&server.tls), &protocols)
}

/// Serves until `shutdown`, then drains. A gRPC client is referred to the port for gRPC.
pub async fn serve(
    http: Http,
    table: Table,
    boundary: Boundary,
    common: &Common,
    grpc_at: Option<SocketAddr>,
    listener: Listener<impl Socket>,
    shutdown: impl Future<Output = ()>,
) -> Report {
    let in_flight = http.face.tools.in_flight().clone();
    let hooks = Hooks::default().on_forced(move || in_flight.shut_down());
    let header_checks = HeaderChecks::new(boundary, grpc_at, http.resource.clone());
    let stack = stack(http, table, header_checks, common);
    transport::serve(listener, stack, common.http_config(), shutdown, hooks).await
}

/// The layers over the routes, in the order in which a request passes them.
fn stack(
    http: Http,
    table: Table,
    header_checks: HeaderChecks,
    common: &Common,
) -> impl Service<
    Request<Body>,
    Response = Response<
        impl http_body::Body<Data = bytes::Bytes, Error = axum::Error> + Send + 'static + use<>,
    >,
    Error = Infallible,
    Future: Send,
>
+ Clone
+ Send
+ 'static
+ use<> {
    let routes = ServiceBuilder::new()
        .map_request(enter_routes)
        // Innermost: a request that is not permitted must not learn which representations exist.
        .layer(Layer(CheckConditions))
        .service(table.router(http));
    ServiceBuilder::new()
        // Before anything looks for the route.
        .map_request(path::normalise)
        // Above every layer that can respond: its span sees every response in its final form.
        .layer(Layer(Trace(table)))
        // Counts refusals too: a connection is idle only when no request is in flight.
        .layer(Layer(CountRequests))
        // Host, origin, route and media type, by headers alone, before any of the body is read.
        .layer(Layer(header_checks))
        // What the layers below refuse becomes a problem.
        .map_response(problem_layer::to_problem)
        // Panics, arrival, deadline, user, quotas, end of watches.
        .service(transport::http_stack(routes, timeout::find, common))
}

/// Converts a request for the routes, and names the face for its records.
fn enter_routes(mut request: Request<Body>) -> Request<AxumBody> {
    let face = request.extensions().get::<RouteMatch>().map(|found| found.face);
    if let (Some(face), Some(arrival)) = (face, request.extensions_mut().get_mut::<Arrival>()) {
        arrival.face = face;
    }
    request.map(AxumBody::new)
}
