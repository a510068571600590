//! Hold-off: after a 429 that says for how long, nobody asks the source before then, whoever was refused.
//!
//! Not here: cool-downs, which are for refusals that waiting does not end.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::{Answer, Failure, FailureKind};
use crate::clock;

/// Until when a source asked to be left alone. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldOff(Arc<Mutex<Option<Instant>>>);

impl HoldOff {
    /// The instant before which nothing may be asked, if it is yet to come.
    pub(super) fn until(&self) -> Option<Instant> {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.filter(|until| *until > clock::now())
    }

    /// Takes note of what a source said with an answer.
    pub(super) fn note(&self, end: &Result<Answer, Failure>) {
        let Err(Failure { kind: FailureKind::RateLimited, retry_after: Some(wait), .. }) = end else {
            return;
        };
        let until = clock::now() + *wait;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.max(Some(until));
    }
}
