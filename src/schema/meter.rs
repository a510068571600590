//! The work of the check that this thread carries out.
//!
//! The validator has no way to stop early: once the meter is exhausted, what it looks at appears empty, so that it ends
//! within a walk of the schema. What it then says is not true, and is dropped. The meter is the thread's, since the
//! validator makes the instances for names of members without access to others.

use std::cell::Cell;

thread_local! {
    static METER: Meter = const {
        Meter { steps: Cell::new(0), steps_of_names: Cell::new(0), errors: Cell::new(u64::MAX) }
    };
}

struct Meter {
    /// Those that are left.
    steps: Cell<u64>,
    /// Steps of each eight bytes of a member's name, beside those of the text.
    steps_of_names: Cell<u64>,
    /// Errors that may still be made.
    errors: Cell<u64>,
}

/// Number of members for which an error about an object counts once more: it may name all of them.
const MEMBERS_OF_ERROR: u64 = 256;

/// Starts a check with a number of steps.
pub(crate) fn start(steps: u64, steps_of_names: u64) {
    METER.with(|meter| {
        meter.steps.set(steps);
        meter.steps_of_names.set(steps_of_names);
        meter.errors.set(u64::MAX);
    });
}

/// Limits the errors of the check to a number, and a few more about one value.
pub(crate) fn limit_errors(most: usize) {
    METER.with(|meter| meter.errors.set(most as u64));
}

/// Spends steps. `false` once there are none.
#[inline]
pub(crate) fn spend(steps: u64) -> bool {
    METER.with(|meter| {
        let left = meter.steps.get().saturating_sub(steps);
        meter.steps.set(left);
        left > 0 && meter.errors.get() > 0
    })
}

/// Spends the steps of a look at a text of this many bytes.
#[inline]
pub(crate) fn spend_text(bytes: usize) -> bool {
    spend(1 + (bytes / 8) as u64)
}

/// Spends the steps of a look at a member with a name of this many bytes.
#[inline]
pub(crate) fn spend_name(bytes: usize) -> bool {
    let words = 1 + (bytes / 8) as u64;
    spend(words.saturating_mul(1 + METER.with(|meter| meter.steps_of_names.get())))
}

/// Counts an error about an instance with this many members. `false` if it was made when the meter was over, so that it
/// may not be true.
pub(crate) fn count_error(members: usize) -> bool {
    let is_true = spend(0);
    METER.with(|meter| {
        let counted = 1 + members as u64 / MEMBERS_OF_ERROR;
        meter.errors.set(meter.errors.get().saturating_sub(counted));
    });
    is_true
}

/// The steps that are left.
pub(crate) fn left() -> u64 {
    METER.with(|meter| meter.steps.get())
}
