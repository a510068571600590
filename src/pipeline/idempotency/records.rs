//! Where calls are recorded: those that a person must approve in one store with their confirmations.

use std::{sync::Arc, time::Duration};

use crate::{
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
}

impl Records {
    /// Where a call is recorded: one that a person approved, beside its confirmation.
    pub(super) fn of(&self, call: &Call) -> Arc<dyn Idempotency> {
        match call.cause {
            None => Arc::clone(&self.calls),
            Some(_) => Arc::clone(&self.confirmations) as Arc<dyn Idempotency>,
        }
    }
}
