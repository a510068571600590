//! Quota: how much each user may call, over all processes of the state.
//!
//! A call is counted when it first comes. A repeat under a `request_id` that is recorded is not, nor is the call that a
//! person has approved, which is such a repeat; nor are the calls that a tool makes. A read whose caller has left ends,
//! so a repeat of one that has no outcome is counted: it reads again. Of calls at once a permit is held from here on:
//! not while a caller waits for a person, and until a write ends that its caller has left. Not here: the limits of
//! sources (`toolwire_sources`).

mod admissions;
mod bounds;
mod uses;

pub use self::uses::{QuotaLeft, QuotaUsers};

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either};

use self::{admissions::Admissions, bounds::Bound};
use super::{
    Call, CallResult, Inner, Stage, call::Permits, call_record, refusals::unavailable, used_up::UsedUp,
};
use toolwire_base::{
    current::Current,
    fair_semaphore::FairSemaphore,
    middleware::{Middleware, take_ready},
};
use toolwire_config::Quota;
use toolwire_contract::{ErrorCode, Refusal, Terminal};
use toolwire_db::StoreError;
use toolwire_state::{Store, idempotency::KnownCall, reservations::since_epoch};
use toolwire_tool::context::UserId;

/// Refuses calls that are over a quota of their user.
#[derive(Clone, Debug)]
pub struct EnforceQuotas {
    quotas: Current<Vec<Quota>>,
    store: Arc<Store>,
    admissions: Admissions,
    /// One call of each user asks the state.
    turns: Arc<FairSemaphore<UserId>>,
    used_up: UsedUp,
}

impl EnforceQuotas {
    /// Those of the moment count.
    pub fn new(quotas: Current<Vec<Quota>>, store: Arc<Store>) -> Self {
        let turns = Arc::new(FairSemaphore::new(usize::MAX, 1));
        Self { quotas, store, admissions: Admissions::default(), turns, used_up: UsedUp::default() }
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
        call.facts.note(Stage::AwaitingPermit);
        let key = call.request_id.map(|_| call_record::key_of(&call));
        let turn = match &key {
            Some(key) => Some(self.admissions.turn(key).await),
            None => None,
        };
        let known = match &key {
            // It joins the call that is under way.
            Some(key) if self.admissions.has(key) => Some(KnownCall::Ended),
            Some(key) => self.store.known_call(key).await.map_err(|error| unreadable(&call, &error))?,
            None => None,
        };
        let permits = match known {
            // It is answered from its record.
            Some(KnownCall::Ended) => None,
            // It goes on without its caller, or its outcome is unknown.
            Some(KnownCall::Begun) if call.runs_once() => None,
            // Counted when it asked.
            Some(KnownCall::Asked) => self.admit(&call, false).await?,
            Some(KnownCall::Begun) | None => self.admit(&call, true).await?,
        };
        let admission = key.map(|key| self.admissions.note(key));
        drop(turn);
        call.permits.clone_from(&permits);
        let end = inner.call(call).await;
        // First: from now on a repeat of a read that was cancelled joins nothing.
        drop(admission);
        // Before the answer: the next call of the same caller must find the permit free.
        if let Some(permits) = permits.filter(|_| !may_go_on(&end)) {
            permits.free().await;
        }
        end
    }

    /// Counts the call, if it is to be counted, and takes its permits, if there are any.
    async fn admit(&self, call: &Call, is_counted: bool) -> Result<Option<Arc<Permits>>, Refusal> {
        let bounds = Bound::all(&self.quotas.load(), call, is_counted);
        let numbers = self.reserve(call, &bounds).await?;
        let reserved = numbers.into_iter().zip(bounds).filter(|(_, bound)| bound.is_of_permits());
        let held: Vec<_> = reserved.map(|(number, bound)| (number, bound.limit.name)).collect();
        if held.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Permits::new(Arc::clone(&self.store), self.used_up.clone(), held))))
    }

    /// Counts a request about a call, which makes none, as the call would be counted, without a permit. Returns what is
    /// left of each quota of its user.
    pub(super) async fn count_request(&self, call: &Call) -> Result<Vec<QuotaLeft>, Refusal> {
        let mut counted = Bound::all(&self.quotas.load(), call, true);
        counted.retain(|bound| !bound.is_of_permits());
        self.reserve(call, &counted).await?;
        let left = self.left(&call.context.user, QuotaUsers::Own, None, u32::MAX).await;
        left.map_err(|error| unreadable(call, &error))
    }

    /// Reserves a place of the call under each bound. Returns the numbers of the reservations.
    async fn reserve(&self, call: &Call, bounds: &[Bound]) -> Result<Vec<i64>, Refusal> {
        if bounds.is_empty() {
            return Ok(Vec::new());
        }
        let user = &call.context.user.id;
        self.check_known(call, bounds)?;
        let _turn = self.turns.acquire(Some(user)).await;
        // The call before it may have learned that nothing is left.
        self.check_known(call, bounds)?;
        let limits: Vec<_> = bounds.iter().map(|bound| bound.limit.clone()).collect();
        let looks: Vec<_> = limits.iter().map(|limit| self.used_up.look(limit)).collect();
        let reserved = self.store.reserve_within(user, &limits).await;
        reserved.map_err(|error| unreadable(call, &error))?.map_err(|reached| {
            let index = reached.index;
            self.used_up.remember(looks[index], &limits[index], reached);
            bounds[index].refusal(call, reached)
        })
    }

    /// Refuses a call of which it is known that nothing is left for it. The state is not asked.
    fn check_known(&self, call: &Call, bounds: &[Bound]) -> Result<(), Refusal> {
        let limits = bounds.iter().map(|bound| &bound.limit);
        let reached = self.used_up.find(limits, since_epoch(self.store.now()));
        reached.map_or(Ok(()), |reached| Err(bounds[reached.index].refusal(call, reached)))
    }
}

/// Whether a write may go on although its caller was answered: it holds the places then, until it ends.
fn may_go_on(end: &CallResult) -> bool {
    let Ok(Terminal::Result(result)) = end else { return false };
    result.outcome.as_ref().is_err_and(|error| error.code == ErrorCode::OutcomeUnknown)
}

/// What cannot be counted does not pass.
fn unreadable(call: &Call, error: &StoreError) -> Refusal {
    let call_id = call.context.call_id;
    tracing::error!(%error, %call_id, "a quota cannot be counted");
    unavailable()
}
