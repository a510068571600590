//! Where calls are recorded: those that a person must approve in one store with their confirmations.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    contract::{ErrorCode, ToolResult},
    pipeline::Call,
    store::{confirmations::Confirmations, idempotency::Idempotency, tasks::Tasks},
};

/// Where calls are recorded, and what persons must decide of them. Both are of one store.
#[derive(Clone, Debug)]
pub struct Records {
    /// The calls.
    pub calls: Arc<dyn Idempotency>,
    /// What persons must decide, and the calls that wait for it.
    pub confirmations: Arc<dyn Confirmations>,
    /// Tasks, and the calls of their agents.
    pub tasks: Arc<dyn Tasks>,
    /// How long a person has to decide.
    pub decide_within: Duration,
    /// How long of a call of a task.
    pub decide_within_tasks: Duration,
    /// The sources for which users give credentials.
    pub users_sources: Arc<[&'static str]>,
}

impl Records {
    /// Where a call is recorded: one that a person approved, beside its confirmation.
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

    /// Until when a person can decide on a call that is asked for now. A task waits without anybody, so a team may give
    /// persons days; also for what a call of the task calls in turn.
    pub(super) fn decide_until(&self, call: &Call, now: SystemTime) -> SystemTime {
        now + if call.context.task().is_some() { self.decide_within_tasks } else { self.decide_within }
    }
}
