//! Executes a call, whose events become progress and whose end becomes the response. A read of this process whose
//! client follows no progress needs no events.

use std::sync::Arc;

use futures_util::StreamExt;
use rmcp::{ErrorData, model::CallToolResult};
use tokio::sync::watch;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tonic::Status;

use super::{
    call_facts::CallFacts,
    handler::Handler,
    known_tools::KnownTool,
    outcome::{self, Answer},
    progress::Progress,
    request::Invocation,
    services::CallEvents,
};
use toolwire_contract::proto::v1::{
    CallEvent, ConfirmationRequired, ToolResult, call_event::Event, call_tool_response::Outcome,
};

/// The end of a call.
pub(super) enum End {
    Answer(Answer),
    /// A person must approve it first.
    Confirmation(Box<ConfirmationRequired>),
    Status(Status),
}

/// A call under way.
pub(super) struct Call {
    pub(super) handler: Handler,
    /// What is known of the tool. `None` if the user may call no such tool.
    pub(super) tool: Option<Arc<KnownTool>>,
    pub(super) facts: CallFacts,
    pub(super) progress: Progress,
    /// Receives the facts once they are known, for an answer before the end.
    pub(super) sender: Option<watch::Sender<CallFacts>>,
    /// Held while a write that has begun is not answered.
    write: Option<TaskTrackerToken>,
}

impl Call {
    pub(super) fn new(
        handler: Handler,
        tool: Option<Arc<KnownTool>>,
        invocation: &Invocation,
        progress: Progress,
    ) -> Self {
        let facts = CallFacts { request_id: invocation.request_id, ..CallFacts::default() };
        Self { handler, tool, facts, progress, sender: None, write: None }
    }

    pub(super) async fn carry_out(mut self, invocation: Invocation) -> Result<Answer, ErrorData> {
        let end = self.run(invocation).await;
        self.answer(end)
    }

    /// The response to a client that can only call again.
    pub(super) fn answer(&self, end: End) -> Result<Answer, ErrorData> {
        match end {
            End::Answer(answer) => Ok(answer),
            End::Confirmation(required) => Ok(self.confirmation_required(&required).into()),
            End::Status(status) => match self.broken_off(&status) {
                Some(result) => Ok(result.into()),
                None => outcome::of_refusal(&status, &self.facts),
            },
        }
    }

    /// The answer for a write that a status leaves without a known outcome.
    fn broken_off(&self, status: &Status) -> Option<CallToolResult> {
        // What another process was sent may have begun before its first event came.
        let is_sent =
            !self.handler.services.is_local() && !self.is_read() && outcome::may_have_been_sent(status);
        if self.write.is_none() && !is_sent {
            return None;
        }
        outcome::broken_off(status, &self.facts)
    }

    /// Whether the tool is known to only read.
    fn is_read(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.is_read)
    }

    fn confirmation_required(&self, required: &ConfirmationRequired) -> CallToolResult {
        let takes_request_id = self.tool.as_ref().is_some_and(|tool| tool.takes_request_id);
        outcome::confirmation_required(required, &self.facts, &self.handler.flags(), takes_request_id)
    }

    /// Follows the call to its end.
    pub(super) async fn run(&mut self, invocation: Invocation) -> End {
        self.follow(invocation).await.unwrap_or_else(End::Status)
    }

    async fn follow(&mut self, invocation: Invocation) -> Result<End, Status> {
        if self.needs_no_events(&invocation) {
            return self.call_locally(invocation).await;
        }
        // Boxed, so that a call without events need not have room for theirs.
        Box::pin(self.follow_events(invocation)).await
    }

    async fn follow_events(&mut self, invocation: Invocation) -> Result<End, Status> {
        let keep_over_tokens = self.handler.shared.settings.max_result_tokens;
        let tool = invocation.tool.clone();
        let mut events = self.handler.services.invoke(invocation, keep_over_tokens).await?;
        while let Some(event) = next(&mut events).await? {
            self.facts.learn(event.call_id, &event.request_id);
            if let Some(sender) = self.sender.take() {
                // The first event names all of them.
                let _ = sender.send(self.facts.clone());
            }
            match event.event {
                Some(Event::Accepted(accepted)) => {
                    self.follow_definition(&tool, &accepted.digest).await;
                    // A person has approved it by now, if one has to.
                    self.write = (!self.is_read()).then(|| self.handler.shared.writes.token());
                }
                Some(Event::Result(result)) => return self.end(result),
                Some(Event::ConfirmationRequired(required)) => {
                    return Ok(End::Confirmation(Box::new(required)));
                }
                Some(event) => self.progress.report(&event).await,
                None => {}
            }
        }
        Err(Status::internal("the call ended without an outcome"))
    }

    /// Whether the events of the call are of no use to its client. Those of a write say that it has begun; a read with
    /// a `request_id` may be a task, which follows them.
    fn needs_no_events(&self, invocation: &Invocation) -> bool {
        self.is_read()
            && invocation.request_id.is_none()
            && invocation.unreadable.is_none()
            && !self.progress.has_reader()
            && self.handler.services.is_local()
    }

    async fn call_locally(&mut self, invocation: Invocation) -> Result<End, Status> {
        let keep_over_tokens = self.handler.shared.settings.max_result_tokens;
        let tool = invocation.tool.clone();
        let calling = self.handler.services.call_locally(invocation, keep_over_tokens);
        let end = calling.ok_or_else(|| Status::internal("the tools are those of another process"))?.await;
        self.facts.call_id = end.call_id.map(|id| id.to_string()).unwrap_or_default();
        let response = end.response?;
        self.facts.learn(response.call_id, &response.request_id);
        match response.outcome {
            Some(Outcome::Result(result)) => {
                if let Some(digest) = end.digest {
                    self.follow_definition(&tool, &digest.to_string()).await;
                }
                self.end(result)
            }
            Some(Outcome::ConfirmationRequired(required)) => Ok(End::Confirmation(Box::new(required))),
            None => Err(Status::internal("the call ended without an outcome")),
        }
    }

    fn end(&self, result: ToolResult) -> Result<End, Status> {
        let media = self.tool.as_ref().map(|tool| &tool.media);
        Ok(End::Answer(outcome::of_result(result, &self.facts, media)?))
    }

    /// Looks the tool up again if its definition has changed since it was.
    async fn follow_definition(&mut self, name: &str, digest: &str) {
        if self.tool.as_ref().is_none_or(|tool| tool.digest != digest) {
            let renewed = Box::pin(self.handler.known().renew(&self.handler.services, name)).await;
            // The call goes on: without the tool, its data is shown without images.
            self.tool = renewed.ok().flatten();
        }
    }
}

async fn next(events: &mut CallEvents) -> Result<Option<CallEvent>, Status> {
    let Some(response) = events.next().await.transpose()? else { return Ok(None) };
    response.event.map(Some).ok_or_else(|| Status::internal("the server sent an empty message"))
}
