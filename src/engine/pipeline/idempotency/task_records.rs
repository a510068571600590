//! The records of calls of tasks: each is written in one transaction with the entry in its task's timeline.

use super::{
    Records,
    outcome::{code_of, is_final},
};
use crate::pipeline::{Call, CallResult, call_record::records_itself, confirm, refusals::task_refusal};
use toolwire_contract::{ConfirmationCause, Refusal, Terminal};
use toolwire_state::{
    confirmations::Admission,
    idempotency::Begun,
    tasks::{CallEnd, ExpiringRequest, TaskCall, TaskError},
};

impl Records {
    /// Records the begin of a call. A confirmation that the first call asked for stays required for a repeat that does
    /// not ask for it.
    pub(super) async fn begin_task_call(&self, call: &Call, task: &TaskCall) -> Result<Admission, Refusal> {
        let begin = async |cause: Option<ConfirmationCause>| {
            let request = cause.map(|cause| confirm::request(call, cause));
            let decide_within = self.decide_within(call);
            let confirmation = request.as_ref().map(|asked| ExpiringRequest { asked, decide_within });
            self.tasks
                .begin_task_call(task, confirmation)
                .await
                .map_err(|error| task_refusal(&task.task, error))
        };
        match (begin(call.cause).await?, call.cause) {
            (Admission::Begun(Begun::Asked), None) => begin(Some(ConfirmationCause::Caller)).await,
            (opened, _) => Ok(opened),
        }
    }

    /// Records the outcome, with its entry. `is_again`: an attempt before this one failed, or so it seemed.
    pub(super) async fn end_task_call(
        &self,
        call: &Call,
        task: &TaskCall,
        result: &CallResult,
        is_again: bool,
    ) -> Result<(), TaskError> {
        match result {
            // Recorded by the transaction that executed it.
            Ok(Terminal::Result(result)) if records_itself(call) && result.outcome.is_ok() => Ok(()),
            Ok(Terminal::Result(result)) => {
                let needs_credentials = self.needs_credentials(call, result);
                // A read changed nothing; a repeat succeeds once the credentials are there.
                let may_succeed_later = needs_credentials.is_some() && !call.writes();
                let end = CallEnd {
                    result,
                    is_final: is_final(call, result) && !may_succeed_later,
                    documents: &[],
                    untrusted: result.outcome.is_ok()
                        && (call.tool().definition.untrusted || result.provenance.untrusted_nonce.is_some()),
                    needs_credentials,
                    is_again,
                };
                self.tasks.end_task_call(task, end).await.map(|_| ())
            }
            Ok(Terminal::ConfirmationRequired(it)) => {
                self.tasks.suspend_task_call(task, &it.confirmation_id).await.map(|_| ())
            }
            // A call that records itself has no record if it failed.
            Err(_) if records_itself(call) && call.cause.is_none() => Ok(()),
            Err(_) => self.tasks.forget_task_call(task, code_of(result)).await,
        }
    }
}
