//! The gRPC face: tonic's generated services over the pipeline, served by a transport of our own.

mod face;
mod health;
mod incoming;
mod invoke;
pub mod limits;
mod listing;
mod reflection;
mod service;
mod services;
mod tool_service;
mod typed;
mod watch;

use std::{sync::Arc, time::Duration};

use tokio::net::TcpListener;

pub use self::{
    face::Face,
    incoming::Caller,
    service::{COMPRESSION, Service},
    services::{ServiceError, Services},
    typed::call,
};
use super::transport::{self, Age, BindError, Drain, Hooks, Http2, Report, authenticate::Authenticator};
use crate::config;
pub use crate::{grpc_service as service, grpc_typed_service as typed_service};

/// How much longer than the longest call a connection goes on after its age is reached.
const AGE_MARGIN: Duration = Duration::from_secs(30);

/// Takes the configured address.
pub fn bind(server: &config::Server) -> Result<TcpListener, BindError> {
    transport::bind(server.listen, server.reuse_port)
}

/// Serves until `shutdown`, then drains.
pub async fn serve(
    face: Face,
    services: Services,
    authenticator: Arc<dyn Authenticator>,
    server: &config::Server,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Report {
    let config = transport_config(server);
    let in_flight = face.pipeline.in_flight().clone();
    services.set_serving(true).await;
    let (routes, rules) = (services.routes(&face).prepare(), services.rules().clone());
    let hooks = Hooks::default()
        .on_draining(move || async move { services.set_serving(false).await })
        .on_forced(move || in_flight.shut_down());
    let stack = transport::stack(routes, rules, authenticator, &config);
    transport::serve(listener, stack, config, shutdown, hooks).await
}

fn transport_config(server: &config::Server) -> transport::Config {
    let config::Limits {
        max_concurrent_streams,
        stream_window,
        connection_window,
        max_header_list,
        max_request_bytes: _,
        keepalive_interval,
        keepalive_timeout,
        preface_timeout,
        max_connections,
        max_concurrent_calls,
        max_connection_age,
    } = server.limits;
    transport::Config {
        max_connections,
        max_concurrent_requests: max_concurrent_calls,
        server_cap: server.deadline_cap,
        preface_timeout,
        http2: Http2 {
            max_concurrent_streams,
            stream_window,
            connection_window,
            max_header_list_size: max_header_list,
            keepalive_interval,
            keepalive_timeout,
            ..Http2::default()
        },
        // No call that the cap allows is cut by the age of its connection.
        age: Age { max: max_connection_age, grace: server.deadline_cap + AGE_MARGIN, ..Age::default() },
        drain: Drain { lame_duck: server.drain.lame_duck, forced_end: server.drain.forced_end },
        ..transport::Config::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_connection_cuts_no_call_that_the_cap_allows() {
        let server = config::Server { deadline_cap: Duration::from_mins(10), ..config::Server::default() };
        let config = transport_config(&server);
        assert!(config.age.grace > config.server_cap);
    }
}
