//! `toolwire.agent.v1.JobService`: work in the background. How is in `job`.

use tonic::{Request, Response, Status};

use super::{face::Face, job, service::Service};
use crate::faces::{
    incoming,
    transport::rules::{Pool, Rule},
};
use toolwire_contract::proto::agent::v1::{
    CancelJobRequest, CancelJobResponse, GetJobRequest, GetJobResponse, ListJobsRequest, ListJobsResponse,
    WatchJobRequest,
    job_service_server::{JobService, JobServiceServer},
};

pub(super) fn service() -> Service {
    super::service!(JobServiceServer, |face| face.clone())
        .except("WatchJob", Rule::WATCH)
        // It makes room, as every cancellation does.
        .except("CancelJob", Rule { pool: Pool::Free, ..Rule::USER })
}

#[tonic::async_trait]
impl JobService for Face {
    type WatchJobStream = job::Events;

    async fn get_job(&self, request: Request<GetJobRequest>) -> Result<Response<GetJobResponse>, Status> {
        let user = incoming::user(request.extensions());
        let job = job::get(&self.jobs, &user, request.into_inner()).await?;
        Ok(Response::new(GetJobResponse { job: Some(job) }))
    }

    async fn list_jobs(
        &self,
        request: Request<ListJobsRequest>,
    ) -> Result<Response<ListJobsResponse>, Status> {
        let user = incoming::user(request.extensions());
        Ok(Response::new(job::list(&self.jobs, &user, request.into_inner()).await?))
    }

    async fn watch_job(
        &self,
        request: Request<WatchJobRequest>,
    ) -> Result<Response<Self::WatchJobStream>, Status> {
        let user = incoming::user(request.extensions());
        Ok(Response::new(job::watch(&self.jobs, user, request.into_inner()).await?))
    }

    async fn cancel_job(
        &self,
        request: Request<CancelJobRequest>,
    ) -> Result<Response<CancelJobResponse>, Status> {
        let user = incoming::user(request.extensions());
        let job = job::cancel(&self.jobs, &user, request.into_inner()).await?;
        Ok(Response::new(CancelJobResponse { job: Some(job) }))
    }
}
