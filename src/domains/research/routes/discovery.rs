//! `POST /api/discovery`: starts a discovery, which is followed by `/api/jobs/{id}/status`.

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header::LOCATION};
use serde_json::json;

use crate::proto::v1::{StartDiscoveryRequest, discovery_service_client::DiscoveryServiceClient};
use toolwire_base::duration;
use toolwire_contract::{Refusal, convert, proto::v1::ToolContext};
use toolwire_server::{
    faces::http::{json_answer, json_body::Object, problem::Problem, route::Http},
    service::request::refuse,
};

/// 202 with the job. The typed service starts it, within the process and for the same caller.
pub(super) async fn start(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let body = Object::read(body, http.face.max_request_bytes).await?;
    let mut message = tonic::Request::new(read(body)?);
    *message.extensions_mut() = parts.extensions;
    let started = DiscoveryServiceClient::new(http.grpc.clone()).start_discovery(message).await?;
    let job_id = started.into_inner().job_id;
    let status_url = format!("/api/jobs/{job_id}/status");
    let body = json!({"job_id": job_id, "status_url": status_url});
    Ok(([(LOCATION, status_url)], json_answer::json(StatusCode::ACCEPTED, &body)).into_response())
}

fn read(mut body: Object) -> Result<StartDiscoveryRequest, Refusal> {
    let session_id = body.text("session_id")?;
    let max_time = match body.text("max_time")?.as_str() {
        "" => None,
        text => Some(duration::parse(text).map_err(|what| refuse("max_time", "format", &what.to_string()))?),
    };
    let message = StartDiscoveryRequest {
        context: Some(ToolContext { session_id, ..ToolContext::default() }),
        request_id: body.text("request_id")?,
        max_candidates: body.number("max_candidates")?,
        screen_id: body.text("screen_id")?,
        profile: body.text("profile")?,
        sources: body.texts("sources")?,
        max_time: max_time.map(convert::duration),
    };
    body.finish()?;
    Ok(message)
}
