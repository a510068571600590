//! A permit for bytes that wait.

use std::{mem, sync::atomic::Ordering::Relaxed};

use super::Stream;

/// A permit for bytes that wait for a peer. Dropped with them.
#[derive(Debug)]
pub struct Permit {
    pub(super) stream: Stream,
    pub(super) bytes: usize,
}

impl Permit {
    /// The bytes are on their way to their next owner. What was in transit before has been sent.
    pub fn pass_on(mut self) {
        let bytes = mem::take(&mut self.bytes);
        let before = self.stream.0.in_transit.swap(bytes, Relaxed);
        self.stream.0.remove(before);
    }

    /// Sets the number of bytes, whatever the bounds.
    pub fn resize(&mut self, bytes: usize) {
        let before = mem::replace(&mut self.bytes, bytes);
        self.stream.0.replace(before, bytes);
    }

    /// Splits a permit for the first `bytes` off.
    #[must_use]
    pub fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { stream: self.stream.clone(), bytes }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.stream.0.remove(self.bytes);
    }
}
