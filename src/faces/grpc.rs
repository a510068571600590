//! The gRPC face: tonic's generated services over the pipeline, served by a transport of our own.

mod brokerage_service;
mod incoming;
mod invoke;
pub mod limits;
mod listing;
mod research_service;
mod screener_credentials;
mod tool_service;
mod typed;
mod watch;

use std::{sync::Arc, time::Duration};

use tokio::net::TcpListener;
use tonic::{codec::CompressionEncoding::Gzip, service::Routes};
use tonic_health::server::HealthReporter;
use tonic_reflection::server::Builder as Reflection;

use super::transport::{
    self, Age, BindError, Drain, Hooks, Http2, Report, authenticate::Authenticator, rules::Rules,
};
use crate::{
    config,
    context::Services,
    contract::proto::{
        self, brokerage::v1::brokerage_service_server::BrokerageServiceServer,
        research::v1::research_service_server::ResearchServiceServer,
        v1::tool_service_server::ToolServiceServer,
    },
    pipeline::{Pipeline, Policy},
    registry::Registry,
    upstream::limits::SourceLimits,
};

/// What the services need of the house below. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Face {
    /// Carries out calls.
    pub pipeline: Arc<Pipeline>,
    /// The tools.
    pub registry: Arc<Registry>,
    /// Who may call what.
    pub policy: Arc<dyn Policy>,
    /// What sources would do with requests.
    pub limits: Arc<dyn SourceLimits>,
    /// What the domains' own methods need.
    pub services: Services,
}

/// How much longer than the longest call a connection goes on after its age is reached.
const AGE_MARGIN: Duration = Duration::from_secs(30);

type ToolServer = ToolServiceServer<Face>;
type BrokerageServer = BrokerageServiceServer<Face>;
type ResearchServer = ResearchServiceServer<Face>;

/// Takes the configured address.
pub fn bind(server: &config::Server) -> Result<TcpListener, BindError> {
    transport::bind(server.listen, server.reuse_port)
}

/// Serves until `shutdown`, then drains.
pub async fn serve(
    face: Face,
    authenticator: Arc<dyn Authenticator>,
    server: &config::Server,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Report {
    let config = transport_config(server);
    let in_flight = face.pipeline.in_flight().clone();
    let (reporter, health) = tonic_health::server::health_reporter();
    set_serving(&reporter, true).await;
    let limit = server.limits.max_request_bytes;
    // The limit holds for what a compressed request unpacks to, too. Who does not ask for gzip is answered without.
    let tools = ToolServer::new(face.clone()).accept_compressed(Gzip).send_compressed(Gzip);
    let brokerage = BrokerageServer::new(face.clone()).accept_compressed(Gzip).send_compressed(Gzip);
    let research = ResearchServer::new(face).accept_compressed(Gzip).send_compressed(Gzip);
    let mut routes = Routes::new(tools.max_decoding_message_size(limit))
        .add_service(brokerage.max_decoding_message_size(limit))
        .add_service(research.max_decoding_message_size(limit))
        .add_service(health);
    if server.reflection {
        routes = with_reflection(routes);
    }
    let hooks = Hooks::default()
        .on_draining(move || async move { set_serving(&reporter, false).await })
        .on_forced(move || in_flight.shut_down());
    let stack = transport::stack(routes.prepare(), Rules::toolwire(), authenticator, &config);
    transport::serve(listener, stack, config, shutdown, hooks).await
}

/// Says of the server as a whole and of each service whether it takes calls.
async fn set_serving(reporter: &HealthReporter, serving: bool) {
    let status =
        if serving { tonic_health::ServingStatus::Serving } else { tonic_health::ServingStatus::NotServing };
    let services = [
        "",
        <ToolServer as tonic::server::NamedService>::NAME,
        <BrokerageServer as tonic::server::NamedService>::NAME,
        <ResearchServer as tonic::server::NamedService>::NAME,
    ];
    for service in services {
        reporter.set_service_status(service, status).await;
    }
}

/// Adds reflection, old and new: clients in the field speak either.
fn with_reflection(routes: Routes) -> Routes {
    let builder = || {
        Reflection::configure()
            .register_encoded_file_descriptor_set(proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            // So that grpcurl can show the details of a status.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
    };
    let valid = "the descriptor sets are compiled in";
    routes
        .add_service(builder().build_v1().expect(valid))
        .add_service(builder().build_v1alpha().expect(valid))
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
