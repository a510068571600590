//! Long work in pieces: calls that share its processor wait for one of them, and not for all.

use std::thread;

/// The items, with way given to other threads before every so many of them. A piece should take a tenth of a
/// millisecond: where the processor has no time to spare, each costs the system's slice of time.
pub(super) fn paced<I: IntoIterator>(items: I, at_once: usize) -> impl Iterator<Item = I::Item> {
    items.into_iter().enumerate().map(move |(index, item)| {
        if index.is_multiple_of(at_once) {
            thread::yield_now();
        }
        item
    })
}
