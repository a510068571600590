//! The quotas that are used up, as the state said a moment ago: a user who calls on and on is refused without asking it
//! again, so that a flood takes no turn of those who write.
//!
//! They count by the clock of the state, for a second at most and never beyond the instant at which a place becomes
//! free. Not here: how calls are counted (`quota`).

use std::{sync::Arc, time::Duration};

use toolwire_base::brief_memory::{BriefMemory, Look};
use toolwire_state::reservations::{Limit, Nanos, Reached};

/// How long a number of calls in a window counts as used up.
const CALLS_KNOWN: Duration = Duration::from_secs(1);
/// The same of permits, which other processes may free at any time; those of this one are forgotten at once.
const PERMITS_KNOWN: Duration = Duration::from_millis(100);

/// Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct UsedUp(Arc<BriefMemory<String, Known>>);

#[derive(Clone, Copy, Debug)]
struct Known {
    most: u32,
    from: Nanos,
    /// From when on the state is asked again.
    until: Nanos,
    free_at: Nanos,
}

impl UsedUp {
    /// The first of the limits that is known to be reached.
    pub(super) fn find<'a>(&self, limits: impl Iterator<Item = &'a Limit>, now: Nanos) -> Option<Reached> {
        limits.enumerate().find_map(|(index, limit)| {
            // A limit that a reload has changed must be counted again.
            let counts = |known: &Known| known.most == limit.most && (known.from..known.until).contains(&now);
            let free_at = self.0.find(&limit.name, |known| counts(known).then_some(known.free_at))?;
            Some(Reached { index, now, free_at })
        })
    }

    /// Begins to ask the state for a limit.
    pub(super) fn look(&self, limit: &Limit) -> Look {
        self.0.look(&limit.name)
    }

    /// Remembers that a limit is reached.
    pub(super) fn remember(&self, look: Look, limit: &Limit, reached: Reached) {
        let Reached { now, free_at, .. } = reached;
        let known_for = if limit.ahead > 0 { PERMITS_KNOWN } else { CALLS_KNOWN };
        let known_for = known_for.as_nanos().try_into().unwrap_or(Nanos::MAX);
        let until = free_at.min(now.saturating_add(known_for));
        let known = Known { most: limit.most, from: now, until, free_at };
        self.0.remember(look, limit.name.clone(), known, |other| other.until <= now);
    }

    /// Forgets what is counted under a name, since a place is free.
    pub(super) fn forget(&self, name: &str) {
        self.0.forget(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn limit(name: &str, most: u32, ahead: Nanos) -> Limit {
        Limit { name: name.to_owned(), most, window: SECOND, ahead }
    }

    fn reached(now: Nanos, free_at: Nanos) -> Reached {
        Reached { index: 0, now, free_at }
    }

    #[test]
    fn it_is_known_for_a_second_and_never_beyond_the_instant_at_which_a_place_becomes_free() {
        let (used_up, now) = (UsedUp::default(), 100 * SECOND);
        let [long, short, permits] = [limit("long", 1, 0), limit("short", 1, 0), limit("permits", 1, SECOND)];
        for (limit, free_at) in [(&long, now + 60 * SECOND), (&short, now + 7), (&permits, now + SECOND)] {
            used_up.remember(used_up.look(limit), limit, reached(now, free_at));
        }
        let find = |limit: &Limit, now| used_up.find([limit].into_iter(), now).map(|it| it.free_at - it.now);
        assert_eq!(find(&long, now), Some(60 * SECOND));
        assert_eq!(find(&long, now + SECOND - 1), Some(59 * SECOND + 1));
        assert_eq!(find(&long, now + SECOND), None);
        assert_eq!((find(&short, now + 6), find(&short, now + 7)), (Some(1), None));
        assert_eq!(
            (find(&permits, now + SECOND / 10 - 1), find(&permits, now + SECOND / 10)),
            (Some(SECOND * 9 / 10 + 1), None)
        );
        // The clock was taken back: nothing is known of then.
        assert_eq!(find(&long, now - 1), None);
        assert_eq!(find(&limit("long", 2, 0), now), None);
        let both = [limit("other", 1, 0), long];
        assert_eq!(used_up.find(both.iter(), now).map(|it| it.index), Some(1));
    }

    #[test]
    fn a_place_that_is_freed_while_the_state_is_asked_is_not_missed() {
        let (used_up, permits) = (UsedUp::default(), limit("permits", 1, SECOND));
        let look = used_up.look(&permits);
        used_up.forget(&permits.name);
        used_up.remember(look, &permits, reached(SECOND, 2 * SECOND));
        assert_eq!(used_up.find([&permits].into_iter(), SECOND), None);
    }
}
