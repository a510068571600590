//! Resumes equal writes: if the caller asks for it, a write without a `request_id` takes over that of an equal write
//! whose outcome its user has not received. The layers below answer it as they answer any repeat.
//!
//! A call with a `request_id` keeps it, since its caller knows how to repeat it. A call without one may be the repeat
//! of a caller that lost it. Not here: which of the equal writes it repeats; the store decides that in one transaction.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, Either};

use super::Records;
use crate::pipeline::{
    Call, CallResult, Inner,
    call::{Delivered, Delivery, key},
    call_record::equal_write,
    refusals::unavailable,
};
use toolwire_base::middleware::{Middleware, take_ready};
use toolwire_contract::Refusal;
use toolwire_db::StoreError;
use toolwire_state::{equal_writes::Claim, idempotency::Effect};
use toolwire_tool::context::RequestId;

/// Gives a `request_id` to writes that ask for one.
#[derive(Clone, Debug)]
pub struct ResumeEqualWrites {
    records: Records,
    delivered: Delivered,
    /// The longest that a write runs.
    cap: Duration,
}

impl ResumeEqualWrites {
    pub fn new(records: Records, cap: Duration) -> Self {
        Self { records, delivered: Delivered::default(), cap }
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for ResumeEqualWrites {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        let resumes = call.options.as_ref().is_some_and(|options| options.resume_equal_write);
        if !resumes || !call.writes() {
            return Either::Left(inner.call(call));
        }
        Either::Right(Box::pin(self.clone().resume(call, take_ready(inner))))
    }
}

impl ResumeEqualWrites {
    async fn resume(self, mut call: Box<Call>, mut inner: impl Inner) -> CallResult {
        let (write, store) = (equal_write(&call), &self.records.confirmations);
        let own = call.request_id;
        let claim = Claim {
            write: &write,
            request_id: own.unwrap_or_else(RequestId::generate),
            is_delivered: &|request_id| self.delivered.contains(&key(&write, request_id)),
            longest: self.cap,
            lends_for: self.records.decide_within(&call) + Effect::Write.retention(),
        };
        let lent = match (store.claim_equal_write(claim).await, own) {
            (Ok(lent), _) => lent,
            // Answered from its record.
            (Err(_), Some(own)) if matches!(store.call_outcome(&key(&write, own)).await, Ok(Some(_))) => own,
            (Err(error), _) => return Err(refuse(&call, &error)),
        };
        let request_id = own.unwrap_or(lent);
        call.request_id = Some(request_id);
        let by_reader = call.options.as_ref().is_some_and(|options| !options.deliver_by_get_call);
        let (store, delivered) = (Arc::clone(store), self.delivered);
        let (row, records) = (write.clone(), Arc::clone(&store));
        call.facts.set_delivery(Delivery { store, write, request_id, by_reader, delivered });
        let end = inner.call(call).await;
        // The request_id belongs to other arguments: an equal write that took it over would be refused too.
        if let Err(Refusal::RequestIdReused { .. }) = &end
            && let Err(error) = records.release_equal_write(&row, request_id).await
        {
            tracing::warn!(%error, %request_id, "a refused write still lends its request_id");
        }
        end
    }
}

fn refuse(call: &Call, error: &StoreError) -> Refusal {
    let call_id = call.context.call_id;
    tracing::error!(%error, %call_id, "equal writes cannot be read");
    unavailable()
}
