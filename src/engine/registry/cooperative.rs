//! Long work in pieces: calls that share its processor wait for some of them, and not for all.

use std::{cell::Cell, thread};

/// After so many microseconds of work the processor is given to other threads, if they want it. Where it has no time to
/// spare, that costs the system's slice of time.
const AT_ONCE: u32 = 100;

/// How long work is done.
#[derive(Debug)]
pub(super) struct Pace {
    gives_way: bool,
    /// Microseconds since way was given.
    worked: Cell<u32>,
}

impl Pace {
    /// Without a pause: the process does nothing else yet.
    pub(super) fn alone() -> Self {
        Self { gives_way: false, worked: Cell::new(0) }
    }

    pub(super) fn beside_calls() -> Self {
        Self { gives_way: true, worked: Cell::new(0) }
    }

    /// The same for another thread.
    pub(super) fn again(&self) -> Self {
        Self { gives_way: self.gives_way, worked: Cell::new(0) }
    }

    /// Notes a piece of work that takes about so many microseconds.
    pub(super) fn worked(&self, microseconds: u32) {
        let worked = self.worked.get() + microseconds;
        let is_enough = worked >= AT_ONCE;
        if is_enough && self.gives_way {
            thread::yield_now();
        }
        self.worked.set(if is_enough { 0 } else { worked });
    }
}
