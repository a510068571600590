//! Jobs: background work, and its log of events, ordered and without gaps.
//!
//! The process that starts a job appends its events; watchers read them by sequence number only, so a restart or a slow
//! reader costs nothing but time. A job has no effect but reads, so a job whose process has ended counts as failed and
//! can be started again. There is no in-memory implementation: tests use a database of their own. Not here: the work
//! itself.

pub(crate) mod rows;

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, UserId};

/// Maximum number of jobs retained per user; the oldest are deleted.
pub const MAX_JOBS_PER_USER: u32 = 100;

/// How long a job is retained after its end.
pub const RETENTION: Duration = Duration::from_hours(24 * 30);

/// Identifies a job; also its idempotency key.
pub type JobId = RequestId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    pub user: UserId,
    pub id: JobId,
    /// Digest of the request; a repeat must have the same.
    pub digest: Digest,
    pub kind: String,
    /// When it times out.
    pub deadline: SystemTime,
}

/// The result of starting a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// A new job was started.
    New(Job),
    /// A repeat: the job was started before.
    Known(Job),
    /// The identifier belongs to a job with another request.
    Reused,
    /// Another job of the user is running.
    Running(JobId),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: JobId,
    /// Digest of the request.
    pub digest: Digest,
    pub kind: String,
    pub state: State,
    /// Progress, from 0 to 100.
    pub percent: u32,
    pub step: String,
    pub created_at: SystemTime,
    /// When it times out.
    pub deadline: SystemTime,
    pub ended_at: Option<SystemTime>,
    /// Sequence number of the next event.
    pub next: u64,
    pub error: Option<Failure>,
    /// The result, as JSON. Empty if there is none.
    pub result: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    Running,
    /// It ended with a result.
    Succeeded,
    /// It ended without a result, or with a partial one.
    Failed,
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A stable word, such as `INTERRUPTED`.
    pub code: String,
    /// What went wrong, and what to do about it.
    pub message: String,
    /// Whether a retry may succeed.
    pub retryable: bool,
}

/// The content of a job's event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobUpdate {
    /// Progress, from 0 to 100.
    pub percent: u32,
    pub step: String,
    /// What the job is doing, for people.
    pub message: String,
    /// The call that it concerns; empty if there is none.
    pub call_id: String,
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// A final state.
    pub state: State,
    pub error: Option<Failure>,
    /// The result, as JSON.
    pub result: String,
    /// The last event. By default it is derived from the state or the error, at the current step.
    pub said: Option<JobUpdate>,
}

/// A logged event of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub sequence: u64,
    pub at: SystemTime,
    pub said: JobUpdate,
    /// Whether it is the last event.
    pub is_last: bool,
}

impl Ending {
    pub fn succeeded(result: String, said: JobUpdate) -> Self {
        Self { state: State::Succeeded, error: None, result, said: Some(said) }
    }

    /// Fails with no result, or with a partial one.
    pub fn failed(error: Failure, result: String) -> Self {
        Self { state: State::Failed, error: Some(error), result, said: None }
    }

    pub fn cancelled() -> Self {
        Self { state: State::Cancelled, error: None, result: String::new(), said: None }
    }

    /// The last event of a job at the given progress.
    pub fn last_update(&self, percent: u32, step: &str) -> JobUpdate {
        if let Some(said) = &self.said {
            return said.clone();
        }
        let message = self.error.as_ref().map_or_else(
            || format!("The job was {}", self.state.into_str()),
            |error| format!("{}: {}", error.code, error.message),
        );
        JobUpdate { percent, step: step.to_owned(), message, call_id: String::new() }
    }
}

impl Failure {
    /// The error of a job whose process has ended.
    pub fn interrupted() -> Self {
        Self {
            code: "INTERRUPTED".to_owned(),
            message: "the server that carried it out has ended; start it again".to_owned(),
            retryable: true,
        }
    }
}
