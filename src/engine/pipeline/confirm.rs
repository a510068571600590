//! Confirm: a call that a person must approve first is asked for, and waits for the decision if its caller does.
//!
//! The look at the call's record, asking and using are one change of the store, which `idempotency` below makes: there
//! a repeat meets its record before anybody is asked, and what is used begins in the same instant. Here is what belongs
//! to one caller: why a confirmation is needed, which one a call without an identifier means, and the wait. Not here:
//! who may decide.

mod asked;
mod cause;
mod wait;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, Either};
use tracing::Instrument;

pub(super) use self::asked::asked;
pub use self::cause::{cause, of_definition};
use self::wait::{Waited, until, wait};
use super::{Call, CallResult, Inner, in_flight::Asked, recorded::digest_of, span};
use toolwire_base::{
    clock,
    middleware::{Middleware, take_ready},
};
use toolwire_contract::{ConfirmationRequired, Refusal, Terminal, ToolError};
use toolwire_store::{Store, confirmations::Binding};
use toolwire_tool::context::RequestId;

/// Passes calls on with why they need a confirmation, and again once it is decided.
#[derive(Clone, Debug)]
pub struct Confirm {
    store: Arc<Store>,
}

impl Confirm {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}

impl<S: Inner> Middleware<Call, S> for Confirm {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, mut call: Call, inner: &mut S) -> Self::Future {
        // Nearly all calls: they need none, and their caller waits for none that a nested call may need.
        let is_asked_for = call.wishes.is_some() || call.context.tainted;
        if !is_asked_for && !call.tool().definition.requires_confirmation {
            return Either::Left(inner.call(call));
        }
        call.cause = cause(&call);
        if call.cause.is_some() {
            Asked::of(&call.context.pins).mark();
        }
        let wait = call.wishes.as_ref().and_then(|wishes| wishes.wait_for_confirmation);
        Either::Right(Box::pin(confirmed(take_ready(inner), Arc::clone(&self.store), call, wait)))
    }
}

/// Carries a call out, waiting for its confirmation and for those of the calls that it makes.
async fn confirmed(
    mut inner: impl Inner,
    store: Arc<Store>,
    mut call: Call,
    wait_for: Option<Duration>,
) -> CallResult {
    if let Some(request_id) = stand_in(&call, &*store).await? {
        call.request_id = Some(request_id);
    }
    let mut clone = inner.clone();
    let mut end = inner.call(call.clone()).await;
    let mut waits_until = None;
    while let (Ok(Terminal::ConfirmationRequired(required)), Some(wait)) = (&end, wait_for) {
        // From when a person is first asked, however often.
        let until = *waits_until.get_or_insert_with(|| until(&call, wait));
        if clock::now() >= until {
            break;
        }
        match announced(&mut call, &*store, required, until).await {
            Waited::Undecided => break,
            Waited::Cancelled => return Ok(call.failed(ToolError::cancelled())),
            Waited::Decided => {}
        }
        // What it calls is numbered from the beginning, as in any repeat.
        call.context.lineage = call.context.lineage.again();
        futures_util::future::poll_fn(|cx| clone.poll_ready(cx)).await?;
        end = clone.call(call.clone()).await;
    }
    end
}

/// Tells the reader that the call waits, and waits.
async fn announced(
    call: &mut Call,
    store: &Store,
    required: &ConfirmationRequired,
    until: tokio::time::Instant,
) -> Waited {
    call.accept();
    call.context.events.awaiting_confirmation(Box::new(required.clone())).await;
    wait(call, store, required, until).instrument(span::await_confirmation(required)).await
}

/// The identifier of a call that has none and needs a confirmation: by it, what was decided is found again. A repeat of
/// the call that it is a part of has the same nested calls; otherwise the newest confirmation of an equal call is
/// meant.
async fn stand_in(call: &Call, store: &Store) -> Result<Option<RequestId>, Refusal> {
    let context = &call.context;
    // A write from outside without an identifier is refused below.
    if call.cause.is_none() || call.request_id.is_some() || (context.depth == 0 && call.writes()) {
        return Ok(None);
    }
    let own = context.lineage.request_id();
    if context.lineage.outermost().is_repeatable {
        return Ok(Some(own));
    }
    let binding = Binding {
        user: &context.user.id,
        tool: &call.tool().definition.name,
        arguments_digest: digest_of(call),
        definition_digest: call.tool().definition.digest,
        task_id: context.task_id.as_ref(),
    };
    match store.find_adoptable_confirmation(binding, clock::wall()).await {
        Ok(adopted) => Ok(Some(adopted.unwrap_or(own))),
        Err(error) => {
            tracing::error!(%error, call_id = %context.call_id, "confirmations cannot be read");
            Err(super::refusals::unavailable())
        }
    }
}
