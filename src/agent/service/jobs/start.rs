//! Starts jobs: one per user at a time, a bound on all, and idempotent by the request's name.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{Jobs, RunningJob};
use crate::job::{JobRun, Setup, carry_out};
use toolwire_agent_api::JobRequest;
use toolwire_base::{clock, digest::Digest, offload};
use toolwire_contract::{JobRefusal, Refusal};
use toolwire_server::service::{request::refuse, unavailable::unavailable};
use toolwire_state::jobs::{Begun, Job, JobId, NewJob};
use toolwire_telemetry as telemetry;
use toolwire_tool::context::{RequestId, ToolContext, User};

/// Maximum number of concurrent jobs.
const MAX_JOBS: usize = 64;

/// The retry delay when there are too many jobs.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// The time of a job: the default, and the maximum.
const DEFAULT_TIME: Duration = Duration::from_mins(5);
const MAX_TIME: Duration = Duration::from_mins(10);

/// Upper bound on the part of a job's time that is reserved for its result.
const RESERVED: Duration = Duration::from_secs(10);

impl Jobs {
    /// Starts a job, which outlives its caller. A repeat returns the job that it started.
    pub async fn start(&self, wanted: JobRequest) -> Result<Job, Refusal> {
        let max_time = wanted.max_time.unwrap_or(DEFAULT_TIME);
        if max_time.is_zero() || max_time > MAX_TIME {
            let what = format!("must be longer than zero and at most {} min", MAX_TIME.as_secs() / 60);
            return Err(refuse("max_time", "range", &what));
        }
        if self.running.draining.is_cancelled() {
            return Err(Refusal::ShuttingDown);
        }
        let id = wanted.request_id.unwrap_or_else(RequestId::generate);
        let user = wanted.context.user.clone();
        let digest = Digest::of_bytes(wanted.content.to_string().as_bytes());
        let Some(place) = self.enter(&user, id) else {
            return self.find_running(&user, id, digest).await;
        };
        let deadline = clock::now() + max_time;
        let new = NewJob {
            user: user.id.clone(),
            id,
            digest,
            kind: wanted.workflow.kind().to_owned(),
            deadline: clock::wall_at(deadline),
        };
        let begun = self.parts.store.begin_job(&new).await;
        match begun.map_err(|error| unavailable(&error))? {
            Begun::New(job) => {
                self.spawn(place, wanted, deadline);
                Ok(job)
            }
            Begun::Known(job) => Ok(job),
            Begun::Reused => Err(Refusal::RequestIdReused { request_id: id.to_string() }),
            Begun::Running(job_id) => Err(JobRefusal::Running { job_id: job_id.to_string() }.into()),
        }
    }

    /// Takes a place for a job. `None` if the job has one already, or there are too many jobs.
    fn enter(&self, user: &User, id: JobId) -> Option<RunningJob> {
        let key = (user.id.clone(), id);
        let mut running = self.running.lock();
        if running.len() >= MAX_JOBS || running.contains_key(&key) {
            return None;
        }
        let cancelled = CancellationToken::new();
        running.insert(key.clone(), cancelled.clone());
        Some(RunningJob { running: Arc::clone(&self.running), key, cancelled })
    }

    /// The job that runs already. If there is none, there are too many.
    async fn find_running(&self, user: &User, id: JobId, digest: Digest) -> Result<Job, Refusal> {
        match self.find(user, id).await? {
            Some(job) if job.digest == digest => Ok(job),
            Some(_) => Err(Refusal::RequestIdReused { request_id: id.to_string() }),
            None => Err(JobRefusal::TooMany { retry_after: RETRY_AFTER }.into()),
        }
    }

    /// Carries a job out in a task of its own.
    fn spawn(&self, place: RunningJob, wanted: JobRequest, deadline: tokio::time::Instant) {
        let left = clock::remaining(deadline);
        let of_user = wanted.context.user.id.shared();
        let ToolContext { user, session_id, attributes, origin, credentials, .. } = wanted.context;
        let own = ToolContext::new(user, deadline);
        let setup = Setup {
            id: place.key.1,
            context: ToolContext { origin, session_id, attributes, credentials, ..own },
            until: deadline - (left / 5).min(RESERVED),
            store: Arc::clone(&self.parts.store),
            model: self.parts.model.clone(),
        };
        let agent = self.parts.agent.clone();
        let work = async move {
            // The tools of a job may have to be indexed first.
            offload::migrate().await;
            let run = JobRun::new(&agent, setup);
            carry_out(&*wanted.workflow, &run, place.wait_stop()).await;
            drop(place);
        };
        tokio::spawn(telemetry::continuing_trace(offload::on_behalf(of_user, offload::migrating(work))));
    }
}
