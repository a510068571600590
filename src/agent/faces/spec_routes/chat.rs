//! `POST /api/chat` and `GET /api/traces/{turn_id}`: an answer, and how it came about.

use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use http::StatusCode;
use prost::Message;

use super::{chat_input::ChatInput, conversation::TURN_ID, json, turn};
use crate::service::turns::{TurnView, Turns};
use toolwire_contract::{
    Refusal,
    proto::agent::v1::{Reply, turn_event::Event},
};
use toolwire_server::{
    faces::{
        http::{json_answer, json_body::Object, problem::Problem, route::Http},
        incoming,
    },
    service::request,
};
use toolwire_state::sessions::State as Kept;

/// `POST /api/chat`: the five members of an answer and nothing else; 202 with what is pending where persons must
/// decide first.
pub(super) async fn chat(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let mut body = Object::read(body, http.face.max_request_bytes).await?;
    let said = ChatInput { question: body.text("message")?, ..ChatInput::default() };
    let account = body.text("account")?;
    let session = request::session_id("session_id", &body.text("session_id")?)?;
    body.finish()?;
    let new = turn::new(turn::context(&parts.extensions, session), said, account, None);
    let event = turn::begin(&http.face.part::<Turns>(), new).await?.end().await?;
    let (status, body, warnings) = match &event.event {
        Some(Event::Final(Reply { response: Some(response), warnings, .. })) => {
            (StatusCode::OK, json::message(response), warnings.as_slice())
        }
        Some(Event::Paused(paused)) => (StatusCode::ACCEPTED, json::message(paused), &[][..]),
        _ => return Err(Refusal::Internal { call_id: event.turn_id.clone() }.into()),
    };
    let answer = json_answer::with_warnings(json_answer::json(status, &body), warnings);
    Ok(([(TURN_ID, event.turn_id.clone())], answer).into_response())
}

/// `GET /api/traces/{turn_id}`: which tools a turn called, with which parameters, and how long each took.
pub(super) async fn trace(
    State(http): State<Http>,
    Path(turn_id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let user = incoming::user(request.extensions());
    let not_ended = |what: &str| {
        let detail = format!("the turn {what}: its trace is there once it has ended");
        Problem::new("TURN_NOT_ENDED", StatusCode::CONFLICT, detail)
    };
    let kept = match http.face.part::<Turns>().get(&user, &turn_id).await? {
        TurnView::Running { .. } => return Err(not_ended("is running")),
        TurnView::Kept(kept) if kept.state != Kept::Ended => return Err(not_ended("has no end")),
        TurnView::Kept(kept) => kept,
    };
    let reply = Reply::decode(kept.reply.as_slice()).unwrap_or_default();
    Ok(json_answer::json(StatusCode::OK, &json::message(&reply.trace.unwrap_or_default())))
}
