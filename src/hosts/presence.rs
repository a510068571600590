//! Whether a provider has slots: absences are numbered, so that a timer of an earlier one does nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// Even while slots are there, odd in an absence.
#[derive(Debug, Default)]
pub(crate) struct Presence(AtomicU64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absence(u64);

impl Presence {
    pub(crate) fn begin_absence(&self) -> Absence {
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |it| Some((it + 2) | 1));
        Absence((before.unwrap_or_else(|it| it) + 2) | 1)
    }

    /// A slot is there. Returns whether none was.
    pub(crate) fn end_absence(&self) -> bool {
        let before =
            self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |it| (it & 1 == 1).then_some(it + 1));
        before.is_ok()
    }

    pub(crate) fn is_still(&self, absence: Absence) -> bool {
        self.0.load(Ordering::Acquire) == absence.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_of_an_earlier_absence_does_nothing() {
        let presence = Presence::default();
        let first = presence.begin_absence();
        assert!(presence.is_still(first));
        assert!(presence.end_absence() && !presence.end_absence());
        assert!(!presence.is_still(first));
        let second = presence.begin_absence();
        assert!(presence.is_still(second) && !presence.is_still(first));
        let again = presence.begin_absence();
        assert!(presence.is_still(again) && !presence.is_still(second));
    }
}
