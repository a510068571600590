//! Backpressure on events: the bytes that readers have not received yet are bounded per stream, per user and in all. A
//! tool that has more to send waits.
//!
//! Not here: the number of events, results, and the bound beyond which a stream ends (`toolwire_base::backlog`).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::UserId;

/// Bytes of a JSON value where it stands in a list, of one that stands in an object, with its key, and of an object
/// beside its members. Lists and objects grow in steps, which is left out.
const VALUE: usize = size_of::<Value>();
const MEMBER: usize = VALUE + size_of::<String>() + size_of::<usize>();
const OBJECT: usize = 64;

const OPEN: &str = "these semaphores are never closed";

/// The bounds, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadBounds {
    /// Maximum that one stream holds.
    pub stream: usize,
    /// Maximum that the streams of one user hold.
    pub user: usize,
    /// Maximum that all streams hold together.
    pub all: usize,
}

/// The budgets of unread bytes. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct EventBackpressure(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bounds: UnreadBounds,
    all: Arc<Semaphore>,
    /// The budgets of users that have a stream with an event of some size.
    users: Mutex<HashMap<UserId, Weak<Semaphore>>>,
}

/// The budget of one stream, within those of its user and of all.
#[derive(Debug)]
pub(super) struct StreamBudget {
    own: Arc<Semaphore>,
    all: EventBackpressure,
    user: UserId,
    /// Looked up for the first event of some size: most streams have none.
    of_user: OnceLock<Arc<Semaphore>>,
}

/// A permit for the bytes of one event, held until its reader asks for the next one.
#[derive(Debug)]
pub(super) struct BytePermit {
    _permits: [OwnedSemaphorePermit; 3],
}

impl Default for UnreadBounds {
    fn default() -> Self {
        Self { stream: 1 << 20, user: 64 << 20, all: 256 << 20 }
    }
}

impl EventBackpressure {
    /// Budgets of which nothing is used.
    pub fn new(bounds: UnreadBounds) -> Self {
        let all = Arc::new(Semaphore::new(bounds.all));
        Self(Arc::new(Shared { bounds, all, users: Mutex::default() }))
    }

    pub(super) fn stream(&self, user: UserId) -> StreamBudget {
        let own = Arc::new(Semaphore::new(self.0.bounds.stream));
        StreamBudget { own, all: self.clone(), user, of_user: OnceLock::new() }
    }

    fn of_user(&self, user: &UserId) -> Arc<Semaphore> {
        let mut users = self.0.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = users.get(user).and_then(Weak::upgrade) {
            return known;
        }
        // The map grows only here, so it is enough to prune it here.
        users.retain(|_, known| known.strong_count() > 0);
        let new = Arc::new(Semaphore::new(self.0.bounds.user));
        users.insert(user.clone(), Arc::downgrade(&new));
        new
    }
}

impl StreamBudget {
    /// Waits for a permit for this many bytes. An event larger than a bound takes all of it.
    pub(super) async fn acquire(&self, bytes: usize) -> BytePermit {
        let [(own, n), (user, of_user), (all, in_all)] = self.permits(bytes);
        // From the narrowest bound to the widest. A stream that waits for its own budget holds no bytes of its user's
        // budget, and a user that waits holds none of the shared one.
        let own = own.acquire_many_owned(n).await.expect(OPEN);
        let user = user.acquire_many_owned(of_user).await.expect(OPEN);
        let all = all.acquire_many_owned(in_all).await.expect(OPEN);
        BytePermit { _permits: [own, user, all] }
    }

    /// Takes a permit for this many bytes if there is room now.
    pub(super) fn try_acquire(&self, bytes: usize) -> Result<BytePermit, TryAcquireError> {
        let [own, user, all] = self.permits(bytes).map(|(of, n)| of.try_acquire_many_owned(n));
        Ok(BytePermit { _permits: [own?, user?, all?] })
    }

    fn permits(&self, bytes: usize) -> [(Arc<Semaphore>, u32); 3] {
        let of_user = self.of_user.get_or_init(|| self.all.of_user(&self.user));
        let UnreadBounds { stream, user, all } = self.all.0.bounds;
        [(&self.own, stream), (of_user, user), (&self.all.0.all, all)]
            .map(|(of, bound)| (Arc::clone(of), u32::try_from(bytes.min(bound)).unwrap_or(u32::MAX)))
    }
}

/// Estimates the bytes that an object takes in memory.
pub(super) fn estimate_size(map: &Map<String, Value>) -> usize {
    OBJECT + map.iter().map(|(key, value)| key.len() + MEMBER + estimate_content(value)).sum::<usize>()
}

fn estimate_content(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|it| VALUE + estimate_content(it)).sum(),
        Value::Object(map) => estimate_size(map),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_users_and_all_have_bounds_and_what_is_too_long_waits_for_all_the_rest() {
        let unread = EventBackpressure::new(UnreadBounds { stream: 10, user: 25, all: 30 });
        let stream = |user: &str| unread.stream(user.parse().unwrap());
        let of_a = [stream("a"), stream("a"), stream("a")];
        let first = of_a[0].try_acquire(10).unwrap();
        assert!(of_a[0].try_acquire(1).is_err(), "the stream's own bound");
        let _second = of_a[1].try_acquire(10).unwrap();
        assert!(of_a[2].try_acquire(6).is_err(), "the user's");
        let _third = of_a[2].try_acquire(5).unwrap();
        let of_b = stream("b");
        assert!(of_b.try_acquire(6).is_err(), "that of all");
        drop(first);
        assert!(of_b.try_acquire(10).is_ok() && of_a[0].try_acquire(10).is_ok());
    }

    #[test]
    fn what_is_longer_than_a_bound_takes_all_of_it() {
        let unread = EventBackpressure::new(UnreadBounds { stream: 10, user: 25, all: 30 });
        let stream = unread.stream("a".parse().unwrap());
        let _all = stream.try_acquire(1_000).unwrap();
        assert!(unread.stream("b".parse().unwrap()).try_acquire(1).is_err());
    }

    #[test]
    fn users_without_streams_are_forgotten() {
        let unread = EventBackpressure::new(UnreadBounds::default());
        for n in 0..100 {
            drop(unread.stream(n.to_string().parse().unwrap()).try_acquire(1));
        }
        assert_eq!(unread.0.users.lock().unwrap().len(), 1);
    }
}
