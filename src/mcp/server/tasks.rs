//! The Tasks extension: a call that waits for a person, or has not ended after a while, becomes a task of its client.
//! The task is named after the call, and its state is that of the call, which the server keeps.
//!
//! Tasks that run without their client are bounded. Beyond the bound a call stays a request, as for a client without
//! the extension.

mod runner;
mod view;

use std::{sync::atomic::Ordering, time::Duration};

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CancelTaskParams, CreateTaskResult, GetTaskResult, MetaObject, TaskStatus},
};
use tokio::{sync::watch, time::timeout};

use self::runner::Runner;
use super::{
    approval_words::how_to_approve,
    call::{Call, End},
    call_facts::CallFacts,
    confirmation_mode::ConfirmationMode,
    form::Round,
    handler::Handler,
    outcome::Answer,
    request::Invocation,
    task_permits::Permit,
};
use toolwire_contract::proto::v1::{CancelCallRequest, ConfirmationRequired, cancel_call_request};
use toolwire_tool::context::RequestId;

/// After this time a call becomes a task: clients give up after 60 s.
const TASK_AFTER: Duration = Duration::from_secs(20);

/// Carries a call out for a client that supports tasks. One that shows forms too is asked first if they decide.
pub(super) async fn carry_out(
    mut call: Call,
    mut invocation: Invocation,
    mode: ConfirmationMode,
    round: Option<Round>,
) -> Result<Answer, ErrorData> {
    let is_read = call.tool.as_ref().is_some_and(|tool| tool.is_read);
    if is_read {
        // Without a `request_id`, its outcome would not be kept for `tasks/get`.
        invocation.request_id = invocation.request_id.or_else(|| Some(RequestId::generate()));
        call.facts.request_id = invocation.request_id;
    }
    let (sender, facts) = watch::channel(CallFacts::default());
    call.sender = Some(sender);
    let is_answered = call.progress.is_answered();
    let (handler, mut again) = (call.handler.clone(), invocation.clone());
    let mut running = Box::pin(async move {
        let end = call.run(invocation).await;
        (call, end)
    });
    match timeout(TASK_AFTER, &mut running).await {
        Ok((mut call, End::Confirmation(required))) => {
            if let Some(answer) = handler.ask(&mut call, &again, &required, mode, round.as_ref()).await? {
                return Ok(answer);
            }
            wait_as_task(&call, again, required, is_read).await
        }
        Ok((call, end)) => call.answer(end),
        Err(_) => {
            let facts = facts.borrow().clone();
            again.request_id = facts.request_id;
            let Some(permit) = handler.permit_for(&again) else {
                let (call, end) = running.await;
                return call.answer(end);
            };
            let task = handler.create_task(&again, is_read, facts.metadata(), None).await?;
            is_answered.store(true, Ordering::Release);
            let runner = Runner::new(&handler, again, permit, task.task.task_id.clone());
            if is_read {
                runner.spawn_after(running);
            } else {
                // The write goes on without its reader, and its outcome is delivered by `tasks/get`.
                drop(running);
                runner.spawn();
            }
            Ok(CallToolResponse::from(task).into())
        }
    }
}

/// Makes a call that waits for a decision a task, if the bounds allow one more.
async fn wait_as_task(
    call: &Call,
    mut invocation: Invocation,
    required: Box<ConfirmationRequired>,
    is_read: bool,
) -> Result<Answer, ErrorData> {
    let handler = &call.handler;
    invocation.request_id = required.request_id.parse().ok();
    let Some(permit) = handler.permit_for(&invocation) else {
        return call.answer(End::Confirmation(required));
    };
    let task = handler.create_task(&invocation, is_read, call.facts.metadata(), Some(&required)).await?;
    Runner::new(handler, invocation, permit, task.task.task_id.clone()).spawn();
    Ok(CallToolResponse::from(task).into())
}

impl Handler {
    /// A permit for a task of the user, if the call has a `request_id` and the bounds allow one more.
    fn permit_for(&self, invocation: &Invocation) -> Option<Permit> {
        self.task_permits().acquire(&self.user(), invocation.request_id?)
    }

    /// The task of a call. It is named after the attempt that the server has recorded, which another request may have
    /// begun.
    async fn create_task(
        &self,
        invocation: &Invocation,
        is_read: bool,
        mut meta: MetaObject,
        required: Option<&ConfirmationRequired>,
    ) -> Result<CreateTaskResult, ErrorData> {
        let record = self.record_by_request(invocation).await?.call.unwrap_or_default();
        let mut task = view::task(&record, TaskStatus::Working, is_read);
        if let Some(required) = required {
            task.status_message = Some(how_to_approve(required, &self.flags()));
            meta.insert("toolwire/confirmation_id".to_owned(), required.confirmation_id.clone().into());
        }
        Ok(CreateTaskResult::new(task).with_meta(meta))
    }

    pub(super) async fn task(&self, task_id: &str) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.task_state(task_id).await?))
    }

    pub(super) async fn check_exists(&self, task_id: &str) -> Result<(), ErrorData> {
        self.record_of(task_id, false).await.map(|_| ())
    }

    /// Asks the call of a task to stop. `tasks/get` says whether it did.
    pub(super) async fn cancel(&self, request: CancelTaskParams) -> Result<(), ErrorData> {
        use cancel_call_request::Call;
        let record = self.record_of(&request.task_id, false).await?.call.unwrap_or_default();
        // Another attempt than the first may carry it out.
        let call = if record.request_id.is_empty() {
            Call::CallId(request.task_id)
        } else {
            Call::RequestId(record.request_id)
        };
        let answer = self.services.tools().cancel_call(CancelCallRequest { call: Some(call) }).await;
        answer.map(|_| ()).map_err(|status| super::outcome::protocol_error(&status))
    }
}
