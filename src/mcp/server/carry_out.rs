//! Executes a `tools/call` by the mode of confirmation that its client supports.

use std::time::Duration;

use rmcp::ErrorData;

use super::{
    call::Call,
    call_facts::CallFacts,
    confirmation_mode::ConfirmationMode,
    handler::Handler,
    known_tools::Lookup,
    outcome::{self, Answer},
    progress::Progress,
    request::Invocation,
    tasks,
};

/// How long a call waits for a person whose client can only call again: clients give up after 60 s.
const WAIT: Duration = Duration::from_secs(45);

impl Invocation {
    /// Calls the tool and answers with its end. Dropping the future abandons the call.
    pub(super) async fn carry_out(
        mut self,
        handler: &Handler,
        tool: Lookup,
        mode: ConfirmationMode,
        progress: Progress,
    ) -> Result<Answer, ErrorData> {
        let tool = match tool {
            Ok(tool) => tool,
            Err(status) => return outcome::of_status(&status, &CallFacts::default()).map(Into::into),
        };
        if tool.as_ref().is_some_and(|tool| tool.takes_request_id)
            && let Err(what) = self.take_request_id()
        {
            return Ok(outcome::invalid_request_id(&what).into());
        }
        let state = match self.request_state.take() {
            None => None,
            Some(sealed) => Some(handler.open_state(&sealed, &self, tool.as_deref())?),
        };
        if let Some(state) = &state {
            self.request_id = state.request_id();
        }
        let call = Call::new(handler.clone(), tool, &self, progress);
        match mode {
            // Boxed, since most calls end without a person or a task.
            ConfirmationMode::Task => Box::pin(tasks::carry_out(call, self)).await,
            ConfirmationMode::Form => Box::pin(handler.carry_out_by_form(call, self, state)).await,
            ConfirmationMode::Wait => call.carry_out(Self { wait: WAIT, ..self }).await,
        }
    }

    /// The tool that it calls. `None` if the user may call no such tool.
    pub(super) async fn find_tool(&self, handler: &Handler) -> Lookup {
        if let Some(failure) = &handler.lookup_failure {
            return Err(failure.clone());
        }
        let (known, services) = (handler.known(), &handler.services);
        // Another process may have sealed a state, and knew the definition of that time.
        if self.request_state.is_some() {
            known.renew(services, &self.tool).await
        } else {
            known.find(services, &self.tool).await
        }
    }
}
