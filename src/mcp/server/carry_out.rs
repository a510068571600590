//! Executes a `tools/call` in the way that its client supports if a person must approve it.

use std::time::Duration;

use rmcp::ErrorData;

use super::{
    call::Call,
    call_facts::CallFacts,
    confirmation_mode::{ConfirmationMode, FormKind},
    handler::Handler,
    known_tools::Lookup,
    outcome::{self, Answer},
    progress::Progress,
    request::Invocation,
    tasks,
};

/// How long a call with a progress token waits for a decision: most clients give up after 60 s.
const WAIT: Duration = Duration::from_secs(45);

impl Call {
    /// How long the call waits for a decision. It does not wait if its client gets no progress, or gives up before.
    pub(super) fn patience(&self, invocation: &Invocation) -> Duration {
        let mut timeouts = [invocation.timeout, self.handler.timeout].into_iter().flatten();
        if self.progress.has_reader() && timeouts.all(|timeout| timeout >= WAIT) {
            WAIT
        } else {
            Duration::ZERO
        }
    }
}

impl Invocation {
    /// Calls the tool and answers with its end. Dropping the future abandons the call.
    pub(super) async fn carry_out(
        mut self,
        handler: &Handler,
        tool: Lookup,
        mut mode: ConfirmationMode,
        progress: Progress,
    ) -> Result<Answer, ErrorData> {
        let tool = match tool {
            Ok(tool) => tool,
            Err(status) => return outcome::of_status(&status, &CallFacts::default()).map(Into::into),
        };
        if tool.as_ref().is_some_and(|tool| tool.takes_request_id)
            && let Err(what) = self.take_request_id()
        {
            return Ok(outcome::invalid_argument("/request_id", &what).into());
        }
        let state = match self.request_state.take() {
            None => None,
            Some(sealed) => Some(handler.open_state(&sealed, &self, tool.as_deref())?),
        };
        let mut round = None;
        if let Some(state) = state {
            self.request_id = state.request_id();
            round = Some(Box::pin(handler.take_reply(state, &self.input_responses)).await);
        }
        if mode.form == Some(FormKind::Request) && !handler.decides_in_forms() {
            // A form that decides nothing would only delay the call.
            mode.form = None;
        }
        let call = Call::new(handler.clone(), tool, &self, progress);
        // Boxed, since most calls end without a person or a task.
        if mode.takes_tasks {
            Box::pin(tasks::carry_out(call, self, mode, round)).await
        } else if mode.form.is_some() {
            Box::pin(handler.carry_out_by_form(call, self, mode, round)).await
        } else {
            let wait = call.patience(&self);
            call.carry_out(Self { wait, ..self }).await
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
