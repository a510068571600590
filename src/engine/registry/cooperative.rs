//! Cooperative scheduling of long work: it yields its processor to calls now and then.

use std::{cell::Cell, thread};

/// Microseconds of work between two yields. On a busy processor, a yield costs a time slice of the scheduler, so
/// shorter intervals would slow the work down.
const AT_ONCE: u32 = 100;

/// Paces long work of one thread.
#[derive(Debug)]
pub(super) struct Pace {
    gives_way: bool,
    /// Microseconds since the last yield.
    worked: Cell<u32>,
}

impl Pace {
    /// Never yields: for start-up and commands, when the process serves no calls.
    pub(super) fn alone() -> Self {
        Self { gives_way: false, worked: Cell::new(0) }
    }

    pub(super) fn beside_calls() -> Self {
        Self { gives_way: true, worked: Cell::new(0) }
    }

    /// A pace of the same kind for another thread.
    pub(super) fn for_thread(&self) -> Self {
        Self { gives_way: self.gives_way, worked: Cell::new(0) }
    }

    /// Records a piece of work that took about this long, and yields if it is time.
    pub(super) fn record(&self, microseconds: u32) {
        let worked = self.worked.get() + microseconds;
        let is_enough = worked >= AT_ONCE;
        if is_enough && self.gives_way {
            thread::yield_now();
        }
        self.worked.set(if is_enough { 0 } else { worked });
    }
}
