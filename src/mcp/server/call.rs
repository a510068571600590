//! Executes a call: one `InvokeTool`, whose events become progress and whose end becomes the response.

use std::sync::Arc;

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult},
};
use tokio::sync::watch;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tonic::{Request, Status, Streaming};

use super::{
    call_facts::CallFacts, handler::Handler, known_tools::KnownTool, outcome, progress::Progress,
    request::Invocation,
};
use toolwire_contract::proto::v1::{
    CallEvent, ConfirmationRequired, InvokeToolRequest, InvokeToolResponse, call_event::Event,
};

/// The end of a call.
pub(super) enum End {
    Answer(Box<CallToolResult>),
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

    pub(super) async fn carry_out(mut self, invocation: Invocation) -> Result<CallToolResponse, ErrorData> {
        let end = self.run(&invocation).await;
        self.answer(end)
    }

    /// The response to a client that can only call again.
    pub(super) fn answer(&self, end: End) -> Result<CallToolResponse, ErrorData> {
        match end {
            End::Answer(result) => Ok((*result).into()),
            End::Confirmation(required) => Ok(self.confirmation_required(&required).into()),
            End::Status(status) => {
                let broken_off = self.write.as_ref().and_then(|_| outcome::broken_off(&status, &self.facts));
                match broken_off {
                    Some(result) => Ok(result.into()),
                    None => outcome::of_status(&status, &self.facts).map(CallToolResponse::from),
                }
            }
        }
    }

    fn confirmation_required(&self, required: &ConfirmationRequired) -> CallToolResult {
        outcome::confirmation_required(required, &self.facts, &self.handler.flags())
    }

    /// Follows the call to its end.
    pub(super) async fn run(&mut self, invocation: &Invocation) -> End {
        self.follow(invocation).await.unwrap_or_else(End::Status)
    }

    async fn follow(&mut self, invocation: &Invocation) -> Result<End, Status> {
        let keep_over_tokens = self.handler.settings.max_result_tokens;
        let mut request = Request::new(InvokeToolRequest { keep_over_tokens, ..invocation.message() });
        if let Some(timeout) = invocation.timeout {
            request.set_timeout(timeout);
        }
        let mut events = self.handler.services.tools().invoke_tool(request).await?.into_inner();
        while let Some(event) = next(&mut events).await? {
            self.facts.learn(event.call_id, &event.request_id);
            if let Some(sender) = self.sender.take() {
                // The first event names all of them.
                let _ = sender.send(self.facts.clone());
            }
            match event.event {
                Some(Event::Accepted(accepted)) => {
                    self.follow_definition(&invocation.tool, &accepted.digest).await;
                    // A person has approved it by now, if one has to.
                    let is_read = self.tool.as_ref().is_some_and(|tool| tool.is_read);
                    self.write = (!is_read).then(|| self.handler.writes.token());
                }
                Some(Event::Result(result)) => {
                    let media = self.tool.as_ref().map(|tool| &tool.media);
                    return Ok(End::Answer(Box::new(outcome::of_result(result, &self.facts, media)?)));
                }
                Some(Event::ConfirmationRequired(required)) => {
                    return Ok(End::Confirmation(Box::new(required)));
                }
                Some(event) => self.progress.report(&event).await,
                None => {}
            }
        }
        Err(Status::internal("the call ended without an outcome"))
    }

    /// Looks the tool up again if its definition has changed since it was.
    async fn follow_definition(&mut self, name: &str, digest: &str) {
        if self.tool.as_ref().is_none_or(|tool| tool.digest != digest) {
            let renewed = self.handler.known().renew(&self.handler.services, name).await;
            // The call goes on: without the tool, its data is shown without images.
            self.tool = renewed.ok().flatten();
        }
    }
}

async fn next(events: &mut Streaming<InvokeToolResponse>) -> Result<Option<CallEvent>, Status> {
    let Some(response) = events.message().await? else { return Ok(None) };
    response.event.map(Some).ok_or_else(|| Status::internal("the server sent an empty message"))
}
