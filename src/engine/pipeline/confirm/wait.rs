//! Waits for a person's decision, for the time that the caller gave. The confirmation is in the store, so that nothing
//! is lost if the waiting caller leaves.

use std::time::Duration;

use tokio::{
    select,
    time::{Instant, sleep, sleep_until},
};

use super::{super::Call, Confirm, standing};
use toolwire_base::clock;
use toolwire_contract::{ConfirmationRequired, Refusal};
use toolwire_state::{Store, confirmations::life::State};
use toolwire_tool::context::StopCause;

/// Interval of progress events during the wait.
const PROGRESS: Duration = Duration::from_secs(10);

/// The delay before a failed read of a confirmation is retried.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// The time before the call's deadline that is reserved for the answer that a person has not decided.
const RESERVE: Duration = Duration::from_secs(1);

/// Why a call waits for a person no longer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WaitOutcome {
    /// The confirmation is no longer pending.
    Decided,
    /// No decision in time, or before the server ended.
    Undecided,
    Cancelled,
    /// The user may no longer call the tool, or the token has ended.
    Refused(Refusal),
}

/// The end of the wait: after the caller's time, or [`RESERVE`] before the deadline.
pub(super) fn wait_end(call: &Call, wait: Duration) -> Instant {
    let deadline = call.context.deadline.at();
    let latest = deadline.checked_sub(RESERVE).unwrap_or(deadline);
    clock::now().checked_add(wait).map_or(latest, |until| until.min(latest))
}

pub(super) async fn wait(
    call: &Call,
    confirm: &Confirm,
    required: &ConfirmationRequired,
    until: Instant,
) -> WaitOutcome {
    let message = format!("Waiting for a person to approve {}", required.tool);
    let send_progress = async {
        loop {
            sleep(PROGRESS).await;
            call.context.events.progress(None, &message);
        }
    };
    select! {
        biased;
        () = call.context.cancellation.cancelled() => stop_outcome(call.context.cancellation.cause()),
        refusal = standing::wait_for_loss(call, confirm, required) => WaitOutcome::Refused(refusal),
        () = wait_for_decision(&confirm.store, required) => WaitOutcome::Decided,
        () = sleep_until(until) => WaitOutcome::Undecided,
        () = send_progress => WaitOutcome::Undecided,
    }
}

/// The outcome of a wait that was stopped. The end of the server leaves the confirmation open: a repeat of the call,
/// at another replica or after the restart, waits for the same decision.
fn stop_outcome(cause: Option<StopCause>) -> WaitOutcome {
    match cause {
        Some(StopCause::Shutdown) => WaitOutcome::Undecided,
        _ => WaitOutcome::Cancelled,
    }
}

/// Waits until a confirmation is no longer pending. Failed reads are retried.
async fn wait_for_decision(store: &Store, required: &ConfirmationRequired) {
    let id = &required.confirmation_id;
    let mut changes = store.follow_confirmation(id);
    loop {
        changes.mark_unchanged();
        let again = match store.confirmation(id).await {
            // Read again when it expires, even without a notification.
            Ok(Some(it)) if it.state == State::Pending => {
                it.expires_at.duration_since(store.now()).unwrap_or_default()
            }
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "a confirmation cannot be read while a call waits for it");
                TRY_AGAIN
            }
        };
        let until = clock::now().checked_add(again).unwrap_or_else(|| clock::now() + TRY_AGAIN);
        store.confirmation_may_have_changed(&mut changes, until).await;
    }
}
