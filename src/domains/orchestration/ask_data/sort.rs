//! Sorts rows, and keeps the first ones of many.

use std::{cmp::Ordering, collections::BinaryHeap};

use super::value::Value;

/// Least or greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// A value to sort by. Nothing comes last either way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directed<'a> {
    direction: Direction,
    value: Value<'a>,
}

impl<'a> Directed<'a> {
    pub(super) fn new(direction: Direction, value: Value<'a>) -> Self {
        Self { direction, value }
    }
}

impl Ord for Directed<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.value.is_null(), other.value.is_null()) {
            (false, false) if self.direction == Direction::Down => other.value.cmp(&self.value),
            _ => self.value.cmp(&other.value),
        }
    }
}

impl PartialOrd for Directed<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first rows by a key; of equal ones those that stand first in the table.
pub(super) struct Best<'a> {
    most: usize,
    /// The last of them on top.
    heap: BinaryHeap<(Vec<Directed<'a>>, usize)>,
}

impl<'a> Best<'a> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, heap: BinaryHeap::new() }
    }

    pub(super) fn push(&mut self, key: Vec<Directed<'a>>, row: usize) {
        let item = (key, row);
        if self.heap.len() < self.most {
            self.heap.push(item);
        } else if let Some(mut last) = self.heap.peek_mut().filter(|last| item < **last) {
            *last = item;
        }
    }

    pub(super) fn into_rows(self) -> impl Iterator<Item = usize> {
        self.heap.into_sorted_vec().into_iter().map(|(_, row)| row)
    }
}
