//! Replaced snapshots, held until no call uses them. Otherwise the last call to drop one would free all its tools, on a
//! thread that serves calls.

use std::sync::Arc;

use super::snapshot::Snapshot;
use toolwire_base::offload;

#[derive(Debug, Default)]
pub(super) struct OldSnapshots(Vec<Arc<Snapshot>>);

impl OldSnapshots {
    pub(super) fn push(&mut self, snapshot: Arc<Snapshot>) {
        self.0.push(snapshot);
        self.free();
    }

    /// Frees those that no call uses any more.
    pub(super) fn free(&mut self) {
        let unused: Vec<_> = self.0.extract_if(.., |snapshot| Arc::strong_count(snapshot) == 1).collect();
        if !unused.is_empty() {
            offload::discard(usize::MAX, unused);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_to_use_a_snapshot_does_not_free_it() {
        let mut replaced = OldSnapshots::default();
        let of_a_call = Arc::new(Snapshot::empty());
        let snapshot = Arc::downgrade(&of_a_call);
        replaced.push(Arc::clone(&of_a_call));
        drop(of_a_call);
        assert!(snapshot.upgrade().is_some());
        replaced.free();
        assert!(snapshot.upgrade().is_none());
    }
}
