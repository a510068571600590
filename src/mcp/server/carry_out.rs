//! Executes a `tools/call` by the road of confirmation that its client supports.

use std::time::Duration;

use rmcp::{ErrorData, RoleServer, model::CallToolResponse, service::RequestContext};

use super::{
    call::Call, handler::Handler, outcome, progress::Progress, request::Invocation, road::Road, tasks,
};

/// How long a call waits for a person whose client can only call again: clients give up after 60 s.
const WAIT: Duration = Duration::from_secs(45);

impl Invocation {
    /// Calls the tool and answers with its end. Dropping the future leaves the call.
    pub(super) async fn carry_out(
        mut self,
        handler: &Handler,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut tool = handler.known().find(&handler.services, &self.tool).await;
        if tool.as_ref().is_some_and(|tool| tool.takes_key)
            && let Err(what) = self.take_request_id()
        {
            return Ok(outcome::invalid_request_id(&what).into());
        }
        let state = match self.request_state.take() {
            None => None,
            Some(sealed) => {
                // Another process may have sealed it, and knows what this one learns by looking.
                tool = handler.known().renew(&handler.services, &self.tool).await;
                Some(handler.open_state(&sealed, &self, tool.as_deref())?)
            }
        };
        if let Some(state) = &state {
            self.request_id = state.request_id();
        }
        let call = Call::new(handler.clone(), tool, &self, Progress::new(context, handler.flags()));
        match Road::of(context) {
            Road::Task => tasks::carry_out(call, self).await,
            Road::Form => handler.carry_out_by_form(call, self, state).await,
            Road::Wait => call.carry_out(Self { wait: WAIT, ..self }).await,
        }
    }
}
