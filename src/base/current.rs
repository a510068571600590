//! A value that is replaced while others use it, such as settings that are read again.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

/// The value of the moment. Cheap to clone; clones share it.
#[derive(Debug)]
pub struct Current<T>(Arc<ArcSwap<T>>);

impl<T> Current<T> {
    pub fn new(value: T) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(value)))
    }

    /// The value, for a short use: not across an `await`.
    pub fn load(&self) -> Guard<Arc<T>> {
        self.0.load()
    }

    /// The value, to be kept.
    pub fn load_full(&self) -> Arc<T> {
        self.0.load_full()
    }

    /// Replaces the value for all clones.
    pub fn replace(&self, value: T) {
        self.0.store(Arc::new(value));
    }
}

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Current<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_see_what_one_of_them_replaces_and_keep_what_they_have() {
        let current = Current::new(1);
        let (other, before) = (current.clone(), current.load_full());
        other.replace(2);
        assert_eq!((*before, **current.load()), (1, 2));
    }
}
