//! `POST /agent/chat`, `POST /agent/stream`, `GET /agent/stream/{turn_id}`: a turn of a
//! conversation, with its reply at once or with its events as they come.

use std::time::Duration;

use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, value::RawValue};

use super::{
    chat_input::{self, ChatInput},
    json,
    turn::{self, TurnEvents},
};
use crate::service::turns::{BudgetWish, NewTurn, Say, Turns};
use toolwire_base::duration;
use toolwire_contract::{
    Refusal,
    proto::agent::v1::{TurnEvent, turn_event::Event},
};
use toolwire_server::{
    faces::{
        http::{
            json_answer,
            json_body::{Object, Text},
            problem::Problem,
            route::Http,
            sse,
        },
        incoming,
    },
    service::request::{self, refuse},
};

/// Names the turn of an answer.
pub(super) const TURN_ID: &str = "x-toolwire-turn-id";

/// The identifier of the end of a turn that is replayed without its events.
const END: &str = "end";

/// `POST /agent/chat`: 200 with the reply, 202 where persons must decide first.
pub(super) async fn chat(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let new = parse(request).await?;
    let event = turn::begin(&http.face.part::<Turns>(), new).await?.end().await?;
    Ok(reply(&event))
}

/// The end of a turn as an answer.
fn reply(event: &TurnEvent) -> Response {
    let (status, body) = match &event.event {
        Some(Event::Paused(paused)) => {
            let mut body = json::message(paused);
            body["turn_id"] = event.turn_id.clone().into();
            (StatusCode::ACCEPTED, body)
        }
        Some(Event::Final(reply)) => (StatusCode::OK, json::message(reply)),
        _ => (StatusCode::OK, Value::Null),
    };
    ([(TURN_ID, event.turn_id.clone())], json_answer::json(status, &body)).into_response()
}

/// `POST /agent/stream`: the same, with every event as it comes.
pub(super) async fn stream(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let last = LastEvent::read(request.headers())?;
    let new = parse(request).await?;
    // A running turn resumes where its reader was; a new one starts with its first event.
    let turns = http.face.part::<Turns>();
    let running = turns.running();
    let is_joined = new.request_id.is_some_and(|id| running.get(&new.context.user.id, id).is_some());
    let told = turn::begin(&http.face.part::<Turns>(), new).await?;
    Ok(events_after(told, last.filter(|last| is_joined || *last == LastEvent::End)))
}

/// `GET /agent/stream/{turn_id}`: the events of a turn that another request began; 204 if the reader has its end.
pub(super) async fn follow(
    State(http): State<Http>,
    Path(turn_id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let user = incoming::user(request.extensions());
    let last = LastEvent::read(request.headers())?;
    let told = turn::follow(&http.face.part::<Turns>(), &user, &turn_id).await?;
    Ok(events_after(told, last))
}

async fn parse(request: Request) -> Result<NewTurn, Refusal> {
    let (parts, body) = request.into_parts();
    let text = Text::read(body).await?;
    let (mut body, messages) = text.split(|_| true)?;
    let session = request::session_id("session_id", &body.text("session_id")?)?;
    let request_id = request::request_id("request_id", &body.text("request_id")?)?;
    let message = body.text("message")?;
    let messages = messages.filter(|messages| !is_empty(messages));
    let said = match messages {
        None => ChatInput { question: message.clone(), ..ChatInput::default() },
        Some(_) => chat_input::read("messages", messages)?,
    };
    let resume = body.object("resume")?.map(parse_resume).transpose()?;
    if [!message.is_empty(), messages.is_some(), resume.is_some()].into_iter().filter(|given| *given).count()
        != 1
    {
        return Err(refuse("message", "required", "one of message, messages and resume must be given"));
    }
    let account = body.text("account")?;
    let context = turn::context(&parts.extensions, session);
    let mut new = turn::new(context, said, account, request_id);
    if let Some(turn_id) = resume {
        new.say = Say::Resume(turn_id);
    }
    new.tags = body.texts("tags")?;
    if let Some(wished) = body.object("budget")? {
        new.budget = budget(wished)?;
    }
    body.finish()?;
    Ok(new)
}

/// Whether a list has no element.
fn is_empty(list: &RawValue) -> bool {
    list.get().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]")
}

fn parse_resume(mut resume: Object) -> Result<String, Refusal> {
    let turn_id = resume.text("turn_id")?;
    resume.finish()?;
    Ok(turn_id)
}

fn budget(mut wished: Object) -> Result<BudgetWish, Refusal> {
    let time = wished.text("max_time")?;
    let path = wished.path("max_time");
    let read = |text: &str| duration::parse(text).map_err(|what| refuse(&path, "format", &what.to_string()));
    let max_time: Option<Duration> = if time.is_empty() { None } else { Some(read(&time)?) };
    let budget = BudgetWish {
        max_steps: wished.number("max_steps")?,
        max_calls: wished.number("max_calls")?,
        max_tokens: wished.number("max_tokens")?,
        max_time,
    };
    wished.finish()?;
    Ok(budget)
}

/// The last event that a reader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastEvent {
    Sequence(u64),
    /// The end of a turn that had ended when it was requested.
    End,
}

impl LastEvent {
    fn read(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        match sse::last_event_id(headers)? {
            Some(END) => Ok(Some(Self::End)),
            _ => Ok(sse::last_sequence(headers)?.map(Self::Sequence)),
        }
    }
}

/// The events that a reader lacks; 204 if it has the end of a turn that has ended.
fn events_after(told: TurnEvents, last: Option<LastEvent>) -> Response {
    match last {
        Some(LastEvent::End) if matches!(told, TurnEvents::Ended(_)) => {
            StatusCode::NO_CONTENT.into_response()
        }
        Some(LastEvent::Sequence(sequence)) => events(told, Some(sequence)),
        Some(LastEvent::End) | None => events(told, None),
    }
}

/// The events of a turn after one of them.
fn events(told: TurnEvents, after: Option<u64>) -> Response {
    let is_whole = matches!(told, TurnEvents::Running(_));
    let next = move |mut told: TurnEvents| async move {
        loop {
            let event = match told.next().await? {
                Ok(event) if is_whole && after.is_some_and(|after| event.sequence <= after) => continue,
                Ok(event) => serialise_event(&event, is_whole),
                Err(refusal) => failure_event(refusal),
            };
            return Some((event, told));
        }
    };
    sse::response(stream::unfold(told, next).boxed())
}

fn serialise_event(event: &TurnEvent, is_whole: bool) -> sse::Event {
    let name = match &event.event {
        Some(Event::Started(_)) => "started",
        Some(Event::Plan(_)) => "plan",
        Some(Event::ToolCallStarted(_)) => "tool_call_started",
        Some(Event::ToolCallProgress(_)) => "tool_call_progress",
        Some(Event::ToolCallFinished(_)) => "tool_call_finished",
        Some(Event::AnswerDelta(_)) => "answer_delta",
        Some(Event::Citations(_)) => "citations",
        Some(Event::Validation(_)) => "validation",
        Some(Event::Alert(_)) => "alert",
        Some(Event::Progress(_)) | None => "progress",
        Some(Event::Paused(_)) => "paused",
        Some(Event::Final(_)) => "final",
    };
    let id = if is_whole { event.sequence.to_string() } else { END.to_owned() };
    sse::Event { id: Some(id), event: name, data: json::message(event).to_string() }
}

/// The last event of a turn that ended without one.
fn failure_event(refusal: Refusal) -> sse::Event {
    sse::Event { id: None, event: "error", data: Problem::from(refusal).to_json() }
}
