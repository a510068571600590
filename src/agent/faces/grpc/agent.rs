//! `toolwire.agent.v1.AgentService`: conversations, and tasks that the server works on itself.

mod forms;
mod requests;
mod turns;

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tonic::{Request, Response, Status};

use super::{Answered, Streamed, split};
use crate::{
    log::Reader,
    service::{
        runs::{NewRun, Runs},
        turns::{Begun, NewTurn, Turns},
    },
};
use toolwire_contract::{
    Refusal,
    convert::ResultFormat,
    proto::agent::v1::{
        self, TurnEvent,
        agent_service_server::{AgentService, AgentServiceServer},
        chat_response::End,
        turn_event::Event,
    },
};
use toolwire_server::{
    faces::{
        grpc::{self, Face, Service},
        incoming,
    },
    service::changes::read_ahead,
};
use toolwire_transport::rules::{Pool, Rule};

/// The service, over the turns and runs of a face.
struct Conversations {
    face: Face,
}

pub fn service() -> Service {
    grpc::service!(AgentServiceServer, |face| Conversations { face: face.clone() })
        // Never shed: it frees resources, as every cancellation does.
        .except("CancelTurn", Rule { pool: Pool::Free, ..Rule::USER })
        // It lasts as long as its tasks; a drain ends it, and another server runs the task again.
        .except("RunTask", Rule::WATCH)
}

#[tonic::async_trait]
impl AgentService for Conversations {
    type ChatStreamStream = Streamed<v1::ChatStreamResponse>;
    type RunTaskStream = Streamed<v1::RunTaskResponse>;
    type ListTurnsStream = Streamed<v1::ListTurnsResponse>;

    async fn chat(&self, request: Request<v1::ChatRequest>) -> Answered<v1::ChatResponse> {
        let (_, from, v1::ChatRequest { input }) = split(request);
        let (new, format) = requests::turn(&from, input)?;
        let mut events = begin(&self.face, new, format).await?;
        while let Some(event) = events.next().await {
            let TurnEvent { turn_id, event, .. } = event?;
            let end = match event {
                Some(Event::Final(reply)) => End::Reply(reply),
                Some(Event::Paused(paused)) => End::Paused(paused),
                _ => continue,
            };
            return Ok(Response::new(v1::ChatResponse { turn_id, end: Some(end) }));
        }
        Err(Refusal::CallerGone.into())
    }

    /// Dropping the events cancels the turn.
    async fn chat_stream(&self, request: Request<v1::ChatStreamRequest>) -> Answered<Self::ChatStreamStream> {
        let (_, from, v1::ChatStreamRequest { input }) = split(request);
        let (new, format) = requests::turn(&from, input)?;
        let events = begin(&self.face, new, format).await?;
        let response = |event: Result<_, _>| event.map(|event| v1::ChatStreamResponse { event: Some(event) });
        Ok(Response::new(events.map(response).boxed()))
    }

    async fn get_turn(&self, request: Request<v1::GetTurnRequest>) -> Answered<v1::GetTurnResponse> {
        let (user, _, v1::GetTurnRequest { turn_id }) = split(request);
        let turn = turns::render(self.face.part::<Turns>().get(&user, &turn_id).await?);
        Ok(Response::new(v1::GetTurnResponse { turn: Some(turn) }))
    }

    /// The oldest first, the one that runs last.
    async fn list_turns(&self, request: Request<v1::ListTurnsRequest>) -> Answered<Self::ListTurnsStream> {
        let (user, _, v1::ListTurnsRequest { session_id }) = split(request);
        let session = requests::session(&session_id)?;
        let running = self.face.part::<Turns>().running_of(&user, &session).map(turns::render);
        let name = user.id.clone();
        let next = Arc::new((self.face.part::<Turns>(), user, session));
        let kept = stream::unfold(Some(0), move |after: Option<i64>| {
            let of = Arc::clone(&next);
            async move {
                let (all, user, session) = &*of;
                match all.page(user, session, after?).await {
                    Ok((page, _)) if page.is_empty() => None,
                    Ok((page, last)) => {
                        Some((page.iter().map(|kept| Ok(turns::short(kept))).collect(), Some(last)))
                    }
                    Err(refusal) => Some((vec![Err(Status::from(refusal))], None)),
                }
            }
        });
        let all = kept.flat_map(stream::iter).chain(stream::iter(running.map(Ok)));
        let response = |turn: Result<_, _>| turn.map(|turn| v1::ListTurnsResponse { turn: Some(turn) });
        Ok(Response::new(read_ahead(&name, all.map(response))))
    }

    async fn cancel_turn(&self, request: Request<v1::CancelTurnRequest>) -> Answered<v1::CancelTurnResponse> {
        let (user, _, v1::CancelTurnRequest { which }) = split(request);
        let cancelled = self.face.part::<Turns>().cancel(&user, &requests::cancel_target(which)?).await?;
        Ok(Response::new(v1::CancelTurnResponse { cancelled }))
    }

    /// Dropping the events stops the work.
    async fn run_task(&self, request: Request<v1::RunTaskRequest>) -> Answered<Self::RunTaskStream> {
        let (_, from, message) = split(request);
        let (_, context) = incoming::caller(&from);
        let (format, budget) = (message.result_format().into(), requests::wish(message.budget)?);
        let new = NewRun { context, task_id: message.task_id, budget };
        let (_, reader) = self.face.part::<Runs>().begin(new).await?;
        let response = |event: Result<_, _>| event.map(|event| v1::RunTaskResponse { event: Some(event) });
        Ok(Response::new(events(reader, format).map(response).boxed()))
    }
}

/// Begins or resumes a turn. Dropping its events cancels it.
async fn begin(face: &Face, new: NewTurn, format: ResultFormat) -> Result<Streamed<TurnEvent>, Refusal> {
    match face.part::<Turns>().begin(new).await.map_err(requests::within_input)? {
        Begun::Runs(_, reader) => Ok(events(reader, format)),
        Begun::Kept(kept) => Ok(stream::iter([Ok(turns::end_event(&kept, format))]).boxed()),
    }
}

fn events(reader: Reader, format: ResultFormat) -> Streamed<TurnEvent> {
    let next = move |mut reader: Reader| async move {
        let event = match reader.next().await? {
            Ok(event) => Ok(forms::event_in(Arc::unwrap_or_clone(event), format)),
            Err(refusal) => Err(Status::from(refusal)),
        };
        Some((event, reader))
    };
    stream::unfold(reader, next).boxed()
}
