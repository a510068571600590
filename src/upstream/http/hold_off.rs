//! Hold-off: after a 429 or a 503 that says for how long, nobody asks the source before then, whoever was refused.
//!
//! Not here: cool-downs, which are for refusals that waiting does not end.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::{Answer, Failure, FailureKind};
use crate::clock;

/// Until when a source asked to be left alone. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldOff {
    own: Arc<Mutex<Option<Instant>>>,
    /// That of the whole source, for a part of one.
    of_source: Option<Arc<Mutex<Option<Instant>>>>,
}

impl HoldOff {
    /// That of a part of the source: it holds off nobody else, and is held off with the source.
    pub(super) fn of_part(&self) -> Self {
        Self { own: Arc::default(), of_source: Some(Arc::clone(&self.own)) }
    }

    /// The instant before which nothing may be asked, if it is yet to come.
    pub(super) fn until(&self) -> Option<Instant> {
        let all = [Some(&self.own), self.of_source.as_ref()].into_iter().flatten();
        let latest = all.filter_map(|it| *it.lock().unwrap_or_else(PoisonError::into_inner)).max();
        latest.filter(|until| *until > clock::now())
    }

    /// Takes note of what a source said with an answer.
    pub(super) fn note(&self, end: &Result<Answer, Failure>) {
        let Err(Failure { kind, retry_after: Some(wait), .. }) = end else { return };
        if !matches!(kind, FailureKind::RateLimited | FailureKind::Down) {
            return;
        }
        let until = clock::now() + *wait;
        let mut held = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.max(Some(until));
    }
}
