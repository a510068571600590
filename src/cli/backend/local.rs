//! The tools of this program: the same pipeline in process, answering in the types of the wire.

use std::time::Duration;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::invocation::{Confirmations, Events, Invocation};
use crate::wiring;
use toolwire_base::clock;
use toolwire_contract::{
    arguments::{self, Arguments},
    proto::v1,
};
use toolwire_engine::{
    exports::Export,
    pipeline::{Call, CallStream, Wishes},
};
use toolwire_server::{
    app::App,
    console::Failure,
    faces::grpc::{audit, calls, confirmation, invoke::Invoked, result::Form, source_status},
    service::{Filter, Tools, export::Wanted},
};
use toolwire_tool::context::{Origin, ToolContext, User};

/// The tools of this program.
#[derive(Debug)]
pub(crate) struct Local {
    /// The service, without a listener.
    pub(crate) app: App,
    /// Who calls.
    pub(crate) user: User,
    /// No call lasts longer.
    pub(crate) cap: Duration,
}

impl Local {
    pub(super) fn list(&self, tags: &[String], view: v1::ToolView) -> Vec<v1::ToolDefinition> {
        let tools = self.app.tools.list(&self.user, Filter::tagged(tags.to_vec()));
        tools.map(|tool| tool.definition.wire(view)).collect()
    }

    pub(super) fn describe(&self, name: &str) -> Result<v1::ToolDefinition, Status> {
        Ok(self.app.tools.get(&self.user, name)?.definition.wire(v1::ToolView::FullJson))
    }

    pub(super) fn guidance(&self, tags: &[String]) -> String {
        self.app.tools.guidance(&self.user, Filter::tagged(tags.to_vec())).guidance.clone()
    }

    pub(super) async fn export(
        &self,
        request: v1::ExportToolsRequest,
    ) -> Result<v1::ExportToolsResponse, Status> {
        let v1::ExportToolsRequest { format, strict, tags } = request;
        let exported = self.app.tools.export(&self.user, Wanted { format, strict, tags }).await?;
        let Export { json, notes } = exported.export.clone();
        Ok(v1::ExportToolsResponse { json, notes })
    }

    pub(super) async fn limits(&self) -> Result<Vec<v1::SourceLimit>, Status> {
        let statuses = self.app.tools.limits(&self.user, "").await?;
        Ok(statuses.into_iter().map(source_status::row).collect())
    }

    /// Opens the state, so that what is wrong with it is said to the person rather than to a log that nobody reads.
    pub(super) async fn open_state(&self) -> Result<(), Failure> {
        wiring::open_state(&self.app).await
    }

    pub(super) async fn invoke(&self, invocation: Invocation) -> Result<Events, Status> {
        let deadline = clock::now() + invocation.deadline.unwrap_or(self.cap).min(self.cap);
        let form = Form::read(invocation.result_format, invocation.max_tokens)?;
        let Invocation { target, arguments, request_id, task_id, session_id, .. } = invocation;
        let Invocation { wait_for_confirmation, require_confirmation, .. } = invocation;
        let context = ToolContext { task_id, session_id, ..ToolContext::new(self.user.clone(), deadline) };
        let wishes = Wishes { wait_for_confirmation, require_confirmation, ..Wishes::default() }.if_any();
        let call = Call::new(context, target, Arguments::new()).written(arguments::from_text(&arguments));
        let call = Call { request_id, wishes, ..call };
        Ok(self.cancellable(events(self.app.tools.start(call).await?, &self.app.tools, form)))
    }

    pub(super) async fn confirmations(
        &self,
        request: v1::ListConfirmationsRequest,
    ) -> Result<v1::ListConfirmationsResponse, Status> {
        Ok(confirmation::list(&self.app.tools, &self.user, request).await?)
    }

    pub(super) async fn confirmation(&self, id: &str) -> Result<v1::Confirmation, Status> {
        let request = v1::GetConfirmationRequest { confirmation_id: id.to_owned(), wait: None };
        Ok(confirmation::get(&self.app.tools, &self.user, request, &CancellationToken::new()).await?)
    }

    pub(super) async fn decide(
        &self,
        request: v1::DecideConfirmationRequest,
    ) -> Result<v1::Confirmation, Status> {
        Ok(confirmation::decide(&self.app.tools, &self.user, request, Origin::PROCESS).await?)
    }

    pub(super) async fn watch_confirmations(&self) -> Result<Confirmations, Status> {
        let request = v1::WatchConfirmationsRequest::default();
        Ok(confirmation::watch(&self.app.tools, self.user.clone(), request).await?)
    }

    pub(super) async fn call(&self, request: v1::GetCallRequest) -> Result<v1::GetCallResponse, Status> {
        Ok(calls::get(&self.app.tools, &self.user, request, &CancellationToken::new()).await?)
    }

    pub(super) async fn calls(&self, request: v1::ListCallsRequest) -> Result<v1::ListCallsResponse, Status> {
        Ok(calls::list(&self.app.tools, &self.user, request).await?)
    }

    pub(super) async fn audit(
        &self,
        request: v1::ListRecordsRequest,
    ) -> Result<v1::ListRecordsResponse, Status> {
        Ok(audit::list(&self.app.tools, &self.user, request).await?)
    }

    /// The same events. While they are read, other processes of the same state can cancel what this program
    /// carries out.
    pub(super) fn cancellable<T: 'static>(&self, mut events: BoxStream<'static, T>) -> BoxStream<'static, T> {
        let app = self.app.clone();
        let mut follow = Box::pin(async move { app.follow_cancellations_once_seen().await });
        stream::poll_fn(move |cx| {
            // It never ends by itself.
            let _ = follow.as_mut().poll(cx);
            events.poll_next_unpin(cx)
        })
        .boxed()
    }

    /// Waits for a write that outlives its caller: with this program it would end in the middle.
    pub(super) async fn settle(&self) {
        let _ = timeout(self.cap, self.app.tools.in_flight().emptied()).await;
    }
}

/// The events of a started call as they stand on the wire.
fn events(call: CallStream, tools: &Tools, form: Form) -> Events {
    let event = |response: Result<v1::InvokeToolResponse, Status>| {
        response.map(|response| response.event.expect("each response has its event"))
    };
    Invoked::new(call, tools, form).map(event).boxed()
}
