//! Confirm: requests a confirmation for a call that a person must approve first, and waits for the decision if the
//! caller does.
//!
//! `idempotency` below looks up the call's record and requests or consumes the confirmation in one transaction. A
//! repeat therefore finds its record before a confirmation is requested, and an approved call begins when its
//! confirmation is consumed. This layer does what concerns a single caller: why a confirmation is needed, which one a
//! call without an identifier refers to, and the wait. Not here: which users may decide.

mod cause;
mod request;
mod standing;
mod wait;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, Either};
use tower::ServiceExt;
use tracing::Instrument;

pub use self::cause::{cause, of_definition};
pub(super) use self::request::request;
use self::{
    cause::cause_within,
    wait::{WaitOutcome, wait, wait_end},
};
use super::{
    Call, CallOptions, CallResult, Inner, Policy, Stage, call_record::digest_of, in_flight::ConfirmationFlag,
    span,
};
use crate::registry::Registry;
use toolwire_base::{
    clock,
    middleware::{Middleware, take_ready},
    offload,
};
use toolwire_contract::{ConfirmationCause, ConfirmationRequired, Refusal, Terminal, ToolError};
use toolwire_schema::{TooMuchWork, Work};
use toolwire_state::{Store, confirmations::Binding};
use toolwire_tool::context::RequestId;

/// Passes calls on with the cause of their confirmation, and once more after the decision.
#[derive(Clone, Debug)]
pub struct Confirm {
    store: Arc<Store>,
    /// Asked again while a call waits, and once it has been decided on.
    policy: Arc<dyn Policy>,
    registry: Arc<Registry>,
}

impl Confirm {
    pub fn new(store: Arc<Store>, policy: Arc<dyn Policy>, registry: Arc<Registry>) -> Self {
        Self { store, policy, registry }
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for Confirm {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, mut call: Box<Call>, inner: &mut S) -> Self::Future {
        // Nearly all calls need no confirmation, and their callers do not wait for those of nested calls.
        let of_options = |it: &CallOptions| it.require_confirmation || it.wait_for_confirmation.is_some();
        let is_asked_for = call.options.as_deref().is_some_and(of_options) || call.context.tainted;
        if !is_asked_for && !call.tool().definition.may_need_confirmation() {
            return Either::Left(inner.call(call));
        }
        let (inner, this) = (take_ready(inner), self.clone());
        match cause_within(&call, Work::little()) {
            Ok(cause) => {
                set_cause(&mut call, cause);
                Either::Right(Box::pin(carry_out(inner, this, call)))
            }
            Err(TooMuchWork) => Either::Right(Box::pin(async move {
                carry_out(inner, this, find_cause_elsewhere(call).await).await
            })),
        }
    }
}

/// Finds the cause of the confirmation that a call needs, and sets it.
pub(super) async fn find_cause(mut call: Box<Call>) -> Box<Call> {
    match cause_within(&call, Work::little()) {
        Ok(cause) => {
            set_cause(&mut call, cause);
            call
        }
        Err(TooMuchWork) => find_cause_elsewhere(call).await,
    }
}

fn set_cause(call: &mut Call, cause: Option<ConfirmationCause>) {
    call.cause = cause;
    if cause.is_some() {
        ConfirmationFlag::of(&call.context.pins).mark();
    }
}

/// Finds the cause of a call whose conditions take much work, on a thread that carries no calls.
async fn find_cause_elsewhere(mut call: Box<Call>) -> Box<Call> {
    let user = call.context.user.id.shared();
    let find = offload::if_large(usize::MAX, move || {
        let cause = cause(&call);
        set_cause(&mut call, cause);
        call
    });
    offload::on_behalf(user, find).await
}

/// Carries out a call, waiting for its confirmation and for those of the calls that it makes.
async fn carry_out(mut inner: impl Inner, confirm: Confirm, mut call: Box<Call>) -> CallResult {
    // Boxed, as the wait below is: most callers that would wait call a tool that needs no confirmation.
    if call.cause.is_some()
        && let Some(request_id) = Box::pin(find_request_id(&call, &confirm.store)).await?
    {
        call.request_id = Some(request_id);
    }
    let Some(wait) = call.options.as_ref().and_then(|options| options.wait_for_confirmation) else {
        return inner.call(call).await;
    };
    let end = inner.call(call.clone()).await;
    match end {
        Ok(Terminal::ConfirmationRequired(required)) => {
            Box::pin(repeat_when_decided(inner, confirm, call, required, wait)).await
        }
        end => end,
    }
}

/// Waits for the confirmation of a call, and repeats the call after each decision.
async fn repeat_when_decided(
    mut inner: impl Inner,
    confirm: Confirm,
    mut call: Box<Call>,
    mut required: Box<ConfirmationRequired>,
    wait: Duration,
) -> CallResult {
    // Counted from the first request, however many confirmations the call needs.
    let until = wait_end(&call, wait);
    while clock::now() < until {
        match announce_and_wait(&mut call, &confirm, &required, until).await {
            WaitOutcome::Undecided => break,
            WaitOutcome::Cancelled => return Ok(call.failed(ToolError::cancelled())),
            WaitOutcome::Refused(refusal) => return Err(refusal),
            WaitOutcome::Decided => {}
        }
        // The layer that asked for the first time is above this one.
        standing::check(&call, &confirm, &required)?;
        // The nested calls of a repeat are numbered from the beginning, so that they find their records.
        call.context.lineage = call.context.lineage.again();
        match inner.ready().await?.call(call.clone()).await {
            Ok(Terminal::ConfirmationRequired(another)) => required = another,
            end => return end,
        }
    }
    Ok(Terminal::ConfirmationRequired(required))
}

/// Notifies the reader that the call waits for a confirmation, and waits.
async fn announce_and_wait(
    call: &mut Call,
    confirm: &Confirm,
    required: &ConfirmationRequired,
    until: tokio::time::Instant,
) -> WaitOutcome {
    call.accept();
    call.facts.note(Stage::AwaitingConfirmation);
    call.context.events.awaiting_confirmation(Box::new(required.clone())).await;
    wait(call, confirm, required, until).instrument(span::await_confirmation(required)).await
}

/// The identifier of a call that has none and needs a confirmation; a repeat finds the decision by it. If the outermost
/// call can be repeated, the identifier is derived from it; otherwise that of the newest confirmation of an equal call
/// is adopted.
async fn find_request_id(call: &Call, store: &Store) -> Result<Option<RequestId>, Refusal> {
    let context = &call.context;
    // A write from outside without an identifier is refused below.
    if call.request_id.is_some() || (context.depth == 0 && call.writes()) {
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
    match store.find_adoptable_confirmation(binding).await {
        Ok(adopted) => Ok(Some(adopted.unwrap_or(own))),
        Err(error) => {
            tracing::error!(%error, call_id = %context.call_id, "confirmations cannot be read");
            Err(super::refusals::unavailable())
        }
    }
}
