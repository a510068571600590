//! `toolwire.agent.v1.JobService`: background work, queried and watched.

use futures_util::stream;
use tonic::{Request, Response};

use super::{Answered, Streamed, split};
use crate::{
    faces::job_message::render,
    service::jobs::{Jobs, Watch, WatchEvent},
};
use toolwire_contract::{
    Refusal,
    convert::{ResultFormat, timestamp},
    proto::agent::v1::{
        self,
        job_service_server::{JobService, JobServiceServer},
        watch_job_response::News as Told,
    },
};
use toolwire_server::{
    faces::{
        grpc::{self, Face, Service},
        http::rpc_route::{ResponseForm, RpcRoute, Verb},
    },
    service::{changes::read_ahead, request::refuse},
};
use toolwire_state::jobs::{Event, State};
use toolwire_transport::rules::{Pool, Rule};

/// The service, over the jobs of a face.
struct BackgroundJobs {
    face: Face,
}

const JOBS: &str = "toolwire.agent.v1.JobService";

/// The RPCs that are routes.
pub const RPC_ROUTES: &[RpcRoute] = &[
    RpcRoute::new(Verb::Get, "/v1/jobs", (JOBS, "ListJobs"), ResponseForm::Message),
    RpcRoute::new(Verb::Get, "/v1/jobs/{job_id}", (JOBS, "GetJob"), ResponseForm::Message),
    RpcRoute::new(Verb::Get, "/v1/jobs/{job_id}/events", (JOBS, "WatchJob"), ResponseForm::Events),
    RpcRoute::new(Verb::Post, "/v1/jobs/{job_id}:cancel", (JOBS, "CancelJob"), ResponseForm::Free),
];

pub fn service() -> Service {
    grpc::service!(JobServiceServer, |face| BackgroundJobs { face: face.clone() })
        .except("WatchJob", Rule::WATCH)
        // It makes room, as every cancellation does.
        .except("CancelJob", Rule { pool: Pool::Free, ..Rule::USER })
}

#[tonic::async_trait]
impl JobService for BackgroundJobs {
    type WatchJobStream = Streamed<v1::WatchJobResponse>;

    async fn get_job(&self, request: Request<v1::GetJobRequest>) -> Answered<v1::GetJobResponse> {
        let (user, _, message) = split(request);
        let job = self.face.part::<Jobs>().get(&user, &message.job_id).await?;
        let job = Some(render(job, message.result_format().into()));
        Ok(Response::new(v1::GetJobResponse { job }))
    }

    /// The jobs come without their results.
    async fn list_jobs(&self, request: Request<v1::ListJobsRequest>) -> Answered<v1::ListJobsResponse> {
        let (user, _, message) = split(request);
        let states: Result<Vec<_>, _> = message.states.into_iter().map(state_of).collect();
        let page =
            self.face.part::<Jobs>().list(&user, &states?, message.page_size, &message.page_token).await?;
        let jobs = page.jobs.into_iter().map(|job| render(job, ResultFormat::Struct)).collect();
        Ok(Response::new(v1::ListJobsResponse { jobs, next_page_token: page.next }))
    }

    /// Dropping the events changes nothing of the job.
    async fn watch_job(&self, request: Request<v1::WatchJobRequest>) -> Answered<Self::WatchJobStream> {
        let (user, _, message) = split(request);
        let format = message.result_format().into();
        let name = user.id.clone();
        let watch = self.face.part::<Jobs>().watch(user, &message.job_id, message.after_sequence).await?;
        let next = move |watch: Option<Watch>| async move {
            let mut watch = watch?;
            match watch.next().await {
                Ok(news) => Some((Ok(render_watch_event(news?, format)), Some(watch))),
                Err(refusal) => Some((Err(refusal.into()), None)),
            }
        };
        Ok(Response::new(read_ahead(&name, stream::unfold(Some(watch), next))))
    }

    async fn cancel_job(&self, request: Request<v1::CancelJobRequest>) -> Answered<v1::CancelJobResponse> {
        let (user, _, message) = split(request);
        let job = self.face.part::<Jobs>().cancel(&user, &message.job_id).await?;
        let job = Some(render(job, message.result_format().into()));
        Ok(Response::new(v1::CancelJobResponse { job }))
    }
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

fn render_watch_event(news: WatchEvent, format: ResultFormat) -> v1::WatchJobResponse {
    let news = match news {
        WatchEvent::Event(event, ended) => {
            Told::Event(render_event(event, ended.map(|job| render(*job, format))))
        }
        WatchEvent::Heartbeat => Told::Heartbeat(true),
    };
    v1::WatchJobResponse { news: Some(news) }
}

fn render_event(event: Event, ended: Option<v1::Job>) -> v1::JobEvent {
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
