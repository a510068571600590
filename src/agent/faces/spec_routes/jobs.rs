//! `/api/jobs/{id}` and `/api/jobs/{id}/status`: a job's status, and its events.

use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use http::{HeaderMap, StatusCode, header::ACCEPT};
use serde_json::{Value, json};

use super::json;
use crate::{
    faces::job_message::render,
    service::jobs::{Jobs, Watch, WatchEvent},
};
use toolwire_base::accept::Accept;
use toolwire_contract::{convert::ResultFormat, proto::agent::v1::JobState};
use toolwire_server::{
    faces::{
        http::{json_answer, problem::Problem, route::Http, sse},
        incoming,
    },
    service::changes::read_ahead,
};
use toolwire_state::jobs::{Event, Job};

/// `GET /api/jobs/{id}`: the job as it stands.
pub(super) async fn get(
    State(http): State<Http>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let user = incoming::user(request.extensions());
    let job = http.face.part::<Jobs>().get(&user, &id).await?;
    Ok(json_answer::json(StatusCode::OK, &serialise_job(job)))
}

/// `DELETE /api/jobs/{id}`: cancels the job; of one that has ended nothing changes.
pub(super) async fn cancel(
    State(http): State<Http>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let extensions = request.extensions();
    let user = incoming::user(extensions);
    let job = incoming::record_doing(extensions, http.face.part::<Jobs>().cancel(&user, &id)).await?;
    Ok(json_answer::json(StatusCode::OK, &serialise_job(job)))
}

/// `GET /api/jobs/{id}/status`: the events of a job, from its beginning or after `Last-Event-ID`; 204 to a reader who
/// has all of them, so that a browser does not reconnect. With `Accept: application/json` the job as it is.
pub(super) async fn status(
    state: State<Http>,
    path: Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    if wants_json(headers) {
        return get(state, path, request).await;
    }
    let after = sse::last_sequence(headers)?;
    let (State(http), Path(id)) = (state, path);
    let user = incoming::user(request.extensions());
    let job = http.face.part::<Jobs>().get(&user, &id).await?;
    if job.ended_at.is_some() && after.is_some_and(|after| after + 1 == job.next) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let name = user.id.clone();
    let watch = http.face.part::<Jobs>().watch(user, &id, after).await?;
    Ok(sse::response(read_ahead(&name, stream::unfold(Some(watch), next))))
}

/// Whether a caller asks for JSON and not for events, which are the default.
fn wants_json(headers: &HeaderMap) -> bool {
    let accept = Accept::read(headers.get_all(ACCEPT).iter().filter_map(|field| field.to_str().ok()));
    accept.takes("application/json") && !accept.takes("text/event-stream")
}

/// The next event of a watch. A watch that fails ends with the reason.
async fn next(watch: Option<Watch>) -> Option<(sse::Event, Option<Watch>)> {
    let mut watch = watch?;
    loop {
        return match watch.next().await {
            Ok(Some(WatchEvent::Event(event, ended))) => {
                Some((serialise_event(event, ended.map(|job| *job)), Some(watch)))
            }
            // The stream of events has its own keep-alive.
            Ok(Some(WatchEvent::Heartbeat)) => continue,
            Ok(None) => None,
            Err(refusal) => {
                let data = Problem::from(refusal).to_json();
                Some((sse::Event { id: None, event: "error", data }, None))
            }
        };
    }
}

fn serialise_event(event: Event, ended: Option<Job>) -> sse::Event {
    let Event { sequence, said, .. } = event;
    let mut data = json!({
        "percent": said.percent,
        "step": said.step,
        "message": said.message,
        "line": format!("[{}%] {}", said.percent, said.message),
    });
    if !said.call_id.is_empty() {
        data["call_id"] = said.call_id.into();
    }
    let mut name = "progress";
    if let Some(job) = ended {
        let job = render(job, ResultFormat::Json);
        name = match job.state() {
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
            _ => "done",
        };
        data["error"] = job.error.as_ref().map_or(Value::Null, json::message);
        data["result"] = json::parse_embedded(&job.result_json);
    }
    sse::Event { id: Some(sequence.to_string()), event: name, data: data.to_string() }
}

fn serialise_job(job: Job) -> Value {
    json::message(&render(job, ResultFormat::Json))
}
