//! Calls of a task's agent: carried out by the one pipeline, with the outcome in terms of an agent's loop.

use super::{Tasks, why};
use crate::service::request::refuse;
use toolwire_contract::{
    ConfirmationRequired, ErrorCode, Refusal, Terminal, ToolResult, arguments::Arguments,
};
use toolwire_engine::{
    pipeline::{Call, RecordedMistake},
    registry::Execution,
};
use toolwire_state::tasks::{Action, LoopControl, Waiting, entry::WaitTarget, life::Reason, texts};
use toolwire_tool::context::{CallId, TaskId, User};

/// The outcome of a call, and the next action of the agent's loop.
#[derive(Clone, Debug)]
pub struct Handled {
    pub call_id: CallId,
    /// The next action of the loop.
    pub then: LoopControl,
    /// The data of that action.
    pub detail: Detail,
    /// The sequence of the entry that records the call; 0 if it did not begin.
    pub sequence: u64,
}

/// The data of the loop's next action.
#[derive(Clone, Debug)]
pub enum Detail {
    /// The result with which the loop continues, or stops if the task ended while the call ran.
    Result(Box<ToolResult>),
    /// The arguments of the hand-off with which the loop stops.
    Value(Arguments),
    Block {
        status: String,
        /// The reason; `None` for a confirmation alone.
        reason: Option<Reason>,
        /// The child or question.
        task_id: Option<TaskId>,
        /// The confirmation that a person must decide on.
        required: Option<Box<ConfirmationRequired>>,
    },
}

impl Tasks {
    /// Carries a call out, and returns the next action of the agent's loop. The call names its task, its step and its
    /// `request_id`.
    pub async fn handle(&self, call: Box<Call>) -> Result<Handled, Refusal> {
        let missing =
            || refuse("request_id", "required", "is required: a new UUID for each call of the model");
        let request_id = call.request_id.ok_or_else(missing)?;
        let id = super::parse_id(call.context.task_id.as_ref().map_or("", |label| label.as_str()))?;
        // The pipeline consumes the call; what the answer needs of it is copied first.
        let (user, call_id, facts) = (call.context.user.clone(), call.context.call_id, call.facts.clone());
        let arguments = call.arguments.clone();
        let is_of_model = call.step_ref.as_deref().is_some_and(|it| !it.tool_call_id.is_empty());
        let end = self.0.pipeline.finish(call).await;
        if let Some(RecordedMistake { sequence, result }) = facts.mistake()
            // A program's own mistake is its status; a model's is a result, which the model can correct.
            && (is_of_model || end.is_ok())
        {
            let detail = Detail::Result(Box::new(result.clone()));
            return Ok(Handled { call_id, then: LoopControl::Continue, detail, sequence: *sequence });
        }
        let terminal = end?;
        // Read after the call: a repeat has the entry and the identifier of the first one.
        let entry = self.0.store.entry_of_call(&user.id, &id, request_id).await.map_err(why(&id))?;
        let (sequence, call_id) = entry.map_or((0, call_id), |entry| (entry.sequence, entry.call_id));
        let has_ended = entry.is_some_and(|entry| entry.state.is_final());
        let (then, detail) = match (terminal, facts.action()) {
            (Terminal::ConfirmationRequired(required), _) => {
                let status = texts::awaiting_confirmation(&required.confirmation_id);
                (
                    LoopControl::Block,
                    Detail::Block { status, reason: None, task_id: None, required: Some(required) },
                )
            }
            (Terminal::Result(result), Some(action)) => {
                let by = facts.tool().map(|tool| tool.definition.kind.behaviour().by);
                after_action(result, action.clone(), by, arguments)
            }
            (Terminal::Result(result), None) => {
                match self.after_result(&user, &id, (call_id, sequence), result).await? {
                    // There is nothing to continue: the task ended while the call ran.
                    (LoopControl::Continue, detail) if has_ended => (LoopControl::Return, detail),
                    other => other,
                }
            }
        };
        Ok(Handled { call_id, then, detail, sequence })
    }

    /// The next action after a result. A write with an unknown outcome blocks its task, and so does a source that
    /// rejects the user's credentials. While a write still runs, the loop may repeat it.
    async fn after_result(
        &self,
        user: &User,
        id: &TaskId,
        (call_id, sequence): (CallId, u64),
        result: ToolResult,
    ) -> Result<(LoopControl, Detail), Refusal> {
        let may_block = |code| matches!(code, ErrorCode::OutcomeUnknown | ErrorCode::AuthFailed);
        if result.outcome.as_ref().is_err_and(|error| may_block(error.code)) {
            let task = self.0.store.task(&user.id, id).await.map_err(why(id))?;
            let blocks = |wait: &&Waiting| match &wait.target {
                WaitTarget::Call(call) => *call == call_id,
                WaitTarget::Source(_) => wait.sequence == sequence,
                WaitTarget::Child(_) | WaitTarget::Question(_) | WaitTarget::Confirmation(_) => false,
            };
            if let Some(wait) = task.waits.iter().find(blocks) {
                let status = match &wait.target {
                    WaitTarget::Source(source) => texts::awaiting_credentials(source),
                    _ => texts::OUTCOME_UNKNOWN.to_owned(),
                };
                let reason = wait.target.wait().state().reason();
                return Ok((
                    LoopControl::Block,
                    Detail::Block { status, reason, task_id: None, required: None },
                ));
            }
        }
        Ok((LoopControl::Continue, Detail::Result(Box::new(result))))
    }
}

/// The next action after a call that executes nothing.
fn after_action(
    result: ToolResult,
    action: Action,
    by: Option<Execution>,
    arguments: Arguments,
) -> (LoopControl, Detail) {
    let detail = match action.action {
        LoopControl::Continue => Detail::Result(Box::new(result)),
        LoopControl::Return => Detail::Value(arguments),
        LoopControl::Block => {
            let reason = if by == Some(Execution::Ask) { Reason::Question } else { Reason::Child };
            Detail::Block {
                status: action.status,
                reason: Some(reason),
                task_id: action.task_id,
                required: None,
            }
        }
    };
    (action.action, detail)
}
