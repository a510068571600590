//! Calls of a task's agent: carried out by the one pipeline, and said in the words of an agent's loop.

use super::{Tasks, why};
use crate::{
    context::{CallId, TaskId},
    contract::{ConfirmationRequired, ErrorCode, Refusal, Terminal, ToolResult, arguments::Arguments},
    pipeline::Call,
    registry::By,
    service::request::refuse,
    store::tasks::{Action, Then, entry::Thing, life::Reason},
};

/// What became of a call, and what the agent's loop does now.
#[derive(Clone, Debug)]
pub struct Handled {
    /// The call.
    pub call_id: CallId,
    /// What the loop does.
    pub then: Then,
    /// What belongs to it.
    pub detail: Detail,
    /// The entry that records it. 0 if none does: nothing was begun.
    pub sequence: u64,
}

/// What belongs to what the loop does.
#[derive(Clone, Debug)]
pub enum Detail {
    /// It goes on with this result.
    Result(Box<ToolResult>),
    /// It stops: the arguments of the hand-off.
    Value(Arguments),
    /// It waits.
    Block {
        /// What was begun.
        status: String,
        /// Why. `None` for a confirmation alone.
        reason: Option<Reason>,
        /// The child or question.
        task_id: Option<TaskId>,
        /// What a person must decide.
        required: Option<Box<ConfirmationRequired>>,
    },
}

impl Tasks {
    /// Carries a call out and says what the agent's loop does now. The call names its task, turn and identifier.
    pub async fn handle(&self, call: Call) -> Result<Handled, Refusal> {
        let missing =
            || refuse("request_id", "required", "is required: a new UUID for each call of the model");
        let request_id = call.request_id.ok_or_else(missing)?;
        let id = super::named(call.context.task_id.as_ref().map_or("", |label| label.as_str()))?;
        let (user, call_id, facts) = (call.context.user.clone(), call.context.call_id, call.facts.clone());
        let arguments = call.arguments.clone();
        let terminal = self.0.pipeline.finish(call).await?;
        let entry = self.0.store.entry_of(&user.id, &id, request_id).await.map_err(why(&id))?;
        let (sequence, call_id) = entry.unwrap_or((0, call_id));
        let (then, detail) = match (terminal, facts.action()) {
            (Terminal::ConfirmationRequired(required), _) => {
                let status = format!("→ awaiting confirmation {}", required.confirmation_id);
                (Then::Block, Detail::Block { status, reason: None, task_id: None, required: Some(required) })
            }
            (Terminal::Result(result), Some(action)) => {
                let by = facts.tool().map(|tool| tool.definition.kind.behaviour().by);
                acted(result, action.clone(), by, arguments)
            }
            (Terminal::Result(result), None) => self.executed(&user, &id, call_id, result).await?,
        };
        Ok(Handled { call_id, then, detail, sequence })
    }

    /// A write of which it is not known what became blocks its task. While it still runs, the loop may ask again.
    async fn executed(
        &self,
        user: &crate::context::User,
        id: &TaskId,
        call_id: CallId,
        result: ToolResult,
    ) -> Result<(Then, Detail), Refusal> {
        if result.outcome.as_ref().is_err_and(|error| error.code == ErrorCode::OutcomeUnknown) {
            let task = self.0.store.task(&user.id, id).await.map_err(why(id))?;
            if task.waits.iter().any(|wait| wait.thing == Thing::Call(call_id)) {
                let reason = Some(Reason::UnknownOutcome);
                let status = "→ outcome unknown".to_owned();
                return Ok((Then::Block, Detail::Block { status, reason, task_id: None, required: None }));
            }
        }
        Ok((Then::Continue, Detail::Result(Box::new(result))))
    }
}

/// What the loop does after a call that executes nothing.
fn acted(result: ToolResult, action: Action, by: Option<By>, arguments: Arguments) -> (Then, Detail) {
    let detail = match action.action {
        Then::Continue => Detail::Result(Box::new(result)),
        Then::Return => Detail::Value(arguments),
        Then::Block => {
            let reason = if by == Some(By::Ask) { Reason::Question } else { Reason::Child };
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
