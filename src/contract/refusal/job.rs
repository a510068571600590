//! A job that cannot begin, or cannot be shown.

use std::time::Duration;

/// Why a job cannot begin, or cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobRefusal {
    /// The user has no job of this name.
    #[error("no job {id} of yours")]
    Unknown {
        /// The name asked for.
        id: String,
    },
    /// Another job of the user's runs.
    #[error("your job {job_id} is running: watch it to its end, or cancel it")]
    Running { job_id: String },
    /// Too many jobs run.
    #[error("too many jobs are running; try again in {} s", .retry_after.as_secs())]
    TooMany {
        /// When room is expected.
        retry_after: Duration,
    },
    /// There is no such event yet.
    #[error("the job has {events} events, from 0 on, and no event {sequence}")]
    NoSuchEvent {
        /// The one asked for.
        sequence: u64,
        /// How many there are.
        events: u64,
    },
}
