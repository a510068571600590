//! Accounting of uploads in progress, which no row counts yet: their bytes count against the user's quota meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::documents::{Quota, RemainingBytes};
use toolwire_tool::context::UserId;

/// Bytes of uploads in progress, by user. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct Uploads(Arc<Mutex<HashMap<UserId, u64>>>);

/// The reservation of one upload, released when it is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    uploads: Uploads,
    user: UserId,
    bytes: u64,
    remaining: RemainingBytes,
}

impl Uploads {
    /// Begins to count an upload, within the remaining quota.
    pub(super) fn begin(&self, user: &UserId, remaining: RemainingBytes) -> Reservation {
        Reservation { uploads: self.clone(), user: user.clone(), bytes: 0, remaining }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<UserId, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Raises the reservation to `bytes` in total, or returns the quota that this would exceed.
    pub(super) fn grow(&mut self, bytes: u64) -> Result<(), Quota> {
        let more = bytes.saturating_sub(self.bytes);
        if bytes > self.remaining.tree {
            return Err(Quota::TreeBytes);
        }
        let mut counts = self.uploads.counts();
        let count = counts.entry(self.user.clone()).or_default();
        if *count + more > self.remaining.user {
            return Err(Quota::UserBytes);
        }
        *count += more;
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut counts = self.uploads.counts();
        let left = counts.get(&self.user).copied().unwrap_or_default().saturating_sub(self.bytes);
        if left == 0 {
            counts.remove(&self.user);
        } else {
            counts.insert(self.user.clone(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_counts_until_it_has_ended() {
        let (uploads, remaining) = (Uploads::default(), RemainingBytes { tree: 70, user: 100 });
        let [a, b]: [UserId; 2] = ["a", "b"].map(|user| user.parse().unwrap());
        let mut first = uploads.begin(&a, remaining);
        assert_eq!([first.grow(60), first.grow(60), first.grow(71)], [Ok(()), Ok(()), Err(Quota::TreeBytes)]);
        let mut second = uploads.begin(&a, remaining);
        assert_eq!([second.grow(40), second.grow(41)], [Ok(()), Err(Quota::UserBytes)]);
        assert_eq!(uploads.begin(&b, remaining).grow(70), Ok(()));
        drop(first);
        assert_eq!(second.grow(70), Ok(()));
        drop(second);
        assert!(uploads.counts().is_empty());
    }
}
