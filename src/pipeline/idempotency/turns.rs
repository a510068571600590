//! Turns: what is known of a key in the store and among the flights changes only in the key's turn, so that two callers
//! at the same instant never see half of a change.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use tokio::sync::{Mutex, MutexGuard};

/// So many keys can have their turn at once.
const TURNS: usize = 64;

/// Gives keys their turns. Cloning it makes another handle of the same.
#[derive(Clone, Debug)]
pub(super) struct Turns(Arc<[Mutex<()>; TURNS]>);

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(std::array::from_fn(|_| Mutex::new(()))))
    }
}

impl Turns {
    /// Waits for the key's turn; it lasts until the guard is dropped.
    pub(super) async fn of(&self, key: &impl Hash) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        #[allow(clippy::cast_possible_truncation, reason = "a remainder of a small number")]
        let index = (hasher.finish() % TURNS as u64) as usize;
        self.0[index].lock().await
    }
}
