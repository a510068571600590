//! Waiting for a person: as long as the caller said, and for nobody else. What is waited for is in the store, so
//! nothing is lost with whoever waits.

use std::time::Duration;

use tokio::{
    select,
    time::{Instant, sleep, sleep_until},
};

use super::super::Call;
use toolwire_base::clock;
use toolwire_contract::ConfirmationRequired;
use toolwire_store::{Store, confirmations::life::State};

/// The wait says that it goes on this often.
const PROGRESS: Duration = Duration::from_secs(10);

/// Between two attempts to read a confirmation that cannot be read.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// What is left of a call for saying that a person has not decided.
const RESERVE: Duration = Duration::from_secs(1);

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// The confirmation is no longer pending.
    Decided,
    /// Nobody decided in time.
    Undecided,
    /// The call was cancelled.
    Cancelled,
}

/// Until when a call waits: as its caller said, and early enough to say so before its deadline.
pub(super) fn until(call: &Call, wait: Duration) -> Instant {
    let deadline = call.context.deadline.at();
    let latest = deadline.checked_sub(RESERVE).unwrap_or(deadline);
    clock::now().checked_add(wait).map_or(latest, |until| until.min(latest))
}

pub(super) async fn wait(
    call: &Call,
    store: &Store,
    required: &ConfirmationRequired,
    until: Instant,
) -> Waited {
    let said = format!("Waiting for a person to approve {}", required.tool);
    let decided = decided(store, required);
    let speaking = async {
        loop {
            sleep(PROGRESS).await;
            call.context.events.progress(None, &said);
        }
    };
    select! {
        biased;
        () = call.context.cancellation.cancelled() => Waited::Cancelled,
        () = decided => Waited::Decided,
        () = sleep_until(until) => Waited::Undecided,
        () = speaking => Waited::Undecided,
    }
}

/// Waits until a confirmation is no longer pending. A store that cannot be read now may be read later.
async fn decided(store: &Store, required: &ConfirmationRequired) {
    let id = &required.confirmation_id;
    let mut changes = store.follow_confirmation(id);
    loop {
        changes.mark_unchanged();
        let again = match store.confirmation(id, clock::wall()).await {
            // When its time has passed, at the latest.
            Ok(Some(it)) if it.state == State::Pending => {
                it.expires_at.duration_since(clock::wall()).unwrap_or_default()
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
