//! Quota: how much each user may call, over all processes of the state.
//!
//! A call is counted when it first comes. A repeat under a `request_id` that is recorded is not, nor is the call that a
//! person has approved, which is such a repeat; nor are the calls that a tool makes. Of calls at once a permit is held
//! from here on: not while a caller waits for a person, and until a write ends that its caller has left. Not here: the
//! limits of sources (`toolwire_sources`).

mod admissions;
mod count;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, Either};

use self::{admissions::Admissions, count::Counts};
use super::{Call, CallResult, Inner, call::Permits, call_record, refusals::unavailable};
use toolwire_base::{
    current::Current,
    middleware::{Middleware, take_ready},
};
use toolwire_config::Quota;
use toolwire_contract::{ErrorCode, Refusal, Terminal};
use toolwire_db::StoreError;
use toolwire_state::{Store, idempotency::KnownCall};

/// The time after which a call may be tried again that got no permit: calls end at any time.
const NO_PERMIT: Duration = Duration::from_secs(1);

/// Refuses calls that are over a quota of their user.
#[derive(Clone, Debug)]
pub struct EnforceQuotas {
    quotas: Current<Vec<Quota>>,
    store: Arc<Store>,
    admissions: Admissions,
}

/// The quota that a call would exceed.
enum Excess {
    Calls { most: u32, window: Duration, retry_after: Duration },
    Concurrent { most: u32 },
}

impl EnforceQuotas {
    /// Those of the moment count.
    pub fn new(quotas: Current<Vec<Quota>>, store: Arc<Store>) -> Self {
        Self { quotas, store, admissions: Admissions::default() }
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for EnforceQuotas {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        let user = &call.context.user;
        if call.context.depth > 0 || !self.quotas.load().iter().any(|quota| quota.is_of(user)) {
            return Either::Left(inner.call(call));
        }
        Either::Right(Box::pin(self.clone().carry_out(call, take_ready(inner))))
    }
}

impl EnforceQuotas {
    async fn carry_out(self, mut call: Box<Call>, mut inner: impl Inner) -> CallResult {
        // Of a `request_id` one call at a time looks what is known of it: the next finds that it was admitted.
        let key = call.request_id.map(|_| call_record::key_of(&call));
        let turn = match &key {
            Some(key) => Some(self.admissions.turn(key).await),
            None => None,
        };
        let known = match &key {
            Some(key) if self.admissions.has(key) => Some(KnownCall::Begun),
            Some(key) => self.store.known_call(key).await.map_err(|error| unreadable(&call, &error))?,
            None => None,
        };
        let permits = match known {
            // It is answered from its record, or joins the call that is under way.
            Some(KnownCall::Begun) => None,
            // Counted when it asked.
            Some(KnownCall::Asked) => Some(self.admit(&call, false).await?),
            None => Some(self.admit(&call, true).await?),
        };
        let _admission = key.filter(|_| permits.is_some()).map(|key| self.admissions.note(key));
        drop(turn);
        let permits = permits.filter(|permits| !permits.is_empty()).map(Arc::new);
        call.permits.clone_from(&permits);
        let end = inner.call(call).await;
        // Before the answer: the next call of the same caller must find the permit free.
        if let Some(permits) = permits.filter(|_| !may_go_on(&end)) {
            permits.free().await;
        }
        end
    }

    /// Counts the call, if it is to be counted, and takes its permits.
    async fn admit(&self, call: &Call, is_counted: bool) -> Result<Permits, Refusal> {
        let (mut counts, quotas) = (Counts::new(&self.store, call), self.quotas.load_full());
        for quota in quotas.iter().filter(|quota| quota.is_of(&call.context.user)) {
            let excess = counts.add(quota, is_counted).await.map_err(|error| unreadable(call, &error))?;
            if let Some(excess) = excess {
                counts.give_back().await;
                return Err(refusal(call, &excess));
            }
        }
        Ok(counts.into_permits())
    }
}

/// Whether a write may go on although its caller was answered: it holds the places then, until it ends.
fn may_go_on(end: &CallResult) -> bool {
    let Ok(Terminal::Result(result)) = end else { return false };
    result.outcome.as_ref().is_err_and(|error| error.code == ErrorCode::OutcomeUnknown)
}

fn refusal(call: &Call, excess: &Excess) -> Refusal {
    let user = call.context.user.id.to_string();
    match excess {
        Excess::Calls { most, window, retry_after } => {
            let window = toolwire_base::duration::format(*window);
            Refusal::QuotaExhausted {
                user,
                quota: format!("{most} calls in {window}"),
                retry_after: *retry_after,
            }
        }
        Excess::Concurrent { most } => {
            Refusal::QuotaExhausted { user, quota: format!("{most} calls at once"), retry_after: NO_PERMIT }
        }
    }
}

/// What cannot be counted does not pass.
fn unreadable(call: &Call, error: &StoreError) -> Refusal {
    let call_id = call.context.call_id;
    tracing::error!(%error, %call_id, "a quota cannot be counted");
    unavailable()
}
