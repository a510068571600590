//! The delivery of a write's outcome: from then on the write no longer lends its `request_id`.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::sleep;

use toolwire_contract::{ErrorCode, Refusal, Terminal};
use toolwire_state::{
    Store,
    equal_writes::{EqualWrite, UNDELIVERED},
    idempotency::Key,
};
use toolwire_tool::context::RequestId;

/// How long the row of a delivered write is kept: an outcome that the face has taken is lost if the process ends before
/// the client has it. A repeat is then answered from the record.
const KEPT_AFTER_DELIVERY: Duration = Duration::from_secs(1);

/// The writes that were delivered and whose rows are not deleted yet. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(in crate::pipeline) struct Delivered(Arc<Mutex<HashSet<Key>>>);

/// The row of a write that lends its `request_id` until its outcome is delivered.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Delivery {
    pub(in crate::pipeline) store: Arc<Store>,
    pub(in crate::pipeline) write: EqualWrite,
    pub(in crate::pipeline) request_id: RequestId,
    /// Whether the reader of the call's events receives the outcome for its user.
    pub(in crate::pipeline) by_reader: bool,
    pub(in crate::pipeline) delivered: Delivered,
}

impl Delivered {
    pub(in crate::pipeline) fn contains(&self, key: &Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    fn insert(&self, key: Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }

    fn remove(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// A `request_id` is scoped to a user and a tool.
pub(in crate::pipeline) fn key(write: &EqualWrite, request_id: RequestId) -> Key {
    Key { user: write.user.clone(), tool: write.tool.clone(), request_id }
}

impl Delivery {
    pub(super) fn request_id(&self) -> RequestId {
        self.request_id
    }

    /// Notes that the reader of the call takes its end.
    pub(in crate::pipeline) fn deliver(&self, end: Result<&Terminal, &Refusal>) {
        let key = key(&self.write, self.request_id);
        if !self.by_reader || !settles(end) || !self.delivered.insert(key.clone()) {
            return;
        }
        let Self { store, write, request_id, delivered, .. } = self.clone();
        tokio::spawn(async move {
            sleep(KEPT_AFTER_DELIVERY).await;
            if let Err(error) = store.release_equal_write(&write, request_id).await {
                tracing::warn!(%error, %request_id, "a delivered write still lends its request_id");
                // Until its row lends no more, this process does not lend it either.
                sleep(UNDELIVERED).await;
            }
            delivered.remove(&key);
        });
    }
}

/// Whether the end settles the outcome of the write, so that an equal call is a new write.
fn settles(end: Result<&Terminal, &Refusal>) -> bool {
    match end {
        Ok(Terminal::Result(result)) => {
            !matches!(&result.outcome, Err(error) if error.code == ErrorCode::OutcomeUnknown)
        }
        // Nothing was begun.
        Err(
            Refusal::TooManyRequestIds { .. }
            | Refusal::TooManyRequestIdsInAll { .. }
            | Refusal::TooManyConfirmations { .. }
            | Refusal::QuotaExhausted { .. },
        ) => true,
        // Its confirmation is open, or the write may be under way.
        Ok(Terminal::ConfirmationRequired(_)) | Err(_) => false,
    }
}
