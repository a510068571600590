//! A server without the agent among its domains: it serves tools as ever, and has nothing of the agent's.

use futures_util::stream;
use serde_json::json;
use tempfile::TempDir;
use tonic::{Code, Request};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};
use toolwire::{
    agent,
    contract::proto::agent::v1::{ChatRequest, agent_service_client::AgentServiceClient},
    domains::{
        self,
        research::proto::v1::{StartDiscoveryRequest, discovery_service_client::DiscoveryServiceClient},
    },
    server::app::App,
};

use crate::{
    http::talk::Talk,
    support::server::{Server, config_with_http},
};

/// The services of the agent.
const SERVICES: [&str; 2] = ["toolwire.agent.v1.AgentService", "toolwire.agent.v1.JobService"];

/// A server of all bundled domains, the agent among them or not.
fn serve(with_agent: bool) -> (Server, TempDir) {
    let (mut config, state) = (config_with_http(), tempfile::tempdir().unwrap());
    config.state.dir = Some(state.path().to_owned());
    let mut domains = domains::bundled();
    domains.retain(|domain| with_agent || domain.name != agent::domain().name);
    (Server::of(App::build(&config, &domains).unwrap(), config), state)
}

/// The services that reflection lists.
async fn reflected(server: &Server) -> Vec<String> {
    let message_request = Some(MessageRequest::ListServices(String::new()));
    let request = ServerReflectionRequest { host: String::new(), message_request };
    let mut client = ServerReflectionClient::new(server.channel().await);
    let answers = client.server_reflection_info(stream::iter([request])).await.unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else { panic!("a list") };
    list.service.into_iter().map(|service| service.name).collect()
}

/// Whether the health of a service is known.
async fn has_health(server: &Server, service: &str) -> bool {
    let request = HealthCheckRequest { service: service.to_owned() };
    match HealthClient::new(server.channel().await).check(request).await {
        Ok(answer) => answer.into_inner().status() == ServingStatus::Serving,
        Err(status) => {
            assert_eq!(status.code(), Code::NotFound, "{status:?}");
            false
        }
    }
}

#[tokio::test]
async fn reflection_and_health_know_the_services_that_domains_brought() {
    for with_agent in [true, false] {
        let (server, _state) = serve(with_agent);
        let reflected = reflected(&server).await;
        for service in SERVICES {
            assert_eq!(reflected.iter().any(|name| name == service), with_agent, "{reflected:?}");
            assert_eq!(has_health(&server, service).await, with_agent, "{service}");
        }
        assert!(has_health(&server, "toolwire.v1.ToolService").await);
    }
}

#[tokio::test]
async fn tools_are_called_and_no_question_is_answered() {
    let (server, _state) = serve(false);
    let talk = Talk::to(server.http.unwrap(), "riley");
    let answer = talk.post("/v1/tools/get_quotes:call", &json!({"symbol": "AMD"})).await.ok();
    assert!(answer["data"].is_object(), "{answer}");
    let mut agent = AgentServiceClient::new(server.channel().await);
    let status = agent.chat(Request::new(ChatRequest::default())).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented, "{status:?}");
    // What a domain starts as a job.
    let mut discoveries = DiscoveryServiceClient::new(server.channel().await);
    let status = discoveries.start_discovery(StartDiscoveryRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented, "{status:?}");
    assert!(status.message().contains("no agent"), "{status:?}");
}

#[tokio::test]
async fn no_route_of_the_agent_is_served() {
    let (server, _state) = serve(false);
    let talk = Talk::to(server.http.unwrap(), "riley");
    let routes = agent::domain().all_routes();
    assert!(!routes.is_empty());
    for route in routes {
        let path = route.path.replace(['{', '}'], "");
        let answer = talk.send(route.method.as_str(), &path, &[], "").await;
        assert_eq!(answer.problem(), (404, "UNKNOWN_ROUTE".to_owned()), "{} {path}", route.method);
    }
    let described = talk.get("/openapi.json").await.ok();
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.contains_key("/v1/tools") && !paths.keys().any(|path| path.starts_with("/v1/jobs")));
}
