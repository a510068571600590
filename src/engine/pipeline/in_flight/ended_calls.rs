//! The calls that ended last, by the numbers of their ends.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    ops::RangeFrom,
};

use super::EndedCall;
use toolwire_tool::context::UserId;

/// Maximum number of calls.
const MAX: usize = 10_000;

/// The number of the newest ends, none of which is displaced: from there a watch goes on without a gap.
const GAPLESS: usize = MAX / 2;

/// The number of users with most calls among whom one is looked for whose oldest call may be displaced.
const LOOKED_AT: usize = 8;

#[derive(Debug, Default)]
pub(super) struct EndedCalls {
    // Boxed, since a tree moves what it holds between its nodes.
    calls: BTreeMap<u64, Box<EndedCall>>,
    /// The numbers of each user's calls, in ascending order.
    by_user: HashMap<UserId, VecDeque<u64>>,
    /// The users by how many calls they have here.
    by_count: BTreeSet<(usize, UserId)>,
    /// The numbers of the newest ends.
    newest: VecDeque<u64>,
}

impl EndedCalls {
    /// Adds a call, and returns the number of the one that it displaces: the oldest of the user who has most, so that a
    /// user who calls much displaces no more than half of what others have.
    pub(super) fn push(&mut self, ended: EndedCall) -> Option<u64> {
        let displaced = if self.calls.len() >= MAX { self.displace() } else { None };
        self.change(&ended.info.user, |numbers| numbers.push_back(ended.number));
        if self.newest.len() >= GAPLESS {
            self.newest.pop_front();
        }
        self.newest.push_back(ended.number);
        self.calls.insert(ended.number, Box::new(ended));
        displaced
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &EndedCall> {
        self.calls.values().map(Box::as_ref)
    }

    pub(super) fn range(&self, numbers: RangeFrom<u64>) -> impl Iterator<Item = &EndedCall> {
        self.calls.range(numbers).map(|(_, ended)| ended.as_ref())
    }

    fn displace(&mut self) -> Option<u64> {
        let gapless_from = *self.newest.front()?;
        let oldest = self
            .by_count
            .iter()
            .rev()
            .take(LOOKED_AT)
            .filter_map(|(_, user)| self.by_user.get(user)?.front());
        let found = oldest.copied().find(|number| *number < gapless_from);
        let number = found.or_else(|| self.calls.keys().next().copied())?;
        let removed = self.calls.remove(&number)?;
        self.change(&removed.info.user, VecDeque::pop_front)
    }

    fn change<T>(&mut self, user: &UserId, change: impl FnOnce(&mut VecDeque<u64>) -> T) -> T {
        let (user, mut numbers) =
            self.by_user.remove_entry(user).unwrap_or_else(|| (user.clone(), [].into()));
        let mut count = (numbers.len(), user);
        self.by_count.remove(&count);
        let changed = change(&mut numbers);
        count.0 = numbers.len();
        if count.0 > 0 {
            self.by_user.insert(count.1.clone(), numbers);
            self.by_count.insert(count);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::pipeline::{ArrivalTime, CallEnd, CallInfo, Stages};
    use toolwire_base::{clock, digest::Digest};
    use toolwire_tool::context::{CallId, Origin};

    fn ended(user: &str, number: u64) -> EndedCall {
        let arrived = ArrivalTime { at: clock::now(), wall: SystemTime::UNIX_EPOCH };
        let info = CallInfo {
            call_id: CallId::generate(),
            user: user.parse().expect("a user"),
            request_id: None,
            parent_call_id: None,
            task_id: None,
            session_id: None,
            trace_id: None,
            origin: Origin::PROCESS,
            client: None,
            arrived,
            deadline: arrived.at,
        };
        EndedCall {
            info,
            tool: "get_facts".parse().expect("a name"),
            definition_digest: Digest::of_bytes(b""),
            at: arrived.wall,
            end: CallEnd::Data,
            error: None,
            from_cache: false,
            stages: Stages::default(),
            instance: None,
            number,
        }
    }

    fn count(calls: &EndedCalls, user: &str) -> usize {
        calls.iter().filter(|it| it.info.user.as_str() == user).count()
    }

    #[test]
    fn a_user_who_calls_much_displaces_no_others() {
        let (mut calls, max) = (EndedCalls::default(), u64::try_from(MAX).expect("a length"));
        let mut numbers = 0..;
        let mut push = |user| calls.push(ended(user, numbers.next().expect("a number")));
        for _ in 0..MAX {
            assert_eq!(push("riley"), None);
        }
        for number in 0..100 {
            assert_eq!(push("demo"), Some(number));
        }
        // What demo has stays, although riley's are newer.
        for number in 100..2 * max {
            assert_eq!(push("riley"), Some(if number < max { number } else { number + 100 }));
        }
        for _ in 0..2 * MAX {
            push("other");
        }
        let counts = ["demo", "riley", "other"].map(|user| count(&calls, user));
        assert!(counts[0] == 100 && counts[2].abs_diff(GAPLESS) <= 1, "{counts:?}");
        let (kept, counted): (Vec<_>, usize) =
            (calls.range(0..).map(|it| it.number).collect(), calls.by_user.values().map(VecDeque::len).sum());
        assert!(kept.is_sorted() && kept.len() == MAX && counted == MAX && calls.by_count.len() == 3);
    }

    #[test]
    fn none_of_the_newest_ends_is_displaced() {
        let mut calls = EndedCalls::default();
        let mut last = 0;
        let mut push = |user: &str| {
            last += 1;
            calls.push(ended(user, last)).map(|displaced| last - displaced)
        };
        // Users who have called before, one who calls much, and ever new ones.
        for user in 0..MAX {
            push(&format!("idle{}", user % 200));
        }
        for number in 0..2 * MAX {
            let ends_since = push("much").expect("all are full");
            assert!(ends_since >= u64::try_from(GAPLESS).expect("a length"), "{number}: {ends_since}");
            push(&format!("new{number}"));
        }
    }
}
