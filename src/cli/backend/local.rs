//! The tools of this program: the same pipeline in process, answering in the types of the wire.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use tokio::time::timeout;
use tonic::Status;

use super::{Events, Invocation};
use crate::{
    app::App,
    cli::{failure::Failure, wiring},
    clock,
    context::{ToolContext, User},
    contract::{Refusal, convert::ResultFormat, proto::v1, sequence::Sequence},
    faces::grpc::limits,
    pipeline::{Call, CallStream, Step},
    registry::{self, RegisteredTool},
};

/// The tools of this program.
#[derive(Debug)]
pub(in crate::cli) struct Local {
    /// The service without a door.
    pub(in crate::cli) app: App,
    /// Who calls.
    pub(in crate::cli) user: User,
    /// No call lasts longer.
    pub(in crate::cli) cap: Duration,
}

impl Local {
    pub(super) fn list(&self, tags: &[String], view: v1::ToolView) -> Vec<v1::ToolDefinition> {
        self.tagged(tags).iter().map(|tool| tool.definition.wire(view).clone()).collect()
    }

    pub(super) fn describe(&self, name: &str) -> Result<v1::ToolDefinition, Status> {
        let snapshot = self.app.registry.snapshot();
        if let Some(tool) = snapshot.get(name) {
            return Ok(tool.definition.wire(v1::ToolView::FullJson).clone());
        }
        let near = registry::near(name, snapshot.tools().map(|tool| tool.definition.name.as_str()));
        Err(Refusal::UnknownTool { name: name.to_owned(), near }.into())
    }

    pub(super) fn guidance(&self, tags: &[String]) -> String {
        registry::guidance_for_planner(&self.tagged(tags), &self.app.limits.budgets())
    }

    pub(super) async fn limits(&self) -> Vec<v1::SourceLimit> {
        let tools = self.tagged(&[]);
        limits::rows(&*self.app.limits, &self.user.id, limits::sources(&tools)).await
    }

    /// Opens the state, so that what is wrong with it is said to the person rather than to a log that nobody reads.
    pub(super) async fn open_state(&self) -> Result<(), Failure> {
        wiring::open_state(&self.app).await
    }

    pub(super) async fn invoke(&self, invocation: Invocation) -> Result<Events, Status> {
        let deadline = clock::now() + invocation.deadline.unwrap_or(self.cap).min(self.cap);
        let context = ToolContext::new(self.user.clone(), deadline);
        let mut call = Call::new(context, invocation.target, invocation.arguments);
        call.request_id = invocation.request_id;
        Ok(events(self.app.pipeline.start(call).await?))
    }
}

impl Local {
    fn tagged(&self, tags: &[String]) -> Vec<Arc<RegisteredTool>> {
        let snapshot = self.app.registry.snapshot();
        let has_all = |tool: &&Arc<RegisteredTool>| tags.iter().all(|tag| tool.definition.tags.contains(tag));
        snapshot.tools().filter(has_all).cloned().collect()
    }

    /// Waits for a write that outlives its caller: with this program it would end in the middle.
    pub(super) async fn settle(&self) {
        let _ = timeout(self.cap, self.app.pipeline.in_flight().emptied()).await;
    }
}

/// The events of a started call as they stand on the wire.
fn events(call: CallStream) -> Events {
    let sequence = Sequence::new(call.call_id().to_string(), ResultFormat::Json);
    let next = async |(mut call, mut sequence): (CallStream, Sequence)| {
        let event = match call.next().await? {
            Ok(Step::Event(event)) => Ok(sequence.event(event)),
            Ok(Step::Terminal(terminal)) => Ok(sequence.terminal(terminal)),
            Err(refusal) => Err(Status::from(refusal)),
        };
        Some((event, (call, sequence)))
    };
    stream::unfold((call, sequence), next).boxed()
}
