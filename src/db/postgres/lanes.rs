//! Lanes as locks: a transaction takes those of its lane first, so that others of the lane wait for its end. The locks
//! are of the transaction, so that the database releases them however it ends.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::SystemTime,
};

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

use super::{address::Address, clock::TIME};
use crate::{Durability, Lane, time::millis};

/// Entries of lanes that nothing waits for are removed when there are this many.
const PRUNE_AT: usize = 1024;

/// Maximum difference of a transaction's clock to the database's, in milliseconds, the way there included.
const MAX_OFF_MS: i64 = 2_000;

const DIVISION_BY_ZERO: &str = "22012";

type Key = (i32, i32);

/// The queues of this process, one a lane: a transaction waits here for those of its own process, without a connection.
#[derive(Debug, Default)]
pub(super) struct Lanes(Mutex<HashMap<Key, Weak<Queue<()>>>>);

impl Lanes {
    /// Waits for the transactions of the same lanes before this one.
    pub(super) async fn wait(&self, keys: &[Key]) -> Vec<OwnedMutexGuard<()>> {
        let mut guards = Vec::with_capacity(keys.len());
        // Keys are sorted, so that two transactions never wait for each other.
        for key in keys {
            guards.push(self.queue(*key).lock_owned().await);
        }
        guards
    }

    fn queue(&self, key: Key) -> Arc<Queue<()>> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if queues.len() >= PRUNE_AT {
            queues.retain(|_, queue| queue.strong_count() > 0);
        }
        if let Some(queue) = queues.get(&key).and_then(Weak::upgrade) {
            return queue;
        }
        let queue = Arc::default();
        queues.insert(key, Arc::downgrade(&queue));
        queue
    }
}

/// The keys of the locks that a lane takes alone, sorted.
pub(super) fn keys(address: &Address, lane: Lane<'_>) -> Vec<Key> {
    let mut keys = match lane {
        Lane::User(user) => vec![address.lock_key("user", user.as_str())],
        Lane::Users(users) => users.iter().map(|user| address.lock_key("user", user.as_str())).collect(),
        Lane::AllUsers => vec![all_users(address)],
        Lane::Source(source) => vec![address.lock_key("source", source)],
        Lane::Platform => vec![address.lock_key("platform", "")],
    };
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn all_users(address: &Address) -> Key {
    address.lock_key("all users", "")
}

/// Begins a transaction of a lane, in one round trip. With an instant, it fails where that is not now by the database's
/// clock.
pub(super) fn begin(
    address: &Address,
    lane: Lane<'_>,
    keys: &[Key],
    durability: Durability,
    now: Option<SystemTime>,
) -> String {
    let mut statements = vec!["BEGIN".to_owned()];
    // First, since the locks are waited for.
    if let Some(now) = now.map(millis) {
        statements
            .push(format!("SELECT 1 / (CASE WHEN abs({TIME} - {now}) > {MAX_OFF_MS} THEN 0 ELSE 1 END)"));
    }
    if durability == Durability::Process {
        statements.push("SET LOCAL synchronous_commit = off".to_owned());
    }
    if matches!(lane, Lane::User(_) | Lane::Users(_)) {
        let (kind, name) = all_users(address);
        statements.push(format!("SELECT pg_advisory_xact_lock_shared({kind}, {name})"));
    }
    statements
        .extend(keys.iter().map(|(kind, name)| format!("SELECT pg_advisory_xact_lock({kind}, {name})")));
    statements.join("; ")
}

/// Whether a transaction did not begin because of its clock.
pub(super) fn is_off_clock(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .is_some_and(|code| code == DIVISION_BY_ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::instant;

    #[test]
    fn a_user_excludes_those_who_change_all_users_and_no_other_user() {
        let address = Address::new("postgres://me@db/tools", "toolwire").unwrap();
        let (one, other) = ("a".parse().unwrap(), "b".parse().unwrap());
        let lock = |lane| begin(&address, lane, &keys(&address, lane), Durability::Power, None);
        let all = lock(Lane::AllUsers);
        let key = all.split_once("lock(").unwrap().1;
        assert!(lock(Lane::User(&one)).contains(&format!("lock_shared({key}")));
        assert_ne!(keys(&address, Lane::User(&one)), keys(&address, Lane::User(&other)));
        let both = [other, one.clone(), one];
        assert_eq!(keys(&address, Lane::Users(&both)).len(), 2);
        assert!(
            begin(&address, Lane::Platform, &[], Durability::Process, None)
                .contains("synchronous_commit = off")
        );
    }

    #[test]
    fn a_transaction_that_decides_by_the_clock_compares_it_before_it_waits() {
        let address = Address::new("postgres://me@db/tools", "toolwire").unwrap();
        let (lane, now) = (Lane::Source("x"), instant(1_768_557_600_123));
        let begun = begin(&address, lane, &keys(&address, lane), Durability::Power, Some(now));
        let (compared, waited) = begun.split_once("SELECT pg_advisory_xact_lock").unwrap();
        assert!(compared.contains("- 1768557600123) > 2000 THEN 0"), "{compared} {waited}");
    }
}
