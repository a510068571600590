//! `toolwire.agent.v1.AgentService`: conversations. How is in `agent`.

use futures_util::{StreamExt, stream::BoxStream};
use tonic::{Request, Response, Status};

use super::{agent, face::Face, service::Service};
use crate::faces::{
    incoming,
    transport::rules::{Pool, Rule},
};
use toolwire_contract::{
    Refusal,
    proto::agent::v1::{
        CancelTurnRequest, CancelTurnResponse, ChatRequest, ChatResponse, ChatStreamRequest,
        ChatStreamResponse, GetTurnRequest, GetTurnResponse, ListTurnsRequest, ListTurnsResponse,
        RunTaskRequest, RunTaskResponse, TurnInput,
        agent_service_server::{AgentService, AgentServiceServer},
    },
};
use toolwire_tool::context::ToolContext;

pub(super) fn service() -> Service {
    super::service!(AgentServiceServer, |face| face.clone())
        // It makes room, as every cancellation does.
        .except("CancelTurn", Rule { pool: Pool::Free, ..Rule::USER })
        // As long as its tasks take; a drain ends it, and it is run again elsewhere.
        .except("RunTask", Rule::WATCH)
}

#[tonic::async_trait]
impl AgentService for Face {
    type ChatStreamStream = BoxStream<'static, Result<ChatStreamResponse, Status>>;
    type RunTaskStream = BoxStream<'static, Result<RunTaskResponse, Status>>;
    type ListTurnsStream = BoxStream<'static, Result<ListTurnsResponse, Status>>;

    async fn chat(&self, request: Request<ChatRequest>) -> Result<Response<ChatResponse>, Status> {
        let (context, input) = turn(request, |it| it.input)?;
        Ok(Response::new(agent::chat(&self.turns, context, input).await?))
    }

    async fn chat_stream(
        &self,
        request: Request<ChatStreamRequest>,
    ) -> Result<Response<Self::ChatStreamStream>, Status> {
        let (context, input) = turn(request, |it| it.input)?;
        let events = agent::chat_stream(&self.turns, context, input).await?;
        let event = |event: Result<_, Status>| event.map(|event| ChatStreamResponse { event: Some(event) });
        Ok(Response::new(events.map(event).boxed()))
    }

    async fn get_turn(&self, request: Request<GetTurnRequest>) -> Result<Response<GetTurnResponse>, Status> {
        let user = incoming::user(request.extensions());
        let turn = agent::get(&self.turns, &user, &request.into_inner().turn_id).await?;
        Ok(Response::new(GetTurnResponse { turn: Some(turn) }))
    }

    async fn list_turns(
        &self,
        request: Request<ListTurnsRequest>,
    ) -> Result<Response<Self::ListTurnsStream>, Status> {
        let user = incoming::user(request.extensions());
        let turns = agent::list(&self.turns, user, &request.into_inner().session_id)?;
        let turn = |turn: Result<_, Status>| turn.map(|turn| ListTurnsResponse { turn: Some(turn) });
        Ok(Response::new(turns.map(turn).boxed()))
    }

    async fn cancel_turn(
        &self,
        request: Request<CancelTurnRequest>,
    ) -> Result<Response<CancelTurnResponse>, Status> {
        let user = incoming::user(request.extensions());
        let cancelled = agent::cancel(&self.turns, &user, request.into_inner().which).await?;
        Ok(Response::new(CancelTurnResponse { cancelled }))
    }

    async fn run_task(
        &self,
        request: Request<RunTaskRequest>,
    ) -> Result<Response<Self::RunTaskStream>, Status> {
        let (_, context) = incoming::caller(request.extensions());
        let events = agent::run_task(&self.runs, context, request.into_inner()).await?;
        let event = |event: Result<_, Status>| event.map(|event| RunTaskResponse { event: Some(event) });
        Ok(Response::new(events.map(event).boxed()))
    }
}

/// What is asked for, by whom, and until when.
fn turn<T>(
    request: Request<T>,
    input: impl FnOnce(T) -> Option<TurnInput>,
) -> Result<(ToolContext, TurnInput), Refusal> {
    let (_, extensions, message) = request.into_parts();
    let mut input = input(message).unwrap_or_default();
    let (_, mut context) = incoming::caller(&extensions);
    incoming::context(&mut context, input.context.take().unwrap_or_default()).map_err(agent::of_input)?;
    Ok((context, input))
}
