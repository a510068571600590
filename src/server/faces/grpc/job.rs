//! Jobs on the wire: looked at and watched. The command line, over the service in its own process, speaks the same.

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::Value;
use tonic::Status;

use crate::service::{
    jobs::{Jobs, News, Watch},
    request::refuse,
};
use toolwire_contract::{
    Refusal,
    convert::{ResultFormat, timestamp},
    json,
    proto::{
        agent::v1::{self, watch_job_response::News as Told},
        v1 as envelope,
    },
};
use toolwire_store::jobs::{Event, Failure, Job, State};
use toolwire_tool::context::User;

/// The events of a job, and signs of life.
pub type Events = BoxStream<'static, Result<v1::WatchJobResponse, Status>>;

pub async fn get(jobs: &Jobs, user: &User, request: v1::GetJobRequest) -> Result<v1::Job, Refusal> {
    let format = format(request.result_format);
    Ok(rendered(jobs.get(user, &request.job_id).await?, format))
}

/// A page of jobs, without their results.
pub async fn list(
    jobs: &Jobs,
    user: &User,
    request: v1::ListJobsRequest,
) -> Result<v1::ListJobsResponse, Refusal> {
    let states: Result<Vec<_>, _> = request.states.iter().map(|state| state_of(*state)).collect();
    let page = jobs.list(user, &states?, request.page_size, &request.page_token).await?;
    let jobs = page.jobs.into_iter().map(|job| rendered(job, ResultFormat::Struct)).collect();
    Ok(v1::ListJobsResponse { jobs, next_page_token: page.next })
}

fn state_of(state: i32) -> Result<State, Refusal> {
    Ok(match v1::JobState::try_from(state) {
        Ok(v1::JobState::Running) => State::Running,
        Ok(v1::JobState::Succeeded) => State::Succeeded,
        Ok(v1::JobState::Failed) => State::Failed,
        Ok(v1::JobState::Cancelled) => State::Cancelled,
        Ok(v1::JobState::Unspecified) | Err(_) => {
            return Err(refuse("states", "enum", "must be states of jobs"));
        }
    })
}

pub async fn cancel(jobs: &Jobs, user: &User, request: v1::CancelJobRequest) -> Result<v1::Job, Refusal> {
    let format = format(request.result_format);
    Ok(rendered(jobs.cancel(user, &request.job_id).await?, format))
}

/// Watches a job. Dropping the events changes nothing of it.
pub async fn watch(jobs: &Jobs, user: User, request: v1::WatchJobRequest) -> Result<Events, Refusal> {
    let format = format(request.result_format);
    let watch = jobs.watch(user, &request.job_id, request.after_sequence).await?;
    let next = move |watch: Option<Watch>| async move {
        let mut watch = watch?;
        match watch.next().await {
            Ok(news) => Some((Ok(told(news?, format)), Some(watch))),
            Err(refusal) => Some((Err(refusal.into()), None)),
        }
    };
    Ok(stream::unfold(Some(watch), next).boxed())
}

fn told(news: News, format: ResultFormat) -> v1::WatchJobResponse {
    let news = match news {
        News::Event(event, ended) => Told::Event(said(event, ended.map(|job| rendered(*job, format)))),
        News::Heartbeat => Told::Heartbeat(true),
    };
    v1::WatchJobResponse { news: Some(news) }
}

fn said(event: Event, ended: Option<v1::Job>) -> v1::JobEvent {
    let Event { sequence, at, said, is_last: _ } = event;
    v1::JobEvent {
        sequence,
        event_time: Some(timestamp(at)),
        percent: said.percent,
        line: format!("[{}%] {}", said.percent, said.message),
        step: said.step,
        message: said.message,
        call_id: said.call_id,
        ended,
    }
}

/// A job in the wanted form.
pub fn rendered(job: Job, format: ResultFormat) -> v1::Job {
    let state = match job.state {
        State::Running => v1::JobState::Running,
        State::Succeeded => v1::JobState::Succeeded,
        State::Failed => v1::JobState::Failed,
        State::Cancelled => v1::JobState::Cancelled,
    };
    let error = |Failure { code, message, retryable }| v1::JobError { code, message, retryable };
    let (result, result_json) = match format {
        ResultFormat::Json => (None, job.result),
        ResultFormat::Struct => (structure(&job.result), String::new()),
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

fn structure(text: &str) -> Option<prost_types::Struct> {
    match serde_json::from_str(text).ok()? {
        Value::Object(map) => Some(json::to_struct(&map)),
        _ => None,
    }
}

fn format(format: i32) -> ResultFormat {
    envelope::ResultFormat::try_from(format).unwrap_or_default().into()
}
