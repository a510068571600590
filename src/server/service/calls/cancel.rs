//! Cancels calls that other processes carry out, and says who may cancel which.

use super::Calls;
use crate::service::unavailable::unavailable;
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::CallSelector;
use toolwire_state::{calls::RecordSelector, cancellations::Subject};
use toolwire_tool::context::{CallId, User, UserId};

impl Calls {
    /// Whether a user's token is for the tools of all the user's calls that are selected. A token that is bound to
    /// toolsets is not for a call of which nothing is known: it may be of any tool.
    pub(in crate::service) async fn may_cancel(
        &self,
        user: &User,
        which: CallSelector,
    ) -> Result<bool, Refusal> {
        if user.bound_to.is_none() {
            return Ok(true);
        }
        // What a tool calls is its own, and ends with it.
        let is_meant = |call: CallId, parent: Option<CallId>| match which {
            CallSelector::Call(id) => id == call,
            CallSelector::Request(_) => parent.is_none(),
        };
        let selector = match which {
            CallSelector::Call(call_id) => RecordSelector::Call(call_id),
            CallSelector::Request(request_id) => RecordSelector::Request(&user.id, request_id, None),
        };
        let (running, _) = self.0.in_flight.list(|seen| {
            seen.user == user.id && which.selects(seen) && is_meant(seen.call_id, seen.parent_call_id)
        });
        let recorded = self.0.store.find_calls(selector).await.map_err(|error| unavailable(&error))?;
        let recorded = recorded
            .iter()
            .filter(|it| it.key.user == user.id && is_meant(it.call_id, it.parent_call_id))
            .map(|it| Some(it.key.tool.as_str()));
        let running = running.iter().map(|it| it.facts.tool().map(|tool| tool.definition.name.as_str()));
        let tools: Vec<_> = running.chain(recorded).collect();
        let is_for = |tool: Option<&str>| tool.is_some_and(|tool| self.is_for(user, tool));
        Ok(!tools.is_empty() && tools.into_iter().all(is_for))
    }

    /// Cancels a user's own call in the other processes that share the state. `is_here`: whether this process has
    /// cancelled it already. Returns whether it was running.
    pub(in crate::service) async fn cancel_elsewhere(
        &self,
        user: &User,
        which: CallSelector,
        is_here: bool,
    ) -> bool {
        let subject = match which {
            // A call runs in one process only; calls of one `request_id` may run in several.
            CallSelector::Call(_) if is_here => return true,
            CallSelector::Call(call_id) => Subject::Call(call_id),
            CallSelector::Request(request_id) => Subject::Request(request_id),
        };
        let requested = if is_here {
            self.0.store.request_cancel(&user.id, &subject).await.map(|()| true)
        } else {
            self.0.store.cancel_elsewhere(&user.id, &subject).await
        };
        requested.unwrap_or_else(|error| {
            tracing::warn!(%error, "other processes cannot be requested to cancel a call");
            is_here
        })
    }

    /// Cancels a request of a user's client in the other processes that share the state, by the name that its face has
    /// for it. Best effort: if none of them answers, it goes on.
    pub async fn cancel_client_request(&self, user: &UserId, name: String) {
        let subject = Subject::ClientRequest(name);
        if let Err(error) = self.0.store.cancel_elsewhere(user, &subject).await {
            tracing::warn!(%error, "other processes cannot be requested to cancel a request");
        }
    }
}
