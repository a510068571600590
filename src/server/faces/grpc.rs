//! The gRPC face: tonic's generated services over the pipeline, served by a transport of our own.

pub mod agent;
mod agent_forms;
mod agent_service;
pub mod audit;
mod audit_service;
pub mod calls;
pub mod confirmation;
mod confirmation_service;
mod face;
mod handle;
mod health;
pub mod invoke;
pub mod job;
mod job_service;
mod leading;
mod listing;
mod reflection;
pub mod result;
mod routes;
mod service;
mod services;
pub mod source_status;
pub mod task;
mod task_model;
mod task_service;
pub mod task_wire;
mod tool_service;
mod typed;
pub(in crate::faces) mod watch;
pub mod workspace;
mod workspace_service;

use std::net::SocketAddr;

use tokio::{select, sync::watch::Receiver};

pub(in crate::faces) use self::listing::filter;
pub use self::{
    face::Face,
    routes::Routes,
    service::{COMPRESSION, Service},
    services::{GrpcServices, ServiceError},
    typed::call,
};
use super::transport::{
    self, Common, Config, Hooks, ListenError, Listener, Report, Socket, Protocols, tls::Files,
};
pub use crate::{grpc_service as service, grpc_typed_service as typed_service};
use toolwire_config as config;

/// Takes the configured address, and reads the certificate if one is configured.
pub fn bind(server: &config::Server) -> Result<Listener, ListenError> {
    let files = server.tls.files().map(|(cert, key)| Files { cert: cert.to_owned(), key: key.to_owned() });
    Listener::open(server.listen, server.reuse_port, files, &Protocols::Http2)
}

/// Serves until `shutdown`, then drains. Health says that no calls are taken while `ready` says so. Who speaks HTTP/1
/// is told where it is spoken.
pub async fn serve(
    face: Face,
    services: GrpcServices,
    common: &Common,
    http1_at: Option<SocketAddr>,
    listener: Listener<impl Socket>,
    ready: Receiver<bool>,
    shutdown: impl Future<Output = ()>,
) -> Report {
    let speech = http1_at.map_or(Protocols::Http2, Protocols::Http2Beside);
    let config = Config { speech, ..Config::clone(&common.config) };
    let in_flight = face.tools.in_flight().clone();
    let following = services.clone();
    let (routes, rules) = (services.routes(&face), services.rules().clone());
    let hooks = Hooks::default()
        .on_draining(move || async move { services.drain().await })
        .on_forced(move || in_flight.shut_down());
    let stack = transport::stack(routes, rules, common);
    select! {
        // First: nobody is answered before it is said what is served.
        biased;
        never = following.follow(ready) => match never {},
        report = transport::serve(listener, stack, config, shutdown, hooks) => report,
    }
}
