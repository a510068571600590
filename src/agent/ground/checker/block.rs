//! A block of an answer: lines without an empty one between them. Which citation it needs, and whether it has one.

use super::sentence::{Checked, Need};
use crate::ground::markdown::Line;

/// A block in the making.
#[derive(Debug, Default)]
pub(super) struct Block {
    need: Option<Need>,
    is_cited: bool,
    last: Last,
    /// The greatest ordinal of the answer's lists so far.
    ordinals: u32,
}

/// The kind of the last line of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    None,
    Heading,
    /// A row of a table or code, on whose line nothing can be put.
    Alone,
    Text,
}

impl Block {
    /// Takes a part of it that has passed.
    pub(super) fn add(&mut self, line: Line, is_code: bool, checked: &Checked) {
        self.last = match (line, is_code) {
            (Line::Row, _) | (_, true) => Last::Alone,
            (Line::Heading, _) if matches!(self.last, Last::None | Last::Heading) => Last::Heading,
            // The rest of a heading's line.
            (Line::Text, _) if self.last == Last::Heading && checked.goes_on => Last::Heading,
            _ => Last::Text,
        };
        if let Line::Item { ordinal: Some(ordinal), .. } = line {
            self.ordinals = self.ordinals.max(ordinal);
        }
        self.is_cited |= !checked.source_ids.is_empty();
        if let Some(need) = &checked.need {
            let before = self.need.get_or_insert_with(|| need.clone());
            before.origins &= need.origins;
        }
    }

    /// The numbers for which it needs a citation.
    pub(super) fn need(&self) -> Option<&Need> {
        self.need.as_ref().filter(|_| !self.is_cited)
    }

    /// Whether it is headings only, which belong to what follows.
    pub(super) fn is_heading(&self) -> bool {
        self.last == Last::Heading
    }

    /// Whether a citation of it must stand in a paragraph of its own.
    pub(super) fn stands_alone(&self) -> bool {
        self.last == Last::Alone
    }

    /// The greatest ordinal of the lists so far.
    pub(super) fn ordinals(&self) -> u32 {
        self.ordinals
    }

    /// The block behind it, as it begins.
    pub(super) fn next(&self) -> Self {
        Self { ordinals: self.ordinals, ..Self::default() }
    }
}
