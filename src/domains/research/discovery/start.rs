//! Starts discoveries, as jobs.

use std::sync::Arc;

use serde_json::json;

use super::{
    request::{IdeaSource, Request},
    stocks::Stocks,
    workflow::Discovery,
};
use crate::{proto::v1::StartDiscoveryRequest, tools::Profiles};
use toolwire_agent_api::{JobRequest, JobStarter, job::Job};
use toolwire_contract::Refusal;
use toolwire_server::service::request::{self, refuse};
use toolwire_tool::context::ToolContext;

/// Starts a discovery. The context has identity and session already.
pub(crate) async fn start(
    jobs: &JobStarter,
    stocks: Arc<Stocks>,
    profiles: &Profiles,
    context: ToolContext,
    message: StartDiscoveryRequest,
) -> Result<Job, Refusal> {
    if context.task_id.is_some() {
        let what = "may set only session_id and attributes: a job is not part of a task";
        return Err(refuse("context", "read-only", what));
    }
    let request_id = request::request_id("request_id", &message.request_id)?;
    let max_time = request::wait("max_time", message.max_time)?;
    let request = Request::read(&message, profiles)?;
    let sources: Vec<_> = request.sources.iter().map(IdeaSource::into_str).collect();
    let asked = json!([
        request.max_candidates,
        request.screen_id,
        (!message.profile.is_empty()).then_some(&message.profile),
        sources,
        max_time.map(|time| time.as_millis().to_string()),
    ]);
    let workflow = Arc::new(Discovery { stocks, request });
    jobs.start(JobRequest { context, request_id, content: asked, max_time, workflow }).await
}
