//! Jobs: workflows that run in the background, with or without a watcher.
//!
//! A workflow decides which tools are called; every call goes through the pipeline, as the job's user. It must only
//! read: a job whose process ends has failed, and its user may start it again from the beginning. Not here: how a job
//! is carried out.

use std::{fmt::Debug, sync::Arc};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{CompletedCall, Prompt};
use toolwire_engine::{pipeline::Target, registry::RegisteredTool};
use toolwire_sources::models::Model;
pub use toolwire_state::jobs::{Failure, Job, JobId, JobUpdate};
use toolwire_tool::context::ToolContext;

/// The work of a kind of job.
pub trait Workflow: Send + Sync + Debug {
    /// The kind, such as `survey`.
    fn kind(&self) -> &'static str;

    /// Runs the work. Dropped when the job is cancelled or its time is over.
    fn run<'a>(&'a self, run: &'a dyn Run) -> BoxFuture<'a, Finished>;
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

/// The handle of a workflow: it reports progress, calls tools as the job's user, and asks the model if there is one.
pub trait Run: Send + Sync + Debug {
    fn id(&self) -> JobId;

    /// The user, and the deadline.
    fn context(&self) -> &ToolContext;

    /// The model that writes texts, if there is one.
    fn model(&self) -> Option<&Arc<dyn Model>>;

    /// How many calls were made.
    fn calls(&self) -> u32;

    /// Whether there is time for another call.
    fn has_time(&self) -> bool;

    /// Renders a prompt with the guidance on the user's tools and the schema of the answer.
    fn prompt(&self, prompt: Prompt, schema: &str) -> String;

    /// The tool of a name or an intent, if the user may read with it.
    fn find(&self, target: &Target) -> Option<Arc<RegisteredTool>>;

    /// The narration of a call while it is made; `None` if the tool has none.
    fn doing(&self, tool: &RegisteredTool, arguments: &Map<String, Value>) -> Option<String>;

    /// Appends an event of the job, which is stored when this returns.
    fn say(&self, said: JobUpdate) -> BoxFuture<'_, ()>;

    /// Calls a tool, and once more if only its end may have been lost.
    fn call<'a>(
        &'a self,
        tool: &'a Arc<RegisteredTool>,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, CompletedCall>;

    /// Whether a text is grounded in the results so far.
    fn stands(&self, text: &str) -> bool;
}
