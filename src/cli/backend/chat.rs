//! Conversations of either backend: those of a server, or those of this program's own state.

use futures_util::StreamExt;
use tonic::Status;

use super::{Backend, Local, Remote};
use toolwire_base::clock;
use toolwire_contract::proto::agent::v1::{
    CancelTurnRequest, ChatStreamRequest, ChatStreamResponse, RunTaskRequest, RunTaskResponse, TurnInput,
    agent_service_client::AgentServiceClient, cancel_turn_request::Which,
};
use toolwire_server::{
    faces::grpc::agent::{self, Events},
    service::request,
};
use toolwire_tool::context::ToolContext;

impl Backend {
    /// Begins a turn, or goes on with one. Dropping its events cancels it.
    pub(crate) async fn chat(&self, input: TurnInput) -> Result<Events, Status> {
        match self {
            Self::Remote(remote) => remote.chat(input).await,
            Self::Local(local) => local.chat(input).await,
        }
    }
}

impl Backend {
    /// Works on a task. Dropping the events stops that.
    pub(crate) async fn run_task(&self, request: RunTaskRequest) -> Result<Events, Status> {
        match self {
            Self::Remote(remote) => {
                let mut client = AgentServiceClient::new(remote.channel());
                let events = remote.answered(client.run_task(remote.message(request))).await?;
                let event = |response: Result<RunTaskResponse, Status>| response?.event.ok_or_else(empty);
                Ok(events.map(event).boxed())
            }
            Self::Local(local) => {
                let context = ToolContext::new(local.user.clone(), clock::now() + local.cap);
                Ok(local.cancellable(agent::run_task(&local.app.runs, context, request).await?))
            }
        }
    }

    /// Cancels a turn that runs, or waits, with what it waits for. Whether it did.
    pub(crate) async fn cancel_turn(&self, turn_id: &str) -> Result<bool, Status> {
        let which = Some(Which::TurnId(turn_id.to_owned()));
        match self {
            Self::Remote(remote) => {
                let request = remote.message(CancelTurnRequest { which });
                let mut client = AgentServiceClient::new(remote.channel());
                Ok(remote.answered(client.cancel_turn(request)).await?.cancelled)
            }
            Self::Local(local) => Ok(agent::cancel(&local.app.turns, &local.user, which).await?),
        }
    }
}

impl Remote {
    async fn chat(&self, input: TurnInput) -> Result<Events, Status> {
        let request = self.message(ChatStreamRequest { input: Some(input) });
        let mut client = AgentServiceClient::new(self.channel());
        let events = self.answered(client.chat_stream(request)).await?;
        let event = |response: Result<ChatStreamResponse, Status>| response?.event.ok_or_else(empty);
        Ok(events.map(event).boxed())
    }
}

fn empty() -> Status {
    Status::internal("the server sent an empty message")
}

impl Local {
    async fn chat(&self, mut input: TurnInput) -> Result<Events, Status> {
        let session_id = input.context.take().unwrap_or_default().session_id;
        let context = ToolContext {
            session_id: request::session_id("session_id", &session_id)?,
            ..ToolContext::new(self.user.clone(), clock::now() + self.cap)
        };
        Ok(self.cancellable(agent::chat_stream(&self.app.turns, context, input).await?))
    }
}
