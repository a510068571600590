//! `POST /copilotkit/action`: the action `chat`, a run carried out to its end, as one answer.

use axum::{
    extract::{Request, State},
    response::Response,
};
use http::StatusCode;
use serde_json::{Value, json};

use super::{active_run::ActiveRun, event::Event, input::Input};
use toolwire_server::faces::http::{json_answer, json_body::Text, problem::Problem, route::Http};

/// The only action.
const CHAT: &str = "chat";

/// Carries a run out, and answers with its end. A run that fails is a problem.
pub(super) async fn action(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let Some(input) = Input::of_action(&Text::read(body).await?, CHAT)? else {
        let detail = format!("the one action is {CHAT:?}");
        return Err(Problem::new("UNKNOWN_ACTION", StatusCode::BAD_REQUEST, detail));
    };
    let mut running = ActiveRun::begin(&http, &parts, input).await?;
    let mut end = Value::Null;
    while let Some(event) = running.next().await {
        match event {
            Event::StateSnapshot { snapshot } => end["state"] = snapshot,
            Event::RunFinished { thread_id, run_id, result, outcome, .. } => {
                end["threadId"] = thread_id.into();
                end["runId"] = run_id.into();
                end["result"] = result;
                end["outcome"] = outcome;
            }
            _ => {}
        }
    }
    if let Some(refusal) = running.failure() {
        return Err(refusal.clone().into());
    }
    let answer_body = json!({
        "threadId": end["threadId"],
        "runId": end["runId"],
        "newMessages": running.run.messages(),
        "state": end["state"],
        "result": end["result"],
        "outcome": end["outcome"],
    });
    Ok(json_answer::json(StatusCode::OK, &answer_body))
}
