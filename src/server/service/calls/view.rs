//! Calls with their outcomes, as far as users may read them.

use super::{Calls, Known, Record, State};
use crate::service::unavailable::unavailable;
use toolwire_contract::{ConfirmationRequired, Provenance, Refusal, ToolResult};
use toolwire_engine::pipeline::{EndedCall, frame};
use toolwire_state::calls::RecordedCall;
use toolwire_tool::context::{User, UserId};

/// A call with its outcome.
#[derive(Clone, Debug)]
pub struct CallView {
    pub record: Record,
    /// Its outcome, if it is kept.
    pub result: Option<ToolResult>,
    /// The confirmation for which it waits.
    pub required: Option<Box<ConfirmationRequired>>,
}

impl Calls {
    /// The call with its outcome, or with what it waits for.
    pub(super) async fn view(
        &self,
        user: &User,
        mut record: Record,
        known: Known,
    ) -> Result<CallView, Refusal> {
        let recorded = match known {
            Known::Recorded(recorded) if self.may_read(user, &recorded.key.user, &recorded.key.tool) => {
                recorded
            }
            Known::Ended(call) if self.may_read(user, &call.info.user, &call.tool) => {
                let result = self.error(call);
                return Ok(CallView { record, result, required: None });
            }
            Known::Recorded(_) | Known::Ended(_) | Known::Running => {
                record.result_kept = false;
                return Ok(CallView { record, result: None, required: None });
            }
        };
        let (mut result, mut required) = (None, None);
        match record.state {
            State::AwaitingConfirmation => {
                let id = match recorded.confirmation {
                    Some(id) => Some(id),
                    None => self.0.store.pending_part(&recorded.key).await.map_err(|it| unavailable(&it))?,
                };
                if let Some(id) = id {
                    let found = self.0.confirmations.confirmation(&id).await;
                    let found = found.map_err(|error| unavailable(&error))?;
                    required = found.map(|it| Box::new(it.required(&self.0.console)));
                    record.confirmation_id = id.to_string();
                }
            }
            _ if record.result_kept => {
                result = self.result(user, &recorded).await?;
                record.result_kept = result.is_some();
            }
            _ => {}
        }
        Ok(CallView { record, result, required })
    }

    /// Whether the user reads the arguments and the result of a call, and not only that it was made.
    fn may_read(&self, user: &User, of: &UserId, tool: &str) -> bool {
        let snapshot = self.0.registry.snapshot();
        let tool = snapshot.rule_target(tool);
        let policy = &self.0.policy;
        *of == user.id || policy.may_read_records(user, tool) || policy.may_approve(user, tool, of)
    }

    /// The error of a call that this process remembers, framed as a response of its own. `None` if it did not fail.
    fn error(&self, call: EndedCall) -> Option<ToolResult> {
        let snapshot = self.0.registry.snapshot();
        let untrusted = snapshot.get(&call.tool).is_some_and(|tool| tool.definition.untrusted);
        let result = ToolResult {
            tool: call.tool,
            fetched_at: call.at,
            outcome: Err(*call.error?),
            provenance: Provenance::default(),
            kept: None,
        };
        Some(frame::response(result, untrusted))
    }

    /// The outcome of a recorded call, framed as a response of its own. `None` if it cannot be read any more, or is
    /// another user's and of a tool that is gone or has sensitive parameters.
    async fn result(&self, user: &User, recorded: &RecordedCall) -> Result<Option<ToolResult>, Refusal> {
        let snapshot = self.0.registry.snapshot();
        let tool = snapshot.get(&recorded.key.tool);
        // It is kept for repeats, and may hold what its caller alone may see.
        if recorded.key.user != user.id && tool.is_none_or(|tool| tool.input.has_sensitive()) {
            return Ok(None);
        }
        let stored = self.0.store.call_outcome(&recorded.key).await.map_err(|error| unavailable(&error))?;
        let output = tool.and_then(|tool| tool.output.as_ref());
        let untrusted = tool.is_some_and(|tool| tool.definition.untrusted);
        let read = stored.map(|stored| stored.read(output)).and_then(Result::ok);
        Ok(read.map(|result| frame::response(result, untrusted)))
    }
}
