//! Pins on blob files that no row references yet. While several writes have the same bytes, none of them deletes the
//! file that another is about to reference.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolwire_base::digest::Digest;

/// Reference counts of the writes of this process, by digest. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct Pins(Arc<Mutex<HashMap<Digest, usize>>>);

/// The pin of one write, released when it is dropped.
#[derive(Debug)]
pub struct Pin {
    pins: Pins,
    digest: Digest,
}

impl Pins {
    /// Pins a digest. Must precede the move of the file to its final path.
    pub fn pin(&self, digest: Digest) -> Pin {
        *self.counts().entry(digest).or_default() += 1;
        Pin { pins: self.clone(), digest }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Digest, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pin {
    /// Runs `work` if no other write pins the digest; none can pin it meanwhile.
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
