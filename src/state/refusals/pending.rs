//! Refusals that are not written yet, counted by kind. The first of a kind is due at once, those that follow a minute
//! after the record before. The number of kinds is bounded, of identified users apart from that of others, so that
//! strangers cannot hide what a user is refused: beyond it the reason alone tells them apart.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::{
    select,
    sync::Notify,
    time::{Instant, sleep_until},
};

use toolwire_base::clock;
use toolwire_tool::context::RefusedRequest;

/// Between two records of one kind.
const INTERVAL: Duration = Duration::from_mins(1);
/// Maximum number of kinds at a time, of identified users and of others each. Reasons alone come on top, which are few.
const MAX_KINDS: usize = 256;
/// Maximum length of a target, in characters.
const MAX_TARGET: usize = 128;

/// What equal refusals have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RefusalKind {
    pub(crate) reason: &'static str,
    pub(crate) user: String,
    pub(crate) known_by: &'static str,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) face: &'static str,
    pub(crate) target: String,
}

/// Refusals of one kind, to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) kind: RefusalKind,
    pub(crate) first: SystemTime,
    pub(crate) last: SystemTime,
    pub(crate) count: u64,
}

/// Refusals of one kind since its last record.
#[derive(Debug)]
struct Batch {
    first: SystemTime,
    last: SystemTime,
    count: u64,
    /// From when on they may be written.
    due: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Pending {
    kinds: Mutex<Kinds>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Kinds {
    of_users: HashMap<RefusalKind, Batch>,
    of_strangers: HashMap<RefusalKind, Batch>,
}

impl RefusalKind {
    fn of(refused: &RefusedRequest<'_>) -> Self {
        Self {
            reason: refused.reason,
            user: refused.user.map(|user| user.id.to_string()).unwrap_or_default(),
            known_by: refused.user.map(|user| user.known_by.into()).unwrap_or_default(),
            peer: refused.origin.peer,
            face: refused.origin.face,
            target: refused.target.chars().take(MAX_TARGET).collect(),
        }
    }

    fn has_user(&self) -> bool {
        !self.known_by.is_empty()
    }

    /// What is left of a kind that is one too many.
    fn reason_alone(&self) -> Self {
        Self { reason: self.reason, known_by: self.known_by, ..Self::default() }
    }
}

impl Kinds {
    /// The kinds among which this one is counted.
    fn beside(&mut self, kind: &RefusalKind) -> &mut HashMap<RefusalKind, Batch> {
        if kind.has_user() { &mut self.of_users } else { &mut self.of_strangers }
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = (&RefusalKind, &mut Batch)> {
        self.of_users.iter_mut().chain(&mut self.of_strangers)
    }

    fn values(&self) -> impl Iterator<Item = &Batch> {
        self.of_users.values().chain(self.of_strangers.values())
    }

    fn retain(&mut self, is_kept: impl Fn(&Batch) -> bool) {
        for kinds in [&mut self.of_users, &mut self.of_strangers] {
            kinds.retain(|_, batch| is_kept(batch));
        }
    }
}

impl Pending {
    /// Counts a refusal at an instant of the state's clock.
    pub(crate) fn note(&self, refused: &RefusedRequest<'_>, at: SystemTime) {
        let mut all = self.lock();
        let mut kind = RefusalKind::of(refused);
        let kinds = all.beside(&kind);
        if kinds.len() >= MAX_KINDS && !kinds.contains_key(&kind) {
            kind = kind.reason_alone();
        }
        let none = Batch { first: at, last: at, count: 0, due: clock::now() };
        let counted = kinds.entry(kind).or_insert(none);
        if counted.count == 0 {
            counted.first = at;
            self.changed.notify_one();
        }
        counted.last = at;
        counted.count += 1;
    }

    /// Waits until some are due.
    pub(crate) async fn wait_due(&self) {
        loop {
            let due = self.lock().values().filter(|it| it.count > 0).map(|it| it.due).min();
            match due {
                None => self.changed.notified().await,
                Some(due) if due <= clock::now() => return,
                Some(due) => select! {
                    () = sleep_until(due) => return,
                    () = self.changed.notified() => {}
                },
            }
        }
    }

    /// Takes those that are due by now, or all.
    pub(crate) fn take(&self, all: bool) -> Vec<Counted> {
        let now = clock::now();
        let mut kinds = self.lock();
        kinds.retain(|it| it.count > 0 || it.due > now);
        let due = kinds.iter_mut().filter(|(_, it)| it.count > 0 && (all || it.due <= now));
        let take = |(kind, it): (&RefusalKind, &mut Batch)| {
            let taken = Counted { kind: kind.clone(), first: it.first, last: it.last, count: it.count };
            (it.count, it.due) = (0, now + INTERVAL);
            taken
        };
        due.map(take).collect()
    }

    /// Counts those again that could not be written: they are due with the next.
    pub(crate) fn put_back(&self, taken: Vec<Counted>) {
        let mut kinds = self.lock();
        for Counted { kind, first, last, count } in taken {
            let none = Batch { first, last, count: 0, due: clock::now() + INTERVAL };
            let counted = kinds.beside(&kind).entry(kind).or_insert(none);
            if counted.count == 0 {
                counted.last = last;
            }
            counted.first = first;
            counted.count += count;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kinds> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use tokio::time::advance;

    use super::*;
    use toolwire_tool::context::{Origin, User};

    fn refused<'a>(reason: &'static str, target: &'a str) -> RefusedRequest<'a> {
        RefusedRequest { reason, user: None, origin: Origin { face: "grpc", peer: None }, target }
    }

    fn refused_tool<'a>(user: Option<&'a User>, target: &'a str) -> RefusedRequest<'a> {
        RefusedRequest { user, ..refused("tool_not_allowed", target) }
    }

    fn counts(taken: Vec<Counted>) -> Vec<(String, u64)> {
        let mut counts: Vec<_> = taken
            .into_iter()
            .map(|it| (format!("{} {}", it.kind.reason, it.kind.target), it.count))
            .collect();
        counts.sort();
        counts
    }

    fn of(counted: &[(&str, u64)]) -> Vec<(String, u64)> {
        counted.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_is_due_at_once_and_equal_ones_a_minute_after_it() {
        let pending = Pending::default();
        let at = |second| UNIX_EPOCH + Duration::from_secs(second);
        pending.note(&refused("missing", "a"), at(1));
        pending.note(&refused("expired", "a"), at(1));
        pending.wait_due().await;
        assert_eq!(counts(pending.take(false)), of(&[("expired a", 1), ("missing a", 1)]));
        for second in 2..5 {
            pending.note(&refused("missing", "a"), at(second));
        }
        assert_eq!(pending.take(false), []);
        let before = clock::now();
        pending.wait_due().await;
        assert_eq!(clock::now() - before, INTERVAL);
        let taken = pending.take(false);
        assert_eq!((taken.len(), taken[0].first, taken[0].last, taken[0].count), (1, at(2), at(4), 3));
        advance(INTERVAL).await;
        assert_eq!(pending.take(false), []);
        assert!(pending.lock().values().next().is_none(), "a kind that ended takes no memory");
    }

    #[tokio::test(start_paused = true)]
    async fn beyond_the_most_kinds_the_reason_alone_counts() {
        let pending = Pending::default();
        for number in 0..10 * MAX_KINDS {
            pending.note(&refused("tool_not_allowed", &format!("tool_{number}")), UNIX_EPOCH);
            pending.note(&refused("missing", &format!("tool_{number}")), UNIX_EPOCH);
        }
        let taken = pending.take(false);
        assert_eq!(taken.len(), MAX_KINDS + 2);
        assert_eq!(taken.iter().map(|it| it.count).sum::<u64>(), 20 * MAX_KINDS as u64);
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_hide_nothing_that_a_user_is_refused_nor_users_what_strangers_are() {
        let (riley, alex) = (User::new("riley".parse().unwrap()), User::new("alex".parse().unwrap()));
        for (many, one) in [(None, Some(&riley)), (Some(&riley), None)] {
            let pending = Pending::default();
            for number in 0..2 * MAX_KINDS {
                pending.note(&refused_tool(many, &format!("tool_{number}")), UNIX_EPOCH);
            }
            pending.note(&refused_tool(one, "pay"), UNIX_EPOCH);
            let taken = pending.take(false);
            assert_eq!(taken.len(), MAX_KINDS + 2);
            let of_one = taken.iter().find(|it| it.kind.target == "pay").expect("its own record");
            assert_eq!(of_one.kind.user, one.map(|user| user.id.to_string()).unwrap_or_default());
            let rest = taken.iter().find(|it| it.kind.target.is_empty()).expect("a record of the rest");
            assert_eq!((rest.count, rest.kind.has_user()), (MAX_KINDS as u64, many.is_some()));
            // What could not be written stands where it stood.
            pending.put_back(taken);
            pending.note(&refused_tool(one.map(|_| &alex), "pay"), UNIX_EPOCH);
            assert_eq!(pending.take(true).len(), MAX_KINDS + 2 + usize::from(one.is_some()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_written_is_counted_with_the_next() {
        let pending = Pending::default();
        let user = User::new("riley".parse().unwrap());
        let refused = RefusedRequest { user: Some(&user), ..refused("tool_not_allowed", "x") };
        pending.note(&refused, UNIX_EPOCH);
        pending.put_back(pending.take(false));
        pending.note(&refused, UNIX_EPOCH + Duration::from_secs(1));
        assert_eq!(pending.take(false), []);
        let all = pending.take(true);
        assert_eq!((all[0].count, all[0].kind.user.as_str(), all[0].first), (2, "riley", UNIX_EPOCH));
    }
}
