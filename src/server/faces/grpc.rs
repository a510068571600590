//! The gRPC face: tonic's generated services over the pipeline, served by a transport of our own.

mod audit;
mod calls;
mod confirmation;
pub(super) mod explain;
mod face;
mod health;
mod host;
pub(super) mod invoke;
mod limits;
mod provider;
mod quotas;
mod reflection;
mod routes;
mod service;
mod services;
mod snapshot_stream;
mod stats;
mod task;
mod tool_service;
mod typed_service;
mod watch;
mod workspace;

use std::net::SocketAddr;

use futures_util::stream::BoxStream;
use http::Extensions;
use tokio::{select, sync::watch::Receiver};
use tonic::{Request, Response, Status};

pub use self::{
    face::Face,
    routes::Routes,
    service::{COMPRESSION, Service},
    services::{GrpcServices, ServiceError},
    typed_service::call,
};
use super::{incoming, readiness::Readiness};
pub use crate::{grpc_service as service, grpc_typed_service as typed_service};
use toolwire_config as config;
use toolwire_tool::context::User;
use toolwire_transport::{
    self as transport, Common, Config, Hooks, ListenError, Listener, Protocols, Report, Socket, tls::Files,
};

type Answered<T> = Result<Response<T>, Status>;

type Streamed<T> = BoxStream<'static, Result<T, Status>>;

/// The parts of a request: who makes it, how it came, and its message.
fn split<T>(request: Request<T>) -> (User, Extensions, T) {
    let (_, extensions, message) = request.into_parts();
    (incoming::user(&extensions), extensions, message)
}

/// Takes the configured address, and reads the certificate if one is configured.
pub fn bind(server: &config::Server) -> Result<Listener, ListenError> {
    Listener::open(server.listen, server.reuse_port, Files::of(&server.tls), &Protocols::Http2)
}

/// Serves until `shutdown`, then drains. Health reports what `ready` says. A peer that speaks HTTP/1 is referred to the
/// port for it.
pub async fn serve(
    face: Face,
    services: GrpcServices,
    common: &Common,
    http1_at: Option<SocketAddr>,
    listener: Listener<impl Socket>,
    ready: Receiver<Readiness>,
    shutdown: impl Future<Output = ()>,
) -> Report {
    let protocols = http1_at.map_or(Protocols::Http2, Protocols::Http2Beside);
    let config = Config { protocols, ..Config::clone(&common.config) };
    let (in_flight, hub) = (face.tools.in_flight().clone(), face.providers.hub().clone());
    let following = services.clone();
    let (routes, rules) = (services.routes(&face), services.rules().clone());
    let hooks =
        Hooks::default().on_draining(move || async move { services.drain().await }).on_forced(move || {
            in_flight.shut_down();
            hub.shut_down();
        });
    let stack = transport::stack(routes, rules, common);
    select! {
        // First: no request is answered before the listening address is announced.
        biased;
        never = following.follow(ready) => match never {},
        report = transport::serve(listener, stack, config, shutdown, hooks) => report,
    }
}
