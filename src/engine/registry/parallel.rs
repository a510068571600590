//! Maps a function over many items, on several threads if there are enough items.

use std::{panic::resume_unwind, thread};

use super::cooperative::Pace;

/// Below this number of items, one thread is faster.
const FEW: usize = 1_000;

/// Maximum number of threads: more of them are limited by memory bandwidth.
const MOST: usize = 4;

/// Applies `work` to each item and returns the results in order. Each thread has its own state, created by `begin`.
///
/// # Panics
/// If `work` panics.
pub(super) fn each<T: Send, W, R: Send>(
    items: Vec<T>,
    pace: &Pace,
    begin: impl Fn() -> W + Sync,
    work: impl Fn(T, &mut W, &Pace) -> R + Sync,
) -> Vec<R> {
    let part = |items: Vec<T>, pace: &Pace| -> Vec<R> {
        let mut own = begin();
        items.into_iter().map(|item| work(item, &mut own, pace)).collect()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST);
    if items.len() < FEW || threads < 2 {
        return part(items, pace);
    }
    let size = items.len().div_ceil(threads);
    let mut parts: Vec<Vec<T>> = Vec::new();
    let mut rest = items;
    while rest.len() > size {
        let after = rest.split_off(size);
        parts.push(std::mem::replace(&mut rest, after));
    }
    let part = &part;
    thread::scope(|scope| {
        let spawn = |items| {
            let pace = pace.for_thread();
            scope.spawn(move || part(items, &pace))
        };
        let others: Vec<_> = parts.into_iter().map(spawn).collect();
        let last = part(rest, pace);
        let done = others.into_iter().flat_map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done.chain(last).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays_however_many_they_are() {
        for count in [0, 1, FEW - 1, FEW, 4 * FEW + 3] {
            let items: Vec<_> = (0..count).collect();
            let done = each(items, &Pace::alone(), || 1, |item, one, _| item + *one);
            assert_eq!(done, (1..=count).collect::<Vec<_>>());
        }
    }
}
