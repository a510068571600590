//! `POST /copilotkit/stream`: AG-UI's own transport, a `RunAgentInput` in and its events out.

use axum::{
    extract::{Request, State},
    response::Response,
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tonic::Status;

use super::{active_run::ActiveRun, event::Event, input::Input};
use toolwire_server::faces::http::{LastWord, json_body::Text, problem::Problem, route::Http, sse};

/// A run, event by event.
pub(super) async fn stream(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let input = Input::read(&Text::read(body).await?)?;
    let running = ActiveRun::begin(&http, &parts, input).await?;
    let next = async |(mut running, at): (ActiveRun, u64)| {
        let data = text(&running.next().await?);
        let event = sse::Event { id: Some(at.to_string()), event: "", data };
        Some((event, (running, at + 1)))
    };
    let mut response = sse::response(stream::unfold((running, 0), next).boxed());
    response.extensions_mut().insert(LastWord(broken_off));
    Ok(response)
}

fn text(event: &Event) -> String {
    serde_json::to_string(event).expect("its members are texts and JSON")
}

/// The end of a run that a layer above cuts off.
fn broken_off(status: Status) -> Bytes {
    let message = status.message().to_owned();
    let code = Problem::from(status).code().to_owned();
    format!("data: {}\n\n", text(&Event::RunError { message, code })).into()
}
