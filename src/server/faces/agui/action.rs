//! `POST /copilotkit/action` (specification 003): the action `chat`, a run carried out to its end, as one answer.

use axum::{
    extract::{Request, State},
    response::Response,
};
use http::StatusCode;
use serde_json::{Value, json};

use super::{event::Event, input::Input, running::Running};
use crate::faces::{
    http::{problem::Problem, route::Http},
    spec_routes::{answer, body::Text},
};

/// The only action.
const CHAT: &str = "chat";

/// A run as one answer. One that fails is a problem.
pub(super) async fn action(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let Some(input) = Input::of_action(&Text::read(body).await?, CHAT)? else {
        let detail = format!("the one action is {CHAT:?}");
        return Err(Problem::new("UNKNOWN_ACTION", StatusCode::BAD_REQUEST, detail));
    };
    let mut running = Running::begin(&http, &parts, input).await?;
    let mut said = Value::Null;
    while let Some(event) = running.next().await {
        match event {
            Event::StateSnapshot { snapshot } => said["state"] = snapshot,
            Event::RunFinished { thread_id, run_id, result, outcome, .. } => {
                said["threadId"] = thread_id.into();
                said["runId"] = run_id.into();
                said["result"] = result;
                said["outcome"] = outcome;
            }
            _ => {}
        }
    }
    if let Some(refusal) = running.failure() {
        return Err(refusal.clone().into());
    }
    let answered = json!({
        "threadId": said["threadId"],
        "runId": said["runId"],
        "newMessages": running.run.messages(),
        "state": said["state"],
        "result": said["result"],
        "outcome": said["outcome"],
    });
    Ok(answer::json(StatusCode::OK, &answered))
}
