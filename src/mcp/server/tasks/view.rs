//! A task as its client sees it: the state of its call, mapped by one table.

use rmcp::{
    ErrorData,
    model::{DetailedTask, Task, TaskPayload, TaskStatus},
};
use tonic::{Code, Response};

use super::{
    super::{
        approval_words::how_to_approve, call_facts::CallFacts, handler::Handler, known_tools::KnownTool,
        outcome, request::Invocation,
    },
    runner::{Runner, payload},
};
use toolwire_base::clock;
use toolwire_contract::{
    convert,
    proto::v1::{
        CallRecord, CallState, ConfirmationRequired, GetCallRequest, GetCallResponse, ResultFormat,
        ToolErrorCode, get_call_request,
    },
};

/// How often a client should poll.
const POLL_MS: u64 = 2_000;
/// How long the outcome of a write is kept, and that of a read.
const TTL_MS: [u64; 2] = [24 * 60 * 60 * 1_000, 10 * 60 * 1_000];

/// Advice to the client of a task that cannot continue by itself.
const CALL_AGAIN: &str =
    ". This server does not know all arguments of the call: once it is approved, make the same call again";

impl Handler {
    /// The call of a task. `delivers`: the client receives its outcome.
    pub(super) async fn record_of(
        &self,
        task_id: &str,
        delivers: bool,
    ) -> Result<GetCallResponse, ErrorData> {
        let message = GetCallRequest {
            call: Some(get_call_request::Call::CallId(task_id.to_owned())),
            result_format: ResultFormat::Json.into(),
            delivers,
            keep_over_tokens: if delivers { self.shared.settings.max_result_tokens } else { 0 },
            ..GetCallRequest::default()
        };
        let answer = self.services.tools().get_call(message).await;
        answer.map(Response::into_inner).map_err(|status| match status.code() {
            Code::NotFound => ErrorData::invalid_params(
                format!("there is no task {task_id}, or its outcome is no longer kept"),
                None,
            ),
            _ => outcome::protocol_error(&status),
        })
    }

    pub(super) async fn record_by_request(
        &self,
        invocation: &Invocation,
    ) -> Result<GetCallResponse, ErrorData> {
        let request_id = invocation.request_id.map(|id| id.to_string()).unwrap_or_default();
        let message = GetCallRequest {
            call: Some(get_call_request::Call::RequestId(request_id)),
            tool: invocation.tool.clone(),
            ..GetCallRequest::default()
        };
        let answer = self.services.tools().get_call(message).await;
        answer.map(Response::into_inner).map_err(|status| outcome::protocol_error(&status))
    }

    pub(super) async fn task_state(&self, task_id: &str) -> Result<DetailedTask, ErrorData> {
        if let Some(end) = self.task_permits().end_of(&self.user(), task_id) {
            let now = convert::timestamp(clock::wall()).to_string();
            let status = end.status();
            return Ok(DetailedTask::new(Task::new(task_id, status, now.clone(), now), end));
        }
        let mut found = self.record_of(task_id, true).await?;
        let record = found.call.take().unwrap_or_default();
        let found_tool = self.known().find(&self.services, &record.tool).await;
        let tool = found_tool.map_err(|status| outcome::protocol_error(&status))?;
        let is_read = tool.as_ref().is_some_and(|tool| tool.is_read);
        let facts = CallFacts { call_id: task_id.to_owned(), request_id: record.request_id.parse().ok() };
        let payload = match found.result {
            Some(result) if !matches!(record.state(), CallState::Cancelled) => {
                let result = outcome::of_result(result, &facts, tool.as_ref().map(|tool| &tool.media));
                payload(result.or_else(|status| outcome::of_status(&status, &facts).map(Into::into)))
            }
            _ => without_result(&record, &facts),
        };
        let record = CallRecord { call_id: task_id.to_owned(), ..record };
        let mut task = task(&record, payload.status(), is_read);
        if let Some(required) = &found.confirmation_required {
            let is_running = self.resume(&record, required, tool.as_deref());
            let advice = if is_running { "" } else { CALL_AGAIN };
            task.status_message = Some(how_to_approve(required, &self.flags()) + advice);
        }
        Ok(DetailedTask::new(task, payload))
    }

    /// Resumes a task whose call waits for a person: the process that ran it may have ended. If another one still runs
    /// it, both make the same call, which is carried out once. Returns whether it runs here.
    fn resume(&self, record: &CallRecord, required: &ConfirmationRequired, tool: Option<&KnownTool>) -> bool {
        let (user, Ok(request_id)) = (self.user(), record.request_id.parse()) else { return false };
        if self.task_permits().is_running(&user, request_id) {
            return true;
        }
        let Some(tool) = tool else { return false };
        let invocation = Invocation::of_record(record, required, tool.parameters.as_ref());
        let Some(invocation) = invocation else { return false };
        let Some(permit) = self.task_permits().acquire(&user, request_id) else { return false };
        Runner::new(self, invocation, permit, record.call_id.clone()).spawn();
        true
    }
}

/// The state of a call without a result, as that of its task.
fn without_result(record: &CallRecord, facts: &CallFacts) -> TaskPayload {
    match record.state() {
        CallState::Unspecified | CallState::Running | CallState::AwaitingConfirmation => TaskPayload::Working,
        CallState::Cancelled => TaskPayload::Cancelled,
        CallState::OutcomeUnknown => payload(Ok(outcome::unknown(facts).into())),
        CallState::Failed if record.code() == ToolErrorCode::Cancelled => TaskPayload::Cancelled,
        CallState::Succeeded | CallState::Failed => {
            payload(Err(ErrorData::internal_error("the call has ended, and its outcome is not kept", None)))
        }
    }
}

/// The task of a call.
pub(super) fn task(record: &CallRecord, status: TaskStatus, is_read: bool) -> Task {
    let changed = record.ended_at.unwrap_or_else(|| convert::timestamp(clock::wall()));
    let created = record.arrived_at.unwrap_or(changed);
    Task::new(&record.call_id, status, created.to_string(), changed.to_string())
        .with_ttl_ms(TTL_MS[usize::from(is_read)])
        .with_poll_interval_ms(POLL_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_states() {
        let rows = [
            (CallState::Running, TaskStatus::Working),
            (CallState::AwaitingConfirmation, TaskStatus::Working),
            (CallState::Cancelled, TaskStatus::Cancelled),
            (CallState::OutcomeUnknown, TaskStatus::Completed),
            (CallState::Succeeded, TaskStatus::Failed),
            (CallState::Failed, TaskStatus::Failed),
        ];
        for (state, status) in rows {
            let record = CallRecord { state: state.into(), ..CallRecord::default() };
            assert_eq!(without_result(&record, &CallFacts::default()).status(), status, "{state:?}");
        }
    }
}
