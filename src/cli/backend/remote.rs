//! The tools of a server: the generated client over its connection.

use futures_util::StreamExt;
use prost::Message;
use tonic::{Code, Response, Status, Streaming, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use super::invocation::{Confirmations, Events, Invocation};
use toolwire_contract::{
    Refusal, convert,
    proto::v1::{
        self, audit_service_client::AuditServiceClient,
        confirmation_service_client::ConfirmationServiceClient, tool_service_client::ToolServiceClient,
    },
};
use toolwire_engine::pipeline::Target;
use toolwire_server::client::Server;

/// The tools of a server.
#[derive(Debug)]
pub(crate) struct Remote {
    server: Server,
    client: ToolServiceClient<Channel>,
}

impl Remote {
    /// The tools of this server.
    pub(crate) fn of(server: Server) -> Self {
        Self { client: ToolServiceClient::new(server.channel()), server }
    }

    /// The connection.
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) async fn list(
        &self,
        tags: &[String],
        view: v1::ToolView,
    ) -> Result<Vec<v1::ToolDefinition>, Status> {
        let message = v1::ListToolsRequest { tags: tags.to_vec(), view: view.into(), ..Default::default() };
        let mut stream = self.answered(self.client.clone().list_tools(self.server.request(message))).await?;
        let mut tools = Vec::new();
        while let Some(response) = stream.message().await? {
            tools.push(definition(&response.tool)?);
        }
        Ok(tools)
    }

    pub(super) async fn describe(&self, name: &str) -> Result<v1::ToolDefinition, Status> {
        let request = self
            .server
            .request(v1::GetToolRequest { name: name.to_owned(), view: v1::ToolView::FullJson.into() });
        let response = self.answered(self.client.clone().get_tool(request)).await?;
        definition(&response.tool)
    }

    pub(super) async fn guidance(&self, tags: &[String]) -> Result<String, Status> {
        let request = self.server.request(v1::DescribeForPlannerRequest { tags: tags.to_vec() });
        let guidance = self.answered(self.client.clone().describe_for_planner(request)).await?.guidance;
        String::from_utf8(guidance.into()).map_err(|_| Status::internal("the server answered with no text"))
    }

    pub(super) async fn export(
        &self,
        request: v1::ExportToolsRequest,
    ) -> Result<v1::ExportToolsResponse, Status> {
        self.answered(self.client.clone().export_tools(self.server.request(request))).await
    }

    pub(super) async fn limits(&self) -> Result<Vec<v1::SourceLimit>, Status> {
        let request = self.server.request(v1::GetLimitsRequest::default());
        Ok(self.answered(self.client.clone().get_limits(request)).await?.limits)
    }

    pub(super) async fn invoke(&self, invocation: Invocation) -> Result<Events, Status> {
        let deadline = invocation.deadline;
        let mut request = self.server.request(message(invocation));
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

    /// The connection.
    pub(super) fn channel(&self) -> Channel {
        self.server.channel()
    }

    /// A request with the credentials of whoever asks.
    pub(super) fn message<T>(&self, message: T) -> tonic::Request<T> {
        self.server.request(message)
    }

    /// What the server answers, or why it does not.
    pub(super) async fn answered<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Status> {
        call.await.map(Response::into_inner).map_err(own_timer)
    }

    /// The tools and what becomes of them, for as long as the server says.
    pub(crate) async fn watch(
        &self,
        view: v1::ToolView,
    ) -> Result<Streaming<v1::WatchToolsResponse>, Status> {
        let request = self.server.request(v1::WatchToolsRequest { view: view.into() });
        Ok(self.client.clone().watch_tools(request).await?.into_inner())
    }

    pub(super) async fn confirmations(
        &self,
        request: v1::ListConfirmationsRequest,
    ) -> Result<v1::ListConfirmationsResponse, Status> {
        let mut client = ConfirmationServiceClient::new(self.server.channel());
        self.answered(client.list_confirmations(self.server.request(request))).await
    }

    pub(super) async fn confirmation(&self, id: &str) -> Result<v1::Confirmation, Status> {
        let request = v1::GetConfirmationRequest { confirmation_id: id.to_owned(), wait: None };
        let mut client = ConfirmationServiceClient::new(self.server.channel());
        let answer = self.answered(client.get_confirmation(self.server.request(request))).await?;
        answer.confirmation.ok_or_else(without_confirmation)
    }

    pub(super) async fn decide(
        &self,
        request: v1::DecideConfirmationRequest,
    ) -> Result<v1::Confirmation, Status> {
        let mut client = ConfirmationServiceClient::new(self.server.channel());
        let answer = self.answered(client.decide_confirmation(self.server.request(request))).await?;
        answer.confirmation.ok_or_else(without_confirmation)
    }

    /// What is open, and what becomes of it, for as long as the server says.
    pub(super) async fn watch_confirmations(&self) -> Result<Confirmations, Status> {
        let request = self.server.request(v1::WatchConfirmationsRequest::default());
        let mut client = ConfirmationServiceClient::new(self.server.channel());
        Ok(client.watch_confirmations(request).await?.into_inner().boxed())
    }

    pub(super) async fn call(&self, request: v1::GetCallRequest) -> Result<v1::GetCallResponse, Status> {
        self.answered(self.client.clone().get_call(self.server.request(request))).await
    }

    pub(super) async fn calls(&self, request: v1::ListCallsRequest) -> Result<v1::ListCallsResponse, Status> {
        self.answered(self.client.clone().list_calls(self.server.request(request))).await
    }

    pub(super) async fn audit(
        &self,
        request: v1::ListRecordsRequest,
    ) -> Result<v1::ListRecordsResponse, Status> {
        let mut client = AuditServiceClient::new(self.server.channel());
        self.answered(client.list_records(self.server.request(request))).await
    }

    /// Cancels one's own call. Whether there was one.
    pub(crate) async fn cancel(&self, call: v1::cancel_call_request::Call) -> Result<bool, Status> {
        let request = self.server.request(v1::CancelCallRequest { call: Some(call) });
        Ok(self.client.clone().cancel_call(request).await?.into_inner().cancelled)
    }

    /// Whether a service, or for an empty name the server as a whole, takes calls.
    pub(crate) async fn health(&self, service: &str) -> Result<ServingStatus, Status> {
        let request = self.server.request(HealthCheckRequest { service: service.to_owned() });
        Ok(HealthClient::new(self.server.channel()).check(request).await?.into_inner().status())
    }
}

fn without_confirmation() -> Status {
    Status::internal("the server answered without a confirmation")
}

/// The definition in an answer, which carries it encoded.
fn definition(encoded: &[u8]) -> Result<v1::ToolDefinition, Status> {
    if encoded.is_empty() {
        return Err(Status::internal("the server answered without a definition"));
    }
    v1::ToolDefinition::decode(encoded)
        .map_err(|error| Status::internal(format!("the server's definition cannot be read: {error}")))
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
        input: Some(wire::Input::ArgumentsJson(invocation.arguments)),
        context: Some(context),
        request_id: invocation.request_id.map(|id| id.to_string()).unwrap_or_default(),
        result_format: invocation.result_format.into(),
        max_tokens: invocation.max_tokens,
        wait_for_confirmation: invocation.wait_for_confirmation.map(convert::duration),
        require_confirmation: invocation.require_confirmation,
        ..v1::InvokeToolRequest::default()
    }
}

/// The channel watches grpc-timeout too, and calls its own timer a cancellation.
fn own_timer(status: Status) -> Status {
    match status.code() {
        Code::Cancelled if status.message() == "Timeout expired" => {
            Status::deadline_exceeded(Refusal::DeadlineExceeded.to_string())
        }
        _ => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v1::invoke_tool_request as wire;

    #[test]
    fn a_call_by_intent_becomes_the_request_with_exact_arguments() {
        let invocation = Invocation {
            target: Target::Intent("performance".to_owned()),
            arguments: r#"{"n":9007199254740993}"#.to_owned(),
            request_id: None,
            task_id: Some("t-1".parse().unwrap()),
            session_id: Some("s-1".parse().unwrap()),
            wait_for_confirmation: None,
            require_confirmation: true,
            deadline: None,
            result_format: v1::ResultFormat::Json,
            max_tokens: 0,
        };
        let request = message(invocation);
        let context = request.context.as_ref().unwrap();
        assert_eq!((context.task_id.as_str(), context.session_id.as_str()), ("t-1", "s-1"));
        assert_eq!(request.target, Some(wire::Target::Intent("performance".to_owned())));
        assert_eq!(request.input, Some(wire::Input::ArgumentsJson("{\"n\":9007199254740993}".to_owned())));
        assert_eq!((request.request_id.as_str(), request.result_format()), ("", v1::ResultFormat::Json));
        assert!(request.require_confirmation);
    }
}
