//! The gate of a source that is not asked over HTTP: a provider, whose calls are carried out elsewhere.
//!
//! Cool-downs and hold-offs are read from the state, which other processes write, at most once a second: a host carries
//! out thousands of calls in one. What a call of this process notes counts at once.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{Limit, Scope};
use crate::upstream::{
    failure::{Failure, FailureKind},
    limiter::Permit,
};
use toolwire_base::clock;
use toolwire_contract::{ErrorCode, Origin, ToolError};
use toolwire_tool::context::{ToolContext, UserId};

/// How long the state need not be read again after nothing was in force.
const CLEAR: Duration = Duration::from_secs(1);

/// Admits calls to a source, and learns from how they end.
#[derive(Debug)]
pub struct Gate {
    cool_downs: Scope,
    limit: Limit,
    clear: Mutex<Clear>,
}

#[derive(Debug, Default)]
struct Clear {
    until: Option<Instant>,
    /// How often something began, which a look that began earlier does not know.
    noted: u64,
}

impl Gate {
    pub(in crate::upstream) fn new(cool_downs: Scope, limit: Limit) -> Self {
        Self { cool_downs, limit, clear: Mutex::default() }
    }

    /// Waits until a call may begin, and reports the wait. Refused at once if that is past the given instant.
    pub async fn admit(&self, context: &ToolContext, deadline: Instant) -> Result<Permit, ToolError> {
        // Before the permit: one that is taken during a pause could not be used at its instant.
        self.wait_until_clear(context, deadline).await?;
        let permit = self.limit.acquire(context, deadline).await?;
        // Another call may have been refused while the permit was waited for.
        if let Err(failure) = self.wait_until_clear(context, deadline).await {
            self.limit.give_back(&context.user.id, permit);
            return Err(failure.into());
        }
        Ok(permit)
    }

    /// Begins what the error of a call asks for, and adds the length of a cool-down to it. A call that was never
    /// started spends nothing.
    pub async fn note(&self, error: ToolError, permit: Permit, user: &UserId) -> ToolError {
        if error.code == ErrorCode::Unavailable && error.origin == Origin::Service {
            self.limit.give_back(user, permit);
            return error;
        }
        let (kind, retry_after) = match error.code {
            ErrorCode::RateLimited => (FailureKind::RateLimited, error.retry_after),
            // The length is not the provider's to choose.
            ErrorCode::AuthFailed => (FailureKind::AuthFailed, None),
            _ => return error,
        };
        // Without the words of the error: they are for its caller, and these are shown to all users.
        let failure = Failure::new(kind, "a call was refused").with_retry_after(retry_after);
        self.limit.note(&failure).await;
        let failure = self.cool_downs.note(failure, user).await;
        let mut clear = self.clear();
        *clear = Clear { until: None, noted: clear.noted + 1 };
        ToolError { retry_after: failure.retry_after, ..error }
    }

    async fn wait_until_clear(&self, context: &ToolContext, deadline: Instant) -> Result<(), Failure> {
        let noted = {
            let clear = self.clear();
            if clear.until.is_some_and(|until| clock::now() < until) {
                return Ok(());
            }
            clear.noted
        };
        if let Some(refusal) = self.cool_downs.in_force(&context.user.id).await {
            return Err(refusal);
        }
        self.limit.wait_for_hold_off(context, deadline).await?;
        let mut clear = self.clear();
        if clear.noted == noted {
            clear.until = Some(clock::now() + CLEAR);
        }
        Ok(())
    }

    fn clear(&self) -> MutexGuard<'_, Clear> {
        self.clear.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
