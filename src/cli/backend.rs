//! The services of a command, by their generated clients: those of a server or of this process. Commands do not
//! distinguish them.

mod documents;
mod invocation;

use std::time::Duration;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use prost::Message;
use tokio::time::timeout;
use tonic::{Response, Status, Streaming};

use super::{reasons::Reasons, wiring};
use toolwire_contract::proto::{
    agent::v1::{
        self as agent, agent_service_client::AgentServiceClient, job_service_client::JobServiceClient,
    },
    tasks::v1::task_service_client::TaskServiceClient,
    v1::{
        self, audit_service_client::AuditServiceClient,
        confirmation_service_client::ConfirmationServiceClient,
        provider_service_client::ProviderServiceClient, tool_service_client::ToolServiceClient,
    },
    workspace::v1::workspace_service_client::WorkspaceServiceClient,
};
use toolwire_server::{
    app::App,
    client::{self, Server},
    console::Failure,
};
use toolwire_tool::context::User;

pub(super) use invocation::{Events, Invocation};

/// Maximum size of a message from a server in bytes: the default of gRPC clients.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;

/// The events of a turn, or of the work on a task. Dropping them cancels it.
pub(super) type TurnEvents = BoxStream<'static, Result<agent::TurnEvent, Status>>;

/// The services that a command works with.
#[derive(Debug)]
pub(super) struct Backend {
    server: Server,
    /// The service, if this program answers by itself.
    own: Option<Own>,
    /// Maximum size of a message, in bytes.
    max_message: usize,
}

/// The service of this program, which has no listener.
#[derive(Debug)]
struct Own {
    app: App,
    /// No call lasts longer.
    cap: Duration,
}

/// Returns the response of an RPC, or reports its refusal.
pub(super) async fn into_answer<T>(
    call: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Failure> {
    call.await.map(Response::into_inner).map_err(|status| client::refusal(&status))
}

/// A part that every response has; its absence is a failure.
pub(super) fn require<T>(part: Option<T>) -> Result<T, Failure> {
    part.ok_or_else(|| client::refusal(&without("what was asked for")))
}

fn without(what: &str) -> Status {
    Status::internal(format!("the server answered without {what}"))
}

impl Backend {
    /// The services of a server.
    pub(super) fn of_server(server: Server) -> Self {
        Self { server, own: None, max_message: MAX_MESSAGE }
    }

    /// Those of this program, as this user.
    pub(super) fn of_program(app: App, user: User, cap: Duration) -> Self {
        let server = Server::within(app.routes(), user, cap);
        Self { server, own: Some(Own { app, cap }), max_message: usize::MAX }
    }

    /// Where requests go.
    pub(super) fn server(&self) -> Server {
        self.server.clone()
    }

    /// Whether the services are this program's own: their work ends with it.
    pub(super) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    pub(super) fn tools(&self) -> ToolServiceClient<Server> {
        ToolServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn confirmations(&self) -> ConfirmationServiceClient<Server> {
        ConfirmationServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn providers(&self) -> ProviderServiceClient<Server> {
        ProviderServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn audit(&self) -> AuditServiceClient<Server> {
        AuditServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn tasks(&self) -> TaskServiceClient<Server> {
        TaskServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn jobs(&self) -> JobServiceClient<Server> {
        JobServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn agent(&self) -> AgentServiceClient<Server> {
        AgentServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn documents(&self) -> WorkspaceServiceClient<Server> {
        WorkspaceServiceClient::new(self.server()).max_decoding_message_size(self.max_message)
    }

    /// The definitions of the tools that have all the given tags and words, in order of name.
    pub(super) async fn list(
        &self,
        tags: &[String],
        text: &str,
        view: v1::ToolView,
    ) -> Result<Vec<v1::ToolDefinition>, Status> {
        let (tags, text) = (tags.to_vec(), text.to_owned());
        let message = v1::ListToolsRequest { tags, text, view: view.into(), ..Default::default() };
        let mut stream = self.tools().list_tools(message).await?.into_inner();
        let mut tools = Vec::new();
        while let Some(response) = stream.message().await? {
            tools.push(definition(&response.tool)?);
        }
        Ok(tools)
    }

    /// The definition of a tool, its schemas as JSON text.
    pub(super) async fn describe(&self, name: &str) -> Result<v1::ToolDefinition, Status> {
        let message = v1::GetToolRequest { name: name.to_owned(), view: v1::ToolView::FullJson.into() };
        definition(&self.tools().get_tool(message).await?.into_inner().tool)
    }

    pub(super) async fn confirmation(&self, id: &str) -> Result<v1::Confirmation, Status> {
        let message = v1::GetConfirmationRequest { confirmation_id: id.to_owned(), wait: None };
        let answer = self.confirmations().get_confirmation(message).await?.into_inner();
        answer.confirmation.ok_or_else(|| without("a confirmation"))
    }

    pub(super) async fn decide(
        &self,
        message: v1::DecideConfirmationRequest,
    ) -> Result<v1::Confirmation, Status> {
        let answer = self.confirmations().decide_confirmation(message).await?.into_inner();
        answer.confirmation.ok_or_else(|| without("a confirmation"))
    }

    /// Begins or resumes a turn.
    pub(super) async fn chat(&self, input: agent::TurnInput) -> Result<TurnEvents, Status> {
        let message = agent::ChatStreamRequest { input: Some(input) };
        Ok(self.events(self.agent().chat_stream(message).await?, |response| response.event))
    }

    /// Works on a task.
    pub(super) async fn run_task(&self, message: agent::RunTaskRequest) -> Result<TurnEvents, Status> {
        Ok(self.events(self.agent().run_task(message).await?, |response| response.event))
    }

    pub(super) async fn cancel_job(&self, message: agent::CancelJobRequest) -> Result<(), Status> {
        self.jobs().cancel_job(message).await?;
        if let Some(Own { app, .. }) = &self.own {
            // The end of the job is reported by what carries it out.
            app.wait_drained().await;
        }
        Ok(())
    }

    /// Opens this program's own state, which records calls with a `request_id`. A problem of the state is thus printed
    /// to the user, rather than logged.
    pub(super) async fn open_state(&self) -> Result<(), Failure> {
        match &self.own {
            Some(own) => wiring::open_state(&own.app).await,
            None => Ok(()),
        }
    }

    /// Collects the reasons of failing sources, if there is no server whose log has them.
    pub(super) fn reasons(&self) -> Reasons {
        if self.is_own() { Reasons::listen() } else { Reasons::default() }
    }

    /// Waits for a write of this program that outlives its caller: with this program it would end in the middle.
    pub(super) async fn settle(&self) -> Result<(), Failure> {
        if let Some(Own { app, cap }) = &self.own {
            let _ = timeout(*cap, app.tools.in_flight().wait_until_empty()).await;
        }
        Ok(())
    }

    /// The events in the responses of a stream, which is [`cancellable`](Self::cancellable).
    fn events<R: Send + 'static, E: 'static>(
        &self,
        responses: Response<Streaming<R>>,
        event: fn(R) -> Option<E>,
    ) -> BoxStream<'static, Result<E, Status>> {
        let read = move |response: Result<R, Status>| {
            event(response?).ok_or_else(|| Status::internal("the server sent an empty message"))
        };
        self.cancellable(responses.into_inner().map(read).boxed())
    }

    /// The same stream. While it is read, other processes of the same state can cancel what this program carries out.
    pub(super) fn cancellable<T: 'static>(&self, mut stream: BoxStream<'static, T>) -> BoxStream<'static, T> {
        let Some(Own { app, .. }) = &self.own else { return stream };
        let app = app.clone();
        let mut follow = Box::pin(async move { app.follow_cancellations_once_seen().await });
        stream::poll_fn(move |cx| {
            // It never ends by itself.
            let _ = follow.as_mut().poll(cx);
            stream.poll_next_unpin(cx)
        })
        .boxed()
    }
}

/// The definition in an answer, which carries it encoded.
fn definition(encoded: &[u8]) -> Result<v1::ToolDefinition, Status> {
    if encoded.is_empty() {
        return Err(without("a definition"));
    }
    v1::ToolDefinition::decode(encoded)
        .map_err(|error| Status::internal(format!("the server's definition cannot be read: {error}")))
}
