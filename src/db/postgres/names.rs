//! The names of the processes that share a database: those of this one, and when others were seen last.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use toolwire_base::clock::now;

/// A process that shows itself no more is taken for dead after this time: a connection that broke is soon back, and
/// what the process carries out goes on meanwhile.
const GRACE: Duration = Duration::from_secs(5);

/// Maximum number of names of this process, of which the oldest are given up.
const MAX_NAMES: usize = 64;

#[derive(Debug)]
pub(super) struct Names(Mutex<Known>);

#[derive(Debug)]
struct Known {
    /// The names of this process, the newest last.
    own: Vec<Arc<str>>,
    /// Whether the newest is shown.
    is_shown: bool,
    /// The server's process of the connection that shows it.
    pid: i32,
    /// When the processes that live were looked at first, without a break since.
    watched_since: Instant,
    /// When names were seen last, by their keys.
    seen: HashMap<i32, Instant>,
}

impl Default for Names {
    fn default() -> Self {
        Self(Mutex::new(Known {
            own: Vec::new(),
            is_shown: false,
            pid: 0,
            watched_since: now(),
            seen: HashMap::new(),
        }))
    }
}

impl Names {
    /// This process is known by a new name, and by its earlier ones.
    pub(super) fn show(&self, name: &Arc<str>, pid: i32) {
        let mut known = self.lock();
        known.own.push(Arc::clone(name));
        let excess = known.own.len().saturating_sub(MAX_NAMES);
        known.own.drain(..excess);
        (known.is_shown, known.pid, known.watched_since) = (true, pid, now());
    }

    /// This process is not known until it has a new name.
    pub(super) fn hide(&self) {
        self.lock().is_shown = false;
    }

    /// The name of this process, if it is shown.
    pub(super) fn current(&self) -> Option<Arc<str>> {
        let known = self.lock();
        known.own.last().filter(|_| known.is_shown).cloned()
    }

    pub(super) fn own(&self) -> Vec<Arc<str>> {
        self.lock().own.clone()
    }

    pub(super) fn is_own(&self, name: &str) -> bool {
        self.lock().own.iter().any(|own| **own == *name)
    }

    pub(super) fn pid(&self) -> i32 {
        self.lock().pid
    }

    /// Notes which names are shown now, by their keys.
    pub(super) fn see(&self, alive: Vec<i32>) {
        let (mut known, now) = (self.lock(), now());
        known.seen.retain(|_, seen| now - *seen < GRACE);
        known.seen.extend(alive.into_iter().map(|key| (key, now)));
    }

    /// Whether a name that is not shown now has not been for a while, in which this process looked all the time.
    pub(super) fn is_missed(&self, key: i32) -> bool {
        let known = self.lock();
        let last = known.seen.get(&key).map_or(known.watched_since, |seen| known.watched_since.max(*seen));
        now() - last >= GRACE
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_process_is_missed_after_a_while_without_a_sign_of_it() {
        let names = Names::default();
        names.show(&"own".into(), 1);
        assert!(!names.is_missed(7), "who looks for the first time cannot know");
        advance(GRACE).await;
        assert!(names.is_missed(7));
        names.see(vec![7]);
        advance(GRACE.saturating_sub(Duration::from_millis(1))).await;
        names.see(vec![8]);
        assert!(!names.is_missed(7));
        advance(Duration::from_millis(1)).await;
        assert!(names.is_missed(7) && !names.is_missed(8));
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_away_itself_misses_nobody_at_once() {
        let names = Names::default();
        names.show(&"own".into(), 1);
        advance(2 * GRACE).await;
        names.see(vec![7]);
        names.hide();
        assert_eq!(names.current(), None);
        // Everybody lost the database, and this process is back first.
        advance(2 * GRACE).await;
        names.show(&"new".into(), 2);
        assert!(!names.is_missed(7));
        assert_eq!(names.current().as_deref(), Some("new"));
        assert!(names.is_own("own") && names.is_own("new") && !names.is_own("other"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_breaks_for_ever_costs_a_bounded_number_of_names() {
        let names = Names::default();
        for name in 0..10 * MAX_NAMES {
            names.show(&name.to_string().into(), 1);
        }
        assert_eq!(names.own().len(), MAX_NAMES);
        assert!(names.is_own("639") && !names.is_own("5"));
    }
}
