//! The stores in which calls are recorded: a call that a person must approve is in one store with its confirmation.

use std::{sync::Arc, time::Duration};

use crate::pipeline::Call;
use toolwire_contract::{ConsoleLinks, ErrorCode, ToolResult};
use toolwire_state::{Store, idempotency::Idempotency};

/// The records of calls, their confirmations, and tasks, all in one store.
#[derive(Clone, Debug)]
pub struct Records {
    pub calls: Arc<dyn Idempotency>,
    /// Confirmations, and the calls that wait for them.
    pub confirmations: Arc<Store>,
    /// Tasks, and the calls of their agents.
    pub tasks: Arc<Store>,
    /// Time that a person has to decide on a confirmation.
    pub decide_within: Duration,
    /// The same for calls of tasks.
    pub decide_within_tasks: Duration,
    /// The sources for which users give credentials.
    pub users_sources: Arc<[&'static str]>,
    /// Where persons decide on confirmations.
    pub console: ConsoleLinks,
}

impl Records {
    /// The store of a call's record: that of confirmations if a person had to approve the call.
    pub(super) fn of(&self, call: &Call) -> Arc<dyn Idempotency> {
        match call.cause {
            None => Arc::clone(&self.calls),
            Some(_) => Arc::clone(&self.confirmations) as Arc<dyn Idempotency>,
        }
    }

    /// The source whose credentials the user must give, if that is why a call failed.
    pub(super) fn needs_credentials<'a>(&self, call: &'a Call, result: &ToolResult) -> Option<&'a str> {
        let error = result.outcome.as_ref().err().filter(|error| error.code == ErrorCode::AuthFailed);
        let source = call.tool().definition.source.as_ref()?.name.as_str();
        error.and_then(|_| self.users_sources.contains(&source).then_some(source))
    }

    /// How long a confirmation that the call requests lasts. A blocked task holds no connection, so its bound can be
    /// days; it applies to nested calls of a task's call too.
    pub(super) fn decide_within(&self, call: &Call) -> Duration {
        if call.context.task().is_some() { self.decide_within_tasks } else { self.decide_within }
    }
}
