//! Posting lists: the stems of a document with their weights and positions, grouped in blocks, as the table `postings`
//! stores them (`migrations/0025_postings.sql` describes the text of a block).
//!
//! A row per stem would cost several times as much to write, since each row would touch another page of the table.

use std::{collections::BTreeMap, fmt::Write};

/// Maximum number of blocks per document. The migration computes the same block numbers.
pub(crate) const BLOCKS: u32 = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// Consists of letters, digits and combining marks only.
    pub stem: String,
    /// Relevance of the document for the stem, from 1 to 8.
    pub weight: u8,
    /// Positions in the text, in ascending order.
    pub positions: Vec<u32>,
}

/// The search terms of a document, in blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(BTreeMap<u32, String>);

impl Terms {
    /// The non-empty blocks, by number.
    pub(crate) fn blocks(&self) -> &BTreeMap<u32, String> {
        &self.0
    }
}

/// From distinct stems. A document without any gets an empty block, so that every document is in the index.
impl FromIterator<Posting> for Terms {
    fn from_iter<I: IntoIterator<Item = Posting>>(postings: I) -> Self {
        let mut blocks: BTreeMap<u32, String> = BTreeMap::new();
        for Posting { stem, weight, positions } in postings {
            let text = blocks.entry(block(&stem)).or_insert_with(|| ";".to_owned());
            // Writing to a `String` never fails.
            let _ = write!(text, "{stem} {weight}");
            let mut previous = 0;
            for position in positions {
                let _ = write!(text, " {}", position - previous);
                previous = position;
            }
            text.push(';');
        }
        if blocks.is_empty() {
            blocks.insert(0, ";".to_owned());
        }
        Self(blocks)
    }
}

pub(crate) fn block(stem: &str) -> u32 {
    let length = stem.chars().count();
    let code = |index: usize| stem.chars().nth(index).map_or(0, u32::from);
    let sum = code(0) * 31 + code(1) * 17 + code(length / 2) * 7 + code(length.saturating_sub(1)) * 3;
    (sum + u32::try_from(length).unwrap_or(0)) % BLOCKS
}

/// The text that precedes the weight of a stem in its block, and occurs nowhere else.
pub(crate) fn text_before(stem: &str) -> String {
    format!(";{stem} ")
}

/// Parses `document weight|document weight`. `None` if malformed.
pub(crate) fn parse_weights(text: &str) -> Option<Vec<(i64, u8)>> {
    let parse = |entry: &str| {
        let (document, weight) = entry.split_once(' ')?;
        Some((document.parse().ok()?, weight.parse().ok()?))
    };
    entries(text).map(parse).collect()
}

/// Parses `document weight distance distance;…|document …` into absolute positions, ignoring the rest of each block.
/// `None` if malformed.
pub(crate) fn parse_positions(text: &str) -> Option<Vec<(i64, Vec<u32>)>> {
    let parse = |entry: &str| {
        let (entry, _) = entry.split_once(';')?;
        let mut numbers = entry.splitn(3, ' ');
        let (document, _weight, distances) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some((document.parse().ok()?, parse_distances(distances)?))
    };
    entries(text).map(parse).collect()
}

/// Iterates over bytes for speed: a search for common words parses hundreds of thousands of distances.
fn parse_distances(text: &str) -> Option<Vec<u32>> {
    let (mut positions, mut position, mut distance) = (Vec::with_capacity(text.len() / 3 + 1), 0_u32, 0_u32);
    for byte in text.bytes().chain([b' ']) {
        match byte {
            b'0'..=b'9' => distance = distance.checked_mul(10)?.checked_add(u32::from(byte - b'0'))?,
            b' ' => {
                position = position.checked_add(distance)?;
                positions.push(position);
                distance = 0;
            }
            _ => return None,
        }
    }
    Some(positions)
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split('|').filter(|entry| !entry.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_text_of_a_block_is_the_one_that_the_migration_writes() {
        let posting = |stem: &str, positions: &[u32]| Posting {
            stem: stem.to_owned(),
            weight: 3,
            positions: positions.to_vec(),
        };
        let terms: Terms = [posting("sale", &[0, 4, 9, 100_002]), posting("日", &[2])].into_iter().collect();
        let block = |number: u32| terms.blocks()[&number].as_str();
        // ('s' * 31 + 'a' * 17 + 'l' * 7 + 'e' * 3 + 4) % 32
        assert_eq!(block(5), ";sale 3 0 4 5 99993;");
        assert_eq!(block(super::block("日")), ";日 3 2;");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            stem in "[a-z0-9é日]{1,9}",
            positions in proptest::collection::btree_set(0_u32..400_000, 1..50),
        ) {
            let positions: Vec<_> = positions.into_iter().collect();
            let terms: Terms =
                [Posting { stem: stem.clone(), weight: 7, positions: positions.clone() }].into_iter().collect();
            let text = &terms.blocks()[&block(&stem)];
            let rest = text.strip_prefix(&text_before(&stem)).unwrap();
            prop_assert_eq!(parse_weights(&format!("12 {}|3 8", &rest[..1])), Some(vec![(12, 7), (3, 8)]));
            let found = parse_positions(&format!("12 {rest}other 3 1;|13 8 5;"));
            prop_assert_eq!(found, Some(vec![(12, positions), (13, vec![5])]));
        }
    }
}
