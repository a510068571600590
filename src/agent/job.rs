//! Jobs: workflows that run in the background, with or without a watcher. Each event is stored before any reader gets
//! it.
//!
//! A workflow decides which tools are called; every call goes through the pipeline, as the job's user. It must only
//! read: a job whose process ends has failed, and its user may start it again from the beginning. Not here: which jobs
//! may begin, and whose they are (`toolwire_server::service`).

mod carry_out;
mod completed_call;
mod run;

use std::fmt::Debug;

use futures_util::future::BoxFuture;

pub use self::{
    carry_out::{Stop, carry_out},
    completed_call::CompletedCall,
    run::{Run, Setup},
};
use toolwire_store::jobs::{Failure, JobUpdate};

/// The work of a kind of job.
pub trait Workflow: Send + Sync + Debug {
    /// The kind, such as `survey`.
    fn kind(&self) -> &'static str;

    /// Runs the work. Dropped when the job is cancelled or its time is over.
    fn run<'a>(&'a self, run: &'a Run) -> BoxFuture<'a, Finished>;
}

/// The outcome of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Why it failed, if it did. The result may then be partial.
    pub error: Option<Failure>,
    /// As JSON.
    pub result: String,
    /// The last event, for readers.
    pub said: JobUpdate,
}
