//! Runs a task after its request was answered: waits for the decision, then repeats the call.

use std::{pin::Pin, time::Duration};

use rmcp::{
    ErrorData,
    model::{CallToolResponse, TaskPayload},
};
use serde_json::{Map, Value, json};
use tokio::time::sleep;
use tonic::{Code, Status};

use super::super::{
    call::{Call, End},
    form::LONG_POLL,
    handler::Handler,
    outcome::Answer,
    progress::Progress,
    request::Invocation,
    task_permits::Permit,
};
use toolwire_base::clock;
use toolwire_contract::{
    convert,
    proto::v1::{CallState, GetCallRequest, GetCallResponse, get_call_request},
};
use toolwire_telemetry as telemetry;

/// Delay after a failure.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Consecutive failures after which the task is given up; `tasks/get` resumes it.
const MAX_FAILURES: u32 = 60;

/// A call that was made by a request that has been answered.
type Running = Pin<Box<dyn Future<Output = (Call, End)> + Send>>;

pub(super) struct Runner {
    handler: Handler,
    invocation: Invocation,
    permit: Permit,
    task_id: String,
}

impl Runner {
    /// The invocation has a `request_id`.
    pub(super) fn new(handler: &Handler, invocation: Invocation, permit: Permit, task_id: String) -> Self {
        let invocation = Invocation { deliver_by_get_call: true, ..invocation };
        Self { handler: handler.detached(), invocation, permit, task_id }
    }

    pub(super) fn spawn(self) {
        tokio::spawn(telemetry::continuing_trace(self.run()));
    }

    /// The same once the call that runs already has ended.
    pub(super) fn spawn_after(self, running: Running) {
        tokio::spawn(telemetry::continuing_trace(async move {
            match running.await {
                (_, End::Confirmation(_)) => self.run().await,
                (call, End::Status(status)) => {
                    self.permit.keep_end(self.task_id.clone(), payload(call.answer(End::Status(status))));
                }
                // The server records it.
                (_, End::Answer(_)) => {}
            }
        }));
    }

    async fn run(self) {
        let mut failures = 0;
        while failures < MAX_FAILURES {
            let began = clock::now();
            match self.step().await {
                Some(true) => return,
                Some(false) => {
                    failures = 0;
                    // Where the wait was cut short, as by a drain.
                    if began.elapsed() < RETRY_DELAY {
                        sleep(RETRY_DELAY).await;
                    }
                }
                None => {
                    failures += 1;
                    sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    /// Waits for a change of the call, or carries it out. Returns whether it has ended; `None` after a failure.
    async fn step(&self) -> Option<bool> {
        let GetCallResponse { call, confirmation_required, .. } = self.get_call().await?;
        match call?.state() {
            CallState::Running => Some(false),
            CallState::AwaitingConfirmation => {
                if self.handler.is_pending(&confirmation_required?.confirmation_id).await? {
                    return Some(false);
                }
                let (handler, progress) = (self.handler.clone(), Progress::silent());
                let mut call = Call::new(handler, None, &self.invocation, progress);
                match call.run(self.invocation.clone()).await {
                    End::Status(status) if is_permanent(&status) => {
                        self.permit.keep_end(self.task_id.clone(), payload(call.answer(End::Status(status))));
                        Some(true)
                    }
                    End::Status(_) => None,
                    End::Answer(_) => Some(true),
                    End::Confirmation(_) => Some(false),
                }
            }
            _ => Some(true),
        }
    }

    /// The call, after a wait for its end if it runs.
    async fn get_call(&self) -> Option<GetCallResponse> {
        let request_id = self.invocation.request_id?.to_string();
        let message = GetCallRequest {
            call: Some(get_call_request::Call::RequestId(request_id)),
            tool: self.invocation.tool.clone(),
            ..GetCallRequest::default()
        };
        // Without a wait where it waits for a person: the confirmation is queried next.
        let response = self.handler.services.tools().get_call(message.clone()).await.ok()?.into_inner();
        if response.call.as_ref()?.state() != CallState::Running {
            return Some(response);
        }
        let message = GetCallRequest { wait: Some(convert::duration(LONG_POLL)), ..message };
        Some(self.handler.services.tools().get_call(message).await.ok()?.into_inner())
    }
}

/// Whether the same call would be refused again.
fn is_permanent(status: &Status) -> bool {
    !matches!(
        status.code(),
        // A connection that breaks off within a response is `Unknown`.
        Code::Unavailable
            | Code::ResourceExhausted
            | Code::DeadlineExceeded
            | Code::Cancelled
            | Code::Unknown
    )
}

/// An answer as the end of a task.
pub(super) fn payload(answer: Result<Answer, ErrorData>) -> TaskPayload {
    let object = |value: Value| match value {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    match answer.map(Answer::into_response) {
        Ok(CallToolResponse::Complete(result)) => TaskPayload::Completed { result: object(json!(result)) },
        Ok(_) => TaskPayload::Working,
        Err(error) => TaskPayload::Failed { error: object(json!(error)) },
    }
}
