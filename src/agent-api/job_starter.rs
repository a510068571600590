//! Starts jobs, as the services of a domain do.

use std::{fmt::Debug, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::job::{Job, Workflow};
use toolwire_contract::Refusal;
use toolwire_tool::context::{RequestId, ToolContext};

#[derive(Clone, Debug)]
pub struct JobRequest {
    /// The user and the session. Its deadline is that of the request, not of the job.
    pub context: ToolContext,
    pub request_id: Option<RequestId>,
    /// Everything on which the job depends: a repeat has the same.
    pub content: Value,
    /// Maximum duration of the job.
    pub max_time: Option<Duration>,
    pub workflow: Arc<dyn Workflow>,
}

/// What starts jobs: the part of a face by which the services of domains start them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct JobStarter(Arc<dyn StartJobs>);

/// The jobs of the agent, as far as others start them.
pub trait StartJobs: Send + Sync + Debug {
    /// Starts a job, which outlives its caller. A repeat returns the job that it started.
    fn start(&self, wanted: JobRequest) -> BoxFuture<'_, Result<Job, Refusal>>;
}

impl JobStarter {
    pub fn new(jobs: Arc<dyn StartJobs>) -> Self {
        Self(jobs)
    }

    /// Starts a job, which outlives its caller. A repeat returns the job that it started.
    pub async fn start(&self, wanted: JobRequest) -> Result<Job, Refusal> {
        self.0.start(wanted).await
    }
}
