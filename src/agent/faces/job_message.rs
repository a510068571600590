//! Jobs as messages.

use prost_types::Struct;
use serde_json::Value;

use toolwire_contract::{
    convert::{ResultFormat, timestamp},
    json,
    proto::agent::v1,
};
use toolwire_state::jobs::{Failure, Job, State};

/// A job in the wanted form.
pub(super) fn render(job: Job, format: ResultFormat) -> v1::Job {
    let state = match job.state {
        State::Running => v1::JobState::Running,
        State::Succeeded => v1::JobState::Succeeded,
        State::Failed => v1::JobState::Failed,
        State::Cancelled => v1::JobState::Cancelled,
    };
    let error = |Failure { code, message, retryable }| v1::JobError { code, message, retryable };
    let (result, result_json) = match format {
        ResultFormat::Json => (None, job.result),
        ResultFormat::Struct => match structure(&job.result) {
            None => (None, job.result),
            structure => (structure, String::new()),
        },
    };
    v1::Job {
        job_id: job.id.to_string(),
        kind: job.kind,
        state: state.into(),
        percent: job.percent,
        step: job.step,
        created_at: Some(timestamp(job.created_at)),
        deadline: Some(timestamp(job.deadline)),
        ended_at: job.ended_at.map(timestamp),
        error: job.error.map(error),
        result,
        result_json,
        events: job.next,
    }
}

fn structure(text: &str) -> Option<Struct> {
    match serde_json::from_str(text).ok()? {
        Value::Object(map) => json::to_exact_struct(&map),
        _ => None,
    }
}
