//! Jobs of either backend: those of a server, or those of this program's own state.

use futures_util::{StreamExt, stream::BoxStream};
use tonic::{Status, transport::Channel};

use super::{Backend, Local, Remote};
use toolwire_base::clock;
use toolwire_contract::proto::agent::v1::{
    CancelJobRequest, GetJobRequest, Job, ListJobsRequest, ListJobsResponse, WatchJobRequest,
    WatchJobResponse, job_service_client::JobServiceClient,
};
use toolwire_server::{
    domain::{Here, Place},
    faces::grpc::job,
};
use toolwire_tool::context::ToolContext;

/// What a watch is told.
pub(crate) type Watched = BoxStream<'static, Result<WatchJobResponse, Status>>;

impl Backend {
    /// Where a job would be carried out.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Remote(remote) => Place::Server(remote.server().clone()),
            Self::Local(Local { app, user, cap }) => Place::Here(Box::new(Here {
                jobs: app.jobs.clone(),
                services: app.services.clone(),
                context: ToolContext::new(user.clone(), clock::now() + *cap),
            })),
        }
    }

    /// The events of a job.
    pub(crate) async fn watch_job(&self, request: WatchJobRequest) -> Result<Watched, Status> {
        match self {
            Self::Remote(remote) => {
                let call = remote.jobs();
                Ok(remote.answered(call.clone().watch_job(remote.message(request))).await?.boxed())
            }
            Self::Local(local) => {
                let events = job::watch(&local.app.jobs, local.user.clone(), request).await?;
                Ok(local.cancellable(events))
            }
        }
    }

    /// A page of jobs.
    pub(crate) async fn jobs(&self, request: ListJobsRequest) -> Result<ListJobsResponse, Status> {
        match self {
            Self::Remote(remote) => {
                let call = remote.jobs();
                remote.answered(call.clone().list_jobs(remote.message(request))).await
            }
            Self::Local(Local { app, user, .. }) => Ok(job::list(&app.jobs, user, request).await?),
        }
    }

    /// One job.
    pub(crate) async fn job(&self, request: GetJobRequest) -> Result<Job, Status> {
        match self {
            Self::Remote(remote) => {
                let call = remote.jobs();
                let answer = remote.answered(call.clone().get_job(remote.message(request))).await?;
                answer.job.ok_or_else(|| Status::internal("the server answered without what was asked for"))
            }
            Self::Local(Local { app, user, .. }) => Ok(job::get(&app.jobs, user, request).await?),
        }
    }

    /// Cancels a job.
    pub(crate) async fn cancel_job(&self, request: CancelJobRequest) -> Result<(), Status> {
        match self {
            Self::Remote(remote) => {
                let call = remote.jobs();
                remote.answered(call.clone().cancel_job(remote.message(request))).await.map(|_| ())
            }
            Self::Local(Local { app, user, .. }) => {
                job::cancel(&app.jobs, user, request).await?;
                // Its end is told by whoever carries it out.
                app.jobs.emptied().await;
                Ok(())
            }
        }
    }
}

impl Remote {
    fn jobs(&self) -> JobServiceClient<Channel> {
        JobServiceClient::new(self.channel())
    }
}
