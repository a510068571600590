//! Conversations on the wire: requests read, events and turns rendered in the wanted form. The command line, over the
//! service in its own process, speaks the same.

use std::sync::Arc;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use prost::Message;
use tonic::Status;

use super::agent_forms::{event_in, paused_in, reply_in};
use crate::service::{
    request::{self, refuse},
    runs::{NewRun, Runs},
    turns::{Begun, BudgetWish, Looked, NewTurn, Say, Turns, Which, end_of},
};
use toolwire_agent::log::Reader;
use toolwire_base::clock;
use toolwire_contract::{
    Refusal, Violation,
    convert::{ResultFormat, timestamp},
    proto::{
        agent::v1::{
            self, TurnEvent, TurnInput, TurnState, cancel_turn_request::Which as Named, chat_response, turn,
            turn_event::Event, turn_input::Say as Wire,
        },
        v1 as envelope,
    },
};
use toolwire_store::sessions::{KeptTurn, State};
use toolwire_tool::context::{ToolContext, User};

/// The events of a turn. Dropping them cancels it.
pub type Events = BoxStream<'static, Result<TurnEvent, Status>>;

/// Begins a turn, or goes on with one: its events in the wanted form.
pub async fn chat_stream(turns: &Turns, context: ToolContext, input: TurnInput) -> Result<Events, Refusal> {
    let format = envelope::ResultFormat::try_from(input.result_format).unwrap_or_default();
    if format == envelope::ResultFormat::Model {
        let what =
            "must be RESULT_FORMAT_STRUCT or RESULT_FORMAT_JSON: the results of a turn have no other form";
        return Err(of_input(refuse("result_format", "enum", what)));
    }
    let format = format.into();
    let new = read(context, input).map_err(of_input)?;
    match turns.begin(new).await.map_err(of_input)? {
        Begun::Runs(_, reader) => Ok(events(reader, format)),
        Begun::Kept(kept) => Ok(stream::iter([Ok(told(&kept, format))]).boxed()),
    }
}

/// Carries a turn out to its end.
pub async fn chat(turns: &Turns, context: ToolContext, input: TurnInput) -> Result<v1::ChatResponse, Status> {
    let mut events = chat_stream(turns, context, input).await?;
    while let Some(event) = events.next().await {
        let TurnEvent { turn_id, event, .. } = event?;
        let end = match event {
            Some(Event::Final(reply)) => chat_response::End::Reply(reply),
            Some(Event::Paused(paused)) => chat_response::End::Paused(paused),
            _ => continue,
        };
        return Ok(v1::ChatResponse { turn_id, end: Some(end) });
    }
    Err(Refusal::CallerGone.into())
}

/// Works on a task: its events in the wanted form. Dropping them stops the work.
pub async fn run_task(
    runs: &Runs,
    context: ToolContext,
    message: v1::RunTaskRequest,
) -> Result<Events, Refusal> {
    let format = envelope::ResultFormat::try_from(message.result_format).unwrap_or_default().into();
    let budget = wish(message.budget)?;
    let (_, reader) = runs.begin(NewRun { context, task_id: message.task_id, budget }).await?;
    Ok(events(reader, format))
}

pub async fn get(turns: &Turns, user: &User, turn_id: &str) -> Result<v1::Turn, Refusal> {
    Ok(match turns.get(user, turn_id).await? {
        running @ Looked::Running { .. } => looked(running),
        Looked::Kept(kept) => whole(&kept),
    })
}

/// The turns of a session, the oldest first, the one that runs last.
pub fn list(
    turns: &Turns,
    user: User,
    session_id: &str,
) -> Result<BoxStream<'static, Result<v1::Turn, Status>>, Refusal> {
    let session = request::session_id("session_id", session_id)?;
    let session = session.ok_or_else(|| refuse("session_id", "required", "must name a session"))?;
    let running = turns.running_of(&user, &session).map(looked);
    let turns = turns.clone();
    let next = async move |after: Option<i64>| {
        let after = after?;
        match turns.page(&user, &session, after).await {
            Ok((page, _)) if page.is_empty() => None,
            Ok((page, last)) => {
                let page: Vec<_> = page.iter().map(|kept| Ok(short(kept))).collect();
                Some((page, Some(last)))
            }
            Err(refusal) => Some((vec![Err(refusal.into())], None)),
        }
    };
    let next = Arc::new(next);
    let kept = stream::unfold(Some(0), move |after| {
        let next = Arc::clone(&next);
        async move { next(after).await }
    });
    Ok(kept.flat_map(stream::iter).chain(stream::iter(running.map(Ok))).boxed())
}

/// Cancels a turn, or what runs or waits in a session.
pub async fn cancel(turns: &Turns, user: &User, which: Option<Named>) -> Result<bool, Refusal> {
    let which = match which {
        Some(Named::TurnId(id)) => Which::Turn(id),
        Some(Named::SessionId(id)) => {
            let session = request::session_id("session_id", &id)?;
            Which::Session(session.ok_or_else(|| refuse("session_id", "required", "must name a session"))?)
        }
        None => return Err(refuse("which", "required", "must be turn_id or session_id")),
    };
    turns.cancel(user, &which).await
}

/// What is asked for. Its context has identity, deadline, session and attributes already.
fn read(context: ToolContext, input: TurnInput) -> Result<NewTurn, Refusal> {
    let say = match input.say {
        Some(Wire::Message(message)) => Say::Message(message),
        Some(Wire::Resume(resume)) => Say::Resume(resume.turn_id),
        None => return Err(refuse("say", "required", "must be message or resume")),
    };
    Ok(NewTurn {
        context,
        say,
        account: input.account,
        request_id: request::request_id("request_id", &input.request_id)?,
        tags: input.tags,
        unread: Vec::new(),
        before: Vec::new(),
        budget: wish(input.budget)?,
    })
}

/// What may be spent at most.
fn wish(budget: Option<v1::TurnBudget>) -> Result<BudgetWish, Refusal> {
    let budget = budget.unwrap_or_default();
    Ok(BudgetWish {
        max_steps: budget.max_steps,
        max_calls: budget.max_calls,
        max_tokens: budget.max_tokens,
        max_time: request::wait("budget.max_time", budget.max_time)?,
    })
}

/// What is wrong with a request, by the path of its field: all of it is in `input`.
pub(super) fn of_input(refusal: Refusal) -> Refusal {
    let Refusal::InvalidRequest(violations) = refusal else { return refusal };
    let within = |it: Violation| Violation { pointer: format!("input.{}", it.pointer), ..it };
    Refusal::InvalidRequest(violations.into_iter().map(within).collect())
}

fn events(reader: Reader, format: ResultFormat) -> Events {
    let next = move |mut reader: Reader| async move {
        let event = match reader.next().await? {
            Ok(event) => Ok(event_in(Arc::unwrap_or_clone(event), format)),
            Err(refusal) => Err(Status::from(refusal)),
        };
        Some((event, reader))
    };
    stream::unfold(reader, next).boxed()
}

/// The one event of a turn that ended before.
fn told(kept: &KeptTurn, format: ResultFormat) -> TurnEvent {
    let event = TurnEvent {
        turn_id: kept.turn_id.to_string(),
        event_time: Some(timestamp(clock::wall())),
        event: Some(end_of(kept)),
        ..TurnEvent::default()
    };
    event_in(event, format)
}

fn looked(looked: Looked) -> v1::Turn {
    match looked {
        Looked::Running { turn_id, session, message, since } => v1::Turn {
            turn_id: turn_id.to_string(),
            session_id: session.to_string(),
            state: TurnState::Running.into(),
            message,
            created_at: Some(timestamp(since)),
            ..v1::Turn::default()
        },
        Looked::Kept(kept) => whole(&kept),
    }
}

/// A turn with everything that is kept of it.
fn whole(kept: &KeptTurn) -> v1::Turn {
    let end = match kept.state {
        State::Ended => {
            let reply = v1::Reply::decode(kept.reply.as_slice()).unwrap_or_default();
            Some(turn::End::Reply(reply_in(reply, ResultFormat::Struct)))
        }
        State::Paused => {
            let paused = v1::Paused::decode(kept.reply.as_slice()).unwrap_or_default();
            Some(turn::End::Paused(paused_in(paused, ResultFormat::Struct)))
        }
        State::Cancelled => None,
    };
    let state = match kept.state {
        State::Paused => TurnState::Paused,
        State::Ended => TurnState::Ended,
        State::Cancelled => TurnState::Cancelled,
    };
    v1::Turn {
        turn_id: kept.turn_id.to_string(),
        session_id: kept.session.to_string(),
        state: state.into(),
        message: kept.message.clone(),
        created_at: Some(timestamp(kept.created_at)),
        ended_at: Some(timestamp(kept.ended_at)),
        end,
    }
}

/// A turn without what its answer was made from.
fn short(kept: &KeptTurn) -> v1::Turn {
    let mut turn = whole(kept);
    if let Some(turn::End::Reply(reply)) = &mut turn.end {
        reply.tool_results.clear();
        reply.context = None;
        reply.trace = None;
        reply.validation = None;
    }
    turn
}
