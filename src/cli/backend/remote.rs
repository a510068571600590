//! The tools of a server: the generated client over an HTTP/2 channel, with TLS for `https://`.

mod probe;

use std::{error::Error, path::Path, time::Duration};

use futures_util::StreamExt;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::timeout;
use tonic::{
    Code, Request, Response, Status, Streaming,
    metadata::{AsciiMetadataValue, MetadataMap},
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use super::{Events, Invocation, tls};
use crate::{
    cli::{failure::Failure, server_url::ServerUrl},
    context::UserId,
    contract::proto::v1::{self, tool_service_client::ToolServiceClient},
    domains::research::proto::v1::research_service_client::ResearchServiceClient,
    pipeline::Target,
};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a silent server is asked whether it lives, and how long its answer may take.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));

/// The tools of a server.
#[derive(Debug)]
pub(in crate::cli) struct Remote {
    channel: Channel,
    client: ToolServiceClient<Channel>,
    metadata: MetadataMap,
}

/// Who calls.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Credentials {
    /// The bearer token.
    pub(in crate::cli) token: Option<SecretString>,
    /// The user, where the server needs no credentials.
    pub(in crate::cli) user: Option<UserId>,
}

impl Remote {
    /// Connects to a server, over TLS for `https://`: trusting the authorities in `ca`, or else those of the platform.
    pub(in crate::cli) async fn connect(
        url: &ServerUrl,
        credentials: &Credentials,
        ca: Option<&Path>,
    ) -> Result<Self, Failure> {
        let metadata = metadata(credentials)?;
        let mut endpoint = Endpoint::from_shared(url.0.clone()).map_err(|error| unreachable(url, &error))?;
        if url.is_https() {
            endpoint = tls::add(endpoint, ca)?;
        }
        let channel = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1)
            .connect()
            .await
            .map_err(|error| unreachable(url, &error))?;
        greet(url, channel.clone()).await?;
        Ok(Self { client: ToolServiceClient::new(channel.clone()), channel, metadata })
    }

    pub(super) async fn list(
        &self,
        tags: &[String],
        view: v1::ToolView,
    ) -> Result<Vec<v1::ToolDefinition>, Status> {
        let message = v1::ListToolsRequest { tags: tags.to_vec(), view: view.into(), ..Default::default() };
        let mut stream = self.answered(self.client.clone().list_tools(self.request(message))).await?;
        let mut tools = Vec::new();
        while let Some(response) = stream.message().await? {
            tools.extend(response.tool);
        }
        Ok(tools)
    }

    pub(super) async fn describe(&self, name: &str) -> Result<v1::ToolDefinition, Status> {
        let request =
            self.request(v1::GetToolRequest { name: name.to_owned(), view: v1::ToolView::FullJson.into() });
        let response = self.answered(self.client.clone().get_tool(request)).await?;
        response.tool.ok_or_else(|| Status::internal("the server answered without a definition"))
    }

    pub(super) async fn guidance(&self, tags: &[String]) -> Result<String, Status> {
        let request = self.request(v1::DescribeForPlannerRequest { tags: tags.to_vec() });
        Ok(self.answered(self.client.clone().describe_for_planner(request)).await?.guidance)
    }

    pub(super) async fn limits(&self) -> Result<Vec<v1::SourceLimit>, Status> {
        let request = self.request(v1::GetLimitsRequest::default());
        Ok(self.answered(self.client.clone().get_limits(request)).await?.limits)
    }

    pub(super) async fn invoke(&self, invocation: Invocation) -> Result<Events, Status> {
        let deadline = invocation.deadline;
        let mut request = self.request(message(invocation));
        if let Some(deadline) = deadline {
            request.set_timeout(deadline);
        }
        let response = self.answered(self.client.clone().invoke_tool(request)).await?;
        let event = |response: Result<v1::InvokeToolResponse, Status>| {
            let event = response.map_err(own_timer)?.event;
            event.ok_or_else(|| Status::internal("the server sent an empty message"))
        };
        Ok(response.map(event).boxed())
    }

    /// What the server answers, or why it does not.
    async fn answered<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Status> {
        call.await.map(Response::into_inner).map_err(own_timer)
    }

    /// The tools and what becomes of them, for as long as the server says.
    pub(in crate::cli) async fn watch(
        &self,
        view: v1::ToolView,
    ) -> Result<Streaming<v1::WatchToolsResponse>, Status> {
        let request = self.request(v1::WatchToolsRequest { view: view.into() });
        Ok(self.client.clone().watch_tools(request).await?.into_inner())
    }

    /// Cancels one's own call. Whether there was one.
    pub(in crate::cli) async fn cancel(&self, call: v1::cancel_call_request::Call) -> Result<bool, Status> {
        let request = self.request(v1::CancelCallRequest { call: Some(call) });
        Ok(self.client.clone().cancel_call(request).await?.into_inner().cancelled)
    }

    /// Whether a service, or for an empty name the server as a whole, takes calls.
    pub(in crate::cli) async fn health(&self, service: &str) -> Result<ServingStatus, Status> {
        let request = self.request(HealthCheckRequest { service: service.to_owned() });
        Ok(HealthClient::new(self.channel.clone()).check(request).await?.into_inner().status())
    }

    /// The typed research service of the same server.
    pub(in crate::cli) fn research(&self) -> ResearchServiceClient<Channel> {
        ResearchServiceClient::new(self.channel.clone())
    }

    /// A request that says who makes it.
    pub(in crate::cli) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata.clone();
        request
    }
}

fn message(invocation: Invocation) -> v1::InvokeToolRequest {
    use v1::invoke_tool_request as wire;
    let target = match invocation.target {
        Target::Tool(name) => wire::Target::Tool(name),
        Target::Intent(intent) => wire::Target::Intent(intent),
    };
    let context = v1::ToolContext {
        task_id: invocation.task_id.map(|id| id.to_string()).unwrap_or_default(),
        session_id: invocation.session_id.map(|id| id.to_string()).unwrap_or_default(),
        ..v1::ToolContext::default()
    };
    v1::InvokeToolRequest {
        target: Some(target),
        input: Some(wire::Input::ArgumentsJson(Value::Object(invocation.arguments).to_string())),
        context: Some(context),
        request_id: invocation.request_id.map(|id| id.to_string()).unwrap_or_default(),
        result_format: v1::ResultFormat::Json.into(),
    }
}

fn metadata(credentials: &Credentials) -> Result<MetadataMap, Failure> {
    let mut metadata = MetadataMap::new();
    if let Some(token) = &credentials.token {
        let bearer = format!("Bearer {}", token.expose_secret());
        let usage = |_| Failure::Usage("the token must be visible ASCII characters; check it".to_owned());
        let mut value: AsciiMetadataValue = bearer.parse().map_err(usage)?;
        value.set_sensitive(true);
        metadata.insert("authorization", value);
    }
    if let Some(user) = &credentials.user {
        let value = user.as_str().parse().expect("a user id is visible ASCII");
        metadata.insert("x-toolwire-user", value);
    }
    Ok(metadata)
}

/// The channel watches grpc-timeout too, and calls its own timer a cancellation.
fn own_timer(status: Status) -> Status {
    match status.code() {
        Code::Cancelled if status.message() == "Timeout expired" => {
            Status::deadline_exceeded("the deadline passed before the call ended")
        }
        _ => status,
    }
}

/// Makes sure that something at the other end speaks gRPC, whatever it says: a connection alone does not tell.
async fn greet(url: &ServerUrl, channel: Channel) -> Result<(), Failure> {
    let mut client = HealthClient::new(channel);
    let answered = timeout(CONNECT_TIMEOUT, client.check(HealthCheckRequest::default())).await;
    match answered {
        // A status with a cause was made on this side: nothing that speaks gRPC has answered.
        Ok(Err(status)) if status.source().is_some() => Err(not_grpc(url).await),
        Ok(_) => Ok(()),
        Err(_) => Err(not_grpc(url).await),
    }
}

async fn not_grpc(url: &ServerUrl) -> Failure {
    if tls::is_expected_at(url).await {
        return Failure::Failed(format!("the server speaks TLS: use {}", tls::encrypted(url)));
    }
    let found = probe::what_answers(&url.0).await;
    let advice = "Name the address that `toolwire serve` prints, with --server or TOOLWIRE_SERVER";
    Failure::Failed(format!("no toolwire server at {}: {found}. {advice}", url.0))
}

fn unreachable(url: &ServerUrl, error: &(dyn Error + 'static)) -> Failure {
    if let Some(why) = tls::why(url, error) {
        return Failure::Failed(format!("cannot talk to {}: {why}", url.0));
    }
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let advice = "Is it running? Start it with `toolwire serve`, or name another with --server";
    Failure::Failed(format!("cannot reach {}: {cause}. {advice}", url.0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use v1::invoke_tool_request as wire;

    #[test]
    fn a_call_by_intent_becomes_the_request_with_exact_arguments() {
        let invocation = Invocation {
            target: Target::Intent("performance".to_owned()),
            arguments: json!({"n": 9_007_199_254_740_993_i64}).as_object().unwrap().clone(),
            request_id: None,
            task_id: Some("t-1".parse().unwrap()),
            session_id: Some("s-1".parse().unwrap()),
            deadline: None,
        };
        let request = message(invocation);
        let context = request.context.as_ref().unwrap();
        assert_eq!((context.task_id.as_str(), context.session_id.as_str()), ("t-1", "s-1"));
        assert_eq!(request.target, Some(wire::Target::Intent("performance".to_owned())));
        assert_eq!(request.input, Some(wire::Input::ArgumentsJson("{\"n\":9007199254740993}".to_owned())));
        assert_eq!((request.request_id.as_str(), request.result_format()), ("", v1::ResultFormat::Json));
    }

    #[test]
    fn a_token_is_sent_as_a_sensitive_header() {
        let credentials = Credentials { token: Some("t0ken".into()), user: None };
        let metadata = metadata(&credentials).unwrap();
        let value = metadata.get("authorization").unwrap();
        assert!(value.is_sensitive());
        assert_eq!(value.to_str().unwrap(), "Bearer t0ken");
    }
}
