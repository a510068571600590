//! Refusals that are not written yet, counted by kind. The first of a kind is due at once, those that follow a minute
//! after the record before. The number of kinds is bounded: beyond it the reason alone tells them apart.

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
/// Maximum number of kinds at a time. Reasons alone come on top, which are few.
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
    kinds: Mutex<HashMap<RefusalKind, Batch>>,
    changed: Notify,
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
}

impl Pending {
    /// Counts a refusal at an instant of the state's clock.
    pub(crate) fn note(&self, refused: &RefusedRequest<'_>, at: SystemTime) {
        let mut kinds = self.lock();
        let mut kind = RefusalKind::of(refused);
        if kinds.len() >= MAX_KINDS && !kinds.contains_key(&kind) {
            kind = RefusalKind { reason: kind.reason, ..RefusalKind::default() };
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
        kinds.retain(|_, it| it.count > 0 || it.due > now);
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
            let counted = kinds.entry(kind).or_insert(none);
            if counted.count == 0 {
                counted.last = last;
            }
            counted.first = first;
            counted.count += count;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RefusalKind, Batch>> {
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
        assert!(pending.lock().is_empty(), "a kind that ended takes no memory");
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
