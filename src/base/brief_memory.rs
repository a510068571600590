//! What is known of keys for a moment, such as that a limit is reached: a caller who asks again meanwhile is answered
//! without another look.
//!
//! A bounded number of keys; of those beyond it nothing is remembered, so that they are looked at each time. Not here:
//! how long a value counts, which its reader decides.

use std::{
    borrow::Borrow,
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Maximum number of keys.
const MAX_KEYS: usize = 10_000;

/// Number of counters of what was forgotten. Keys that share one only cost another look.
const COUNTERS: usize = 64;

#[derive(Debug)]
pub struct BriefMemory<K, V> {
    entries: Mutex<Entries<K, V>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Entries<K, V> {
    values: HashMap<K, V>,
    /// How often a key of each counter was forgotten.
    forgotten: [u64; COUNTERS],
}

/// The beginning of a look at what a key is about.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    counter: usize,
    forgotten: u64,
}

impl<K, V> Default for BriefMemory<K, V> {
    fn default() -> Self {
        let entries = Entries { values: HashMap::new(), forgotten: [0; COUNTERS] };
        Self { entries: Mutex::new(entries), hasher: RandomState::new() }
    }
}

impl<K: Eq + Hash, V> BriefMemory<K, V> {
    /// What is remembered of a key, read by `read`.
    pub fn find<Q, T>(&self, key: &Q, read: impl FnOnce(&V) -> Option<T>) -> Option<T>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.lock().values.get(key).and_then(read)
    }

    /// Begins to look at what a key is about.
    pub fn look<Q: Hash + ?Sized>(&self, key: &Q) -> Look {
        let counter = self.counter(key);
        Look { counter, forgotten: self.lock().forgotten[counter] }
    }

    /// Remembers what a look has found, unless that was forgotten meanwhile. `is_over` says of the values of other keys
    /// whether they count no more, where there is no room.
    pub fn remember(&self, look: Look, key: K, value: V, is_over: impl Fn(&V) -> bool) {
        let mut entries = self.lock();
        if entries.forgotten[look.counter] != look.forgotten {
            return;
        }
        if entries.values.len() >= MAX_KEYS && !entries.values.contains_key(&key) {
            entries.values.retain(|_, value| !is_over(value));
            if entries.values.len() >= MAX_KEYS {
                return;
            }
        }
        entries.values.insert(key, value);
    }

    /// Forgets what is known of a key, and what looks that are under way find.
    pub fn forget<Q>(&self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let counter = self.counter(key);
        let mut entries = self.lock();
        entries.forgotten[counter] += 1;
        entries.values.remove(key);
    }

    /// Forgets what is known of all keys.
    pub fn forget_all(&self) {
        let mut entries = self.lock();
        entries.forgotten.iter_mut().for_each(|count| *count += 1);
        entries.values.clear();
    }

    fn counter<Q: Hash + ?Sized>(&self, key: &Q) -> usize {
        #[allow(clippy::cast_possible_truncation, reason = "a remainder of a small number")]
        let counter = (self.hasher.hash_one(key) % COUNTERS as u64) as usize;
        counter
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_look_finds_is_known_until_it_is_forgotten() {
        let memory = BriefMemory::<String, u32>::default();
        let find = |key: &str| memory.find(key, |value| Some(*value));
        let look = memory.look("a");
        assert_eq!(find("a"), None);
        memory.remember(look, "a".to_owned(), 1, |_| false);
        assert_eq!((find("a"), find("b")), (Some(1), None));
        assert_eq!(memory.find("a", |value| (*value > 1).then_some(())), None);
        memory.forget("a");
        assert_eq!(find("a"), None);
        // The look began before, and may have seen what is no more.
        memory.remember(look, "a".to_owned(), 2, |_| false);
        assert_eq!(find("a"), None);
        memory.remember(memory.look("a"), "a".to_owned(), 3, |_| false);
        let look = memory.look("b");
        memory.forget_all();
        memory.remember(look, "b".to_owned(), 4, |_| false);
        assert_eq!((find("a"), find("b")), (None, None));
    }

    #[test]
    fn no_more_keys_are_remembered_than_there_is_room_for() {
        let memory = BriefMemory::<u32, bool>::default();
        let remember = |key, is_over| memory.remember(memory.look(&key), key, is_over, |is_over| *is_over);
        let is_known = |key| memory.find(&key, |_| Some(())).is_some();
        let (of_old, of_new) = (0..10_u32, 10..10_000);
        of_old.for_each(|key| remember(key, true));
        of_new.for_each(|key| remember(key, false));
        remember(10_000, false);
        assert!(is_known(10_000) && is_known(10) && !is_known(0), "those that are over have made room");
        (10_001..10_100).for_each(|key| remember(key, false));
        assert!(is_known(10_009) && !is_known(10_010) && is_known(10));
    }
}
