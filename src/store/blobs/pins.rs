//! Files at their place that no row names yet. While several writes keep the same bytes, none takes away what another
//! is about to name.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolwire_base::digest::Digest;

/// How many writes of this process keep which bytes. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct Pins(Arc<Mutex<HashMap<Digest, usize>>>);

/// One write that keeps these bytes, until it is dropped.
#[derive(Debug)]
pub struct Pin {
    pins: Pins,
    digest: Digest,
}

impl Pins {
    /// Must come before the file is at its place.
    pub fn pin(&self, digest: Digest) -> Pin {
        *self.counts().entry(digest).or_default() += 1;
        Pin { pins: self.clone(), digest }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Digest, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pin {
    /// Does it if no other write keeps these bytes; none begins meanwhile.
    pub fn if_alone<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let counts = self.pins.counts();
        (counts.get(&self.digest) == Some(&1)).then(work)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut counts = self.pins.counts();
        if let Some(count) = counts.get_mut(&self.digest) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.digest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_another_write_keeps_stay() {
        let (pins, digest) = (Pins::default(), Digest::of_bytes(b"x"));
        let (first, second) = (pins.pin(digest), pins.pin(digest));
        assert_eq!(first.if_alone(|| ()), None);
        drop(second);
        assert_eq!(first.if_alone(|| ()), Some(()));
        drop(first);
        assert!(pins.counts().is_empty());
    }
}
