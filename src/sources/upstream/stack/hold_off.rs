//! Hold-off: after a 429 or a 503 with a `Retry-After`, no caller asks the source before then, in any process of this
//! machine.
//!
//! Not here: cool-downs, which are for refusals that waiting does not end; where hold-offs are kept, which is a
//! store's.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout};

use super::{Subject, record};
use crate::upstream::failure::{Failure, FailureKind};
use toolwire_base::clock;
use toolwire_state::hold_offs::{self, HoldOffs};

/// Maximum time that a call waits for its hold-off to be stored, which completes in any case.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The hold-offs of a source, or of a part of one: the hold-off of a part concerns no other part, and that of the
/// source all parts.
#[derive(Clone, Debug)]
pub(in crate::upstream) struct HoldOff {
    subject: Subject,
    store: Arc<dyn HoldOffs>,
}

impl HoldOff {
    /// The hold-offs of a subject, which a store keeps.
    pub(in crate::upstream) fn new(subject: Subject, store: Arc<dyn HoldOffs>) -> Self {
        Self { subject, store }
    }

    /// The instant before which nothing may be asked, if it is yet to come. Fails open: an error of the store stops no
    /// request.
    pub(super) async fn until(&self) -> Option<Instant> {
        let (source, now) = (&*self.subject.source, self.store.now());
        let found = self.store.of_source(source, now).await.unwrap_or_else(|error| {
            tracing::warn!(source, %error, "hold-offs cannot be read, none is assumed");
            Vec::new()
        });
        let concerning = found.iter().filter(|(name, _)| name == source || *name == self.subject.name);
        let left = concerning.filter_map(|(_, it)| it.until.duration_since(now).ok()).max()?;
        clock::now().checked_add(left)
    }

    /// Begins a hold-off if the source asked for a pause. It is stored by a task of its own, which completes even if
    /// the caller leaves.
    pub(in crate::upstream) async fn note(&self, failure: &Failure) {
        let Failure { kind, retry_after: Some(length), .. } = failure else { return };
        let Some(reason) = reason(*kind, &self.subject.title).filter(|_| !length.is_zero()) else { return };
        let (store, name) = (Arc::clone(&self.store), self.subject.name.clone());
        record::hold_off_began(&name, *length);
        let hold_off = hold_offs::HoldOff { reason, until: store.now() + *length };
        let kept = tokio::spawn(async move {
            if let Err(error) = store.begin(&name, &hold_off).await {
                tracing::warn!(source = &*name, %error, "the hold-off is known to this process alone");
            }
        });
        let _ = timeout(TIMEOUT, kept).await;
    }
}

/// Why the source is not asked, for callers and operators; `None` if it asked for no pause.
fn reason(kind: FailureKind, title: &str) -> Option<String> {
    match kind {
        FailureKind::RateLimited => {
            Some(format!("{title} said that too many requests came, and asked for a pause."))
        }
        FailureKind::Down => Some(format!("{title} said that it is down for now, and asked for a pause.")),
        _ => None,
    }
}
