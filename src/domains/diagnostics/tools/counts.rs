//! How many times each user wrote, so that a repeat can be seen.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use toolwire_tool::context::UserId;

#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<HashMap<UserId, i64>>);

impl Counts {
    /// Counts one more write of a user, and returns the total.
    pub(super) fn count(&self, user: &UserId) -> i64 {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(user.clone()).or_default();
        *count += 1;
        *count
    }
}
