//! Jobs as every face offers them: admission, idempotency and ownership.
//!
//! Users see their own jobs only. Not here: what is done in a job (`job`), and what is stored
//! (`toolwire-state`).

mod list;
mod start;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::{BoxFuture, FutureExt};
use tokio_util::sync::CancellationToken;

pub use self::{
    list::Page,
    watch::{Watch, WatchEvent},
};
use crate::{Agent, job::Stop};
use toolwire_agent_api::{JobRequest, JobStarter, StartJobs};
use toolwire_contract::{JobRefusal, Refusal};
use toolwire_server::service::{drain::Drain, request, unavailable::unavailable};
use toolwire_sources::models::Model;
use toolwire_state::{
    Store,
    cancellations::Subject,
    jobs::{Ending, Job, JobId},
};
use toolwire_tool::context::{User, UserId};

/// The parts that jobs need.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Calls tools for them.
    pub agent: Agent,
    pub store: Arc<Store>,
    /// Writes texts; `None` without a model.
    pub model: Option<Arc<dyn Model>>,
}

/// Jobs, as every face offers them. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Jobs {
    parts: Arc<Parts>,
    running: Arc<Running>,
}

/// The jobs that this process carries out.
#[derive(Debug, Default)]
struct Running {
    jobs: Mutex<HashMap<(UserId, JobId), CancellationToken>>,
    draining: CancellationToken,
    /// Changes when a job leaves.
    left: tokio::sync::Notify,
}

/// The place of a job that runs, until it is dropped.
#[derive(Debug)]
struct RunningJob {
    running: Arc<Running>,
    key: (UserId, JobId),
    cancelled: CancellationToken,
}

impl Jobs {
    /// The jobs that this agent calls tools for.
    pub fn new(parts: Parts) -> Self {
        Self { parts: Arc::new(parts), running: Arc::default() }
    }

    /// The same with another model.
    #[must_use]
    pub fn with_model(&self, model: Option<Arc<dyn Model>>) -> Self {
        let parts = Arc::new(Parts { model, ..(*self.parts).clone() });
        // Shared, so that a drain and a cancellation reach the jobs of both.
        Self { parts, running: Arc::clone(&self.running) }
    }

    /// What the services of domains start them by.
    pub fn starter(&self) -> JobStarter {
        JobStarter::new(Arc::new(self.clone()))
    }

    pub async fn get(&self, user: &User, id: &str) -> Result<Job, Refusal> {
        let id = parse_id(id)?;
        self.find(user, id).await?.ok_or_else(|| unknown(&id))
    }

    /// Cancels a job with its calls, unless it has ended. Returns the job as it is then.
    pub async fn cancel(&self, user: &User, id: &str) -> Result<Job, Refusal> {
        let id = parse_id(id)?;
        self.find(user, id).await?.ok_or_else(|| unknown(&id))?;
        let ended = self.parts.store.end_job(&user.id, id, &Ending::cancelled()).await;
        let was_running = ended.map_err(|error| unavailable(&error))?;
        // Its end is final in any process: the one that carries it out is only signalled to stop.
        if !self.cancel_here(&user.id, id) && was_running {
            let asked = self.parts.store.request_cancel(&user.id, &Subject::Job(id)).await;
            asked.map_err(|error| unavailable(&error))?;
        }
        self.find(user, id).await?.ok_or_else(|| unknown(&id))
    }

    /// Stops a job that this process carries out. Returns whether there was one.
    pub fn cancel_here(&self, user: &UserId, id: JobId) -> bool {
        let running = self.running.lock();
        let job = running.get(&(user.clone(), id));
        if let Some(job) = job {
            job.cancel();
        }
        job.is_some()
    }

    /// Ends the running jobs as interrupted, and lets none begin any more: the server ends.
    pub fn interrupt(&self) {
        self.running.draining.cancel();
    }

    /// Waits until this process carries out no job.
    pub async fn wait_empty(&self) {
        loop {
            let left = self.running.left.notified();
            if self.running.lock().is_empty() {
                return;
            }
            left.await;
        }
    }

    /// The number of jobs that this process carries out.
    pub fn running(&self) -> usize {
        self.running.lock().len()
    }

    async fn find(&self, user: &User, id: JobId) -> Result<Option<Job>, Refusal> {
        self.parts.store.job(&user.id, id).await.map_err(|error| unavailable(&error))
    }
}

impl StartJobs for Jobs {
    fn start(&self, wanted: JobRequest) -> BoxFuture<'_, Result<Job, Refusal>> {
        self.start(wanted).boxed()
    }
}

impl Drain for Jobs {
    /// They take minutes, and nothing is lost with them: the client starts another.
    fn begin(&self) {
        self.interrupt();
    }

    fn wait_empty(&self) -> BoxFuture<'_, ()> {
        self.wait_empty().boxed()
    }
}

impl Running {
    fn lock(&self) -> MutexGuard<'_, HashMap<(UserId, JobId), CancellationToken>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningJob {
    /// Waits until the job is stopped.
    async fn wait_stop(&self) -> Stop {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Stop::Cancelled,
            () = self.running.draining.cancelled() => Stop::Interrupted,
        }
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.running.lock().remove(&self.key);
        self.running.left.notify_waiters();
    }
}

/// Parses the job's name. A malformed one is unknown, in the same words as another user's.
fn parse_id(id: &str) -> Result<JobId, Refusal> {
    match id.parse() {
        Ok(id) => Ok(id),
        Err(_) if id.is_empty() => Err(request::refuse("job_id", "required", "must name a job")),
        Err(_) => Err(unknown(id)),
    }
}

fn unknown(id: &(impl ToString + ?Sized)) -> Refusal {
    let id: String = id.to_string().chars().take(64).collect();
    JobRefusal::Unknown { id }.into()
}
