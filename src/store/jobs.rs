//! Jobs: work in the background, and what each has said, in order and without gap.
//!
//! Whoever starts one writes its events; whoever watches reads them by sequence and nothing else, so that a restart or
//! a slow reader costs time only. Nothing but reads is done by a job, so one whose process is gone is over and can be
//! started again. There is no store of this in memory: tests take a database of their own. Not here: what a job does.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, UserId};

/// So many jobs of one user are kept, the newest.
pub const MOST_OF_USER: u32 = 100;

/// How long a job is kept after its end.
pub const KEPT: Duration = Duration::from_hours(24 * 30);

/// Names a job: the identifier by which a repeat is recognised.
pub type JobId = RequestId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    pub user: UserId,
    pub id: JobId,
    /// What it is asked: a repeat is asked the same.
    pub digest: Digest,
    pub kind: String,
    /// By when it ends.
    pub deadline: SystemTime,
}

/// What came of beginning one.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// It runs from now on.
    New(Job),
    /// It was begun before.
    Known(Job),
    /// Another job has this name.
    Reused,
    /// This one of the user's runs.
    Running(JobId),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: JobId,
    /// What it is asked.
    pub digest: Digest,
    pub kind: String,
    pub state: State,
    /// How far it is.
    pub percent: u32,
    pub step: String,
    pub created_at: SystemTime,
    /// By when it ends.
    pub deadline: SystemTime,
    pub ended_at: Option<SystemTime>,
    /// The sequence of the next event.
    pub next: u64,
    /// Why it has failed.
    pub error: Option<Failure>,
    /// What came out, as JSON. Empty if nothing did.
    pub result: String,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    Running,
    /// It ended with its result.
    Succeeded,
    /// It ended without, or with a part of it.
    Failed,
    Cancelled,
}

/// Why a job has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A stable word, such as `INTERRUPTED`.
    pub code: String,
    /// What went wrong and what to do.
    pub message: String,
    /// Whether the same may succeed later.
    pub retryable: bool,
}

/// What a job says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// How far it is.
    pub percent: u32,
    pub step: String,
    /// What is done, for people.
    pub message: String,
    /// The call that it is about; empty if none.
    pub call_id: String,
}

/// How a job ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// One of the final states.
    pub state: State,
    /// Why it has failed.
    pub error: Option<Failure>,
    /// What came out, as JSON.
    pub result: String,
    /// The last thing that it says. Without, it says its words at the step where it was.
    pub said: Option<Said>,
}

/// What a job has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub sequence: u64,
    /// When it was said.
    pub at: SystemTime,
    pub said: Said,
    /// Whether nothing comes after it.
    pub is_last: bool,
}

impl Ending {
    pub fn succeeded(result: String, said: Said) -> Self {
        Self { state: State::Succeeded, error: None, result, said: Some(said) }
    }

    /// Without one, or with a part of it.
    pub fn failed(error: Failure, result: String) -> Self {
        Self { state: State::Failed, error: Some(error), result, said: None }
    }

    pub fn cancelled() -> Self {
        Self { state: State::Cancelled, error: None, result: String::new(), said: None }
    }

    /// What is said last, of a job that is at a step.
    pub fn last_words(&self, percent: u32, step: &str) -> Said {
        if let Some(said) = &self.said {
            return said.clone();
        }
        let message = self.error.as_ref().map_or_else(
            || format!("The job was {}", self.state.into_str()),
            |error| format!("{}: {}", error.code, error.message),
        );
        Said { percent, step: step.to_owned(), message, call_id: String::new() }
    }
}

impl Failure {
    /// The process that carried the job out is gone.
    pub fn interrupted() -> Self {
        Self {
            code: "INTERRUPTED".to_owned(),
            message: "the server that carried it out has ended; start it again".to_owned(),
            retryable: true,
        }
    }
}
