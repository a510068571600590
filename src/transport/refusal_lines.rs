//! How often equal refusals are logged: the first at once, and then one a minute with the number of those between. So
//! a client that goes on with a bad token, or somebody who tries tokens, fills no disk.
//!
//! Not here: counts and records of all of them, which are the audit's.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use toolwire_base::clock;
use toolwire_tool::context::{RefusedRequest, UserId};

/// Between two lines of equal refusals.
const INTERVAL: Duration = Duration::from_mins(1);
/// Maximum number of kinds that have lines of their own at a time, of identified users and of others each; beyond it
/// one of each reason.
const MAX_KINDS: usize = 256;
/// The longest target, in characters.
const MAX_TARGET: usize = 128;

/// The refusals that were logged of late.
#[derive(Debug, Default)]
pub(super) struct RefusalLines(Mutex<Lines>);

/// Those of identified users apart, so that strangers cannot hide what a user is refused.
#[derive(Debug, Default)]
struct Lines {
    of_users: HashMap<Kind, Logged>,
    of_strangers: HashMap<Kind, Logged>,
}

/// What equal refusals have in common.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Kind {
    reason: &'static str,
    user: Option<UserId>,
    peer: Option<IpAddr>,
    face: &'static str,
    target: String,
}

#[derive(Debug)]
struct Logged {
    /// From when on one is logged again.
    due: Instant,
    /// Those since.
    unlogged: u64,
}

impl RefusalLines {
    /// How many equal refusals were not logged before this one; `None` if it is not to be logged either.
    pub(super) fn admit(&self, refused: &RefusedRequest<'_>) -> Option<u64> {
        let now = clock::now();
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kinds = if refused.user.is_some() { &mut lines.of_users } else { &mut lines.of_strangers };
        let mut kind = Kind::of(refused);
        if kinds.len() >= MAX_KINDS && !kinds.contains_key(&kind) {
            kinds.retain(|_, logged| logged.due > now);
            if kinds.len() >= MAX_KINDS {
                kind = Kind { reason: refused.reason, ..Kind::default() };
            }
        }
        let logged = kinds.entry(kind).or_insert(Logged { due: now, unlogged: 0 });
        if logged.due > now {
            logged.unlogged += 1;
            return None;
        }
        let unlogged = logged.unlogged;
        *logged = Logged { due: now + INTERVAL, unlogged: 0 };
        Some(unlogged)
    }
}

impl Kind {
    fn of(refused: &RefusedRequest<'_>) -> Self {
        Self {
            reason: refused.reason,
            user: refused.user.map(|user| user.id.clone()),
            peer: refused.origin.peer,
            face: refused.origin.face,
            target: refused.target.chars().take(MAX_TARGET).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use toolwire_tool::context::{Origin, User};

    fn refused<'a>(reason: &'static str, target: &'a str, user: Option<&'a User>) -> RefusedRequest<'a> {
        RefusedRequest { reason, user, origin: Origin { face: "grpc", peer: None }, target }
    }

    #[tokio::test(start_paused = true)]
    async fn equal_refusals_are_one_line_a_minute_with_their_number() {
        let (lines, riley) = (RefusalLines::default(), User::new("riley".parse().unwrap()));
        let admit = |reason, target, user| lines.admit(&refused(reason, target, user));
        assert_eq!(admit("expired", "a", None), Some(0));
        for other in
            [admit("missing", "a", None), admit("expired", "b", None), admit("expired", "a", Some(&riley))]
        {
            assert_eq!(other, Some(0));
        }
        for _ in 0..100_000 {
            assert_eq!(admit("expired", "a", None), None);
        }
        advance(INTERVAL).await;
        assert_eq!((admit("expired", "a", None), admit("expired", "a", None)), (Some(100_000), None));
    }

    #[tokio::test(start_paused = true)]
    async fn many_kinds_take_no_more_memory_and_hide_no_user() {
        let (lines, riley) = (RefusalLines::default(), User::new("riley".parse().unwrap()));
        let admit = |user, number: usize| lines.admit(&refused("rejected", &number.to_string(), user));
        let held = || {
            let lines = lines.0.lock().unwrap();
            [lines.of_users.len(), lines.of_strangers.len()]
        };
        let logged = (0..10 * MAX_KINDS).filter(|number| admit(None, *number).is_some()).count();
        assert_eq!((logged, held()), (MAX_KINDS + 1, [0, MAX_KINDS + 1]));
        for number in [0, 1] {
            assert_eq!(admit(Some(&riley), number), Some(0), "whatever strangers do");
        }
        advance(INTERVAL).await;
        assert_eq!(admit(None, 10 * MAX_KINDS), Some(0));
        assert_eq!(held(), [2, 1], "what is past is forgotten");
    }
}
