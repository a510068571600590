//! Jobs: workflows that go on in the background, with or without a watcher. Each event is stored before any reader gets
//! it.
//!
//! A workflow decides what is called and what comes out; everything goes through the pipeline, as its user. It must do
//! nothing but read: a job whose process ends is over and is started again. Not here: which jobs may begin, and whose
//! they are (`toolwire_server::service`).

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

/// Work in the background.
pub trait Workflow: Send + Sync + Debug {
    /// What kind of work, such as `survey`.
    fn kind(&self) -> &'static str;

    /// Does it. Dropped when the job is cancelled or its time is over.
    fn run<'a>(&'a self, run: &'a Run) -> BoxFuture<'a, Finished>;
}

/// What came of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Why it has failed, if it has. Then the result may be a part of one.
    pub error: Option<Failure>,
    /// What came out, as JSON.
    pub result: String,
    /// The last thing that is said.
    pub said: JobUpdate,
}
