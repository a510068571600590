//! The users whose next requests would be too late, as the state said a moment ago: a user who asks again meanwhile
//! takes no turn of those who write.
//!
//! Known for a second at most, since requests are given back in other processes too.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use toolwire_base::brief_memory::{BriefMemory, Look};
use toolwire_tool::context::UserId;

/// How long it is known that a request would be too late.
const KNOWN_FOR: Duration = Duration::from_secs(1);

/// Of one source. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct LateRequests(Arc<BriefMemory<UserId, Late>>);

/// When the next request of a user can be made at the earliest.
#[derive(Clone, Copy, Debug)]
struct Late {
    at: Instant,
    /// From when on the state is asked again.
    until: Instant,
}

impl LateRequests {
    /// When the user's next request can be made at the earliest, if that is known and behind the deadline.
    pub(super) fn find(&self, user: &UserId, deadline: Instant, now: Instant) -> Option<Instant> {
        let is_late = |known: &Late| now < known.until && known.at > deadline;
        self.0.find(user, |known| is_late(known).then_some(known.at))
    }

    /// Begins to ask the state.
    pub(super) fn look(&self, user: &UserId) -> Look {
        self.0.look(user)
    }

    /// Remembers what the state has said.
    pub(super) fn remember(&self, look: Look, user: &UserId, at: Instant, now: Instant) {
        let known = Late { at, until: at.min(now + KNOWN_FOR) };
        self.0.remember(look, user.clone(), known, |other| other.until <= now);
    }

    /// Forgets all of them, since a reservation was given back.
    pub(super) fn forget_all(&self) {
        self.0.forget_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_base::clock;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn that_a_request_would_be_too_late_is_known_for_a_second_and_never_beyond_its_instant() {
        let (known, user, now) = (LateRequests::default(), "a".parse().unwrap(), clock::now());
        let find = |deadline, after| known.find(&user, now + deadline, now + after);
        let remember = |at| known.remember(known.look(&user), &user, now + at, now);
        let [zero, almost, second, moment] = [0, 999, 1_000, 1].map(Duration::from_millis);
        assert_eq!(find(HOUR, zero), None);
        remember(2 * HOUR);
        assert_eq!(find(HOUR, zero), Some(now + 2 * HOUR));
        assert_eq!(find(2 * HOUR, zero), None, "one that can wait for it is made");
        assert_eq!((find(HOUR, almost), find(HOUR, second)), (Some(now + 2 * HOUR), None));
        remember(2 * moment);
        assert_eq!((find(moment, moment), find(moment, 2 * moment)), (Some(now + 2 * moment), None));
        assert_eq!(known.find(&"b".parse().unwrap(), now + moment, now), None);
        // Another request is given back while the state is asked.
        let look = known.look(&user);
        known.forget_all();
        known.remember(look, &user, now + HOUR, now);
        assert_eq!(find(zero, zero), None);
    }
}
