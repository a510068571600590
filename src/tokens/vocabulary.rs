//! The vocabulary `o200k_base`: unpacked once, in some 50 ms, and how a text is merged into its tokens.
//!
//! A token is known by its place among all tokens in the order of their bytes, where each is followed by those that
//! begin with it. Its rank says how frequent it is, and so which of two merges comes first.

use std::{collections::HashMap, io::Read, slice::ChunksExact, sync::OnceLock};

use flate2::read::ZlibDecoder;
use foldhash::fast::FixedState;
use regex_automata::{Anchored, Input, meta::Regex};

/// Written by scripts/vocabulary.py.
const PACKED: &[u8] = include_bytes!("o200k_base.bin");

/// Of a token that is no merge, in place of the length of its first half.
const SINGLE: u8 = u8::MAX;

/// Pieces of a text, none of which shares a token with another. The second is a look-ahead: its last character belongs
/// to the next piece, as in `\s+(?!\S)`, which an automaton does not know.
const PIECES: [&str; 3] = [
    concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$",
    ),
    r"\s+\s",
    r"\s+",
];
const LOOK_AHEAD: usize = 1;

static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();

/// The tokens, and the merges that make them.
pub(crate) struct Vocabulary {
    pieces: Regex,
    /// The bytes of all tokens, and where each begins; the last entry is the end.
    bytes: Vec<u8>,
    starts: Vec<u32>,
    /// By their first two bytes, where the tokens of at least two begin.
    buckets: Vec<u32>,
    /// The tokens of one byte.
    singles: [u32; 256],
    rank: Vec<u32>,
    /// The longest other token that it begins with; itself if there is none.
    prefix: Vec<u32>,
    /// The two tokens that it is merged of; twice itself if it is no merge.
    halves: Vec<(u32, u32)>,
    /// The ranks of merges.
    merges: HashMap<(u32, u32), u32, FixedState>,
}

impl Vocabulary {
    pub(crate) fn get() -> &'static Self {
        VOCABULARY.get_or_init(Self::unpack)
    }

    pub(crate) fn is_unpacked() -> bool {
        VOCABULARY.get().is_some()
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        self.pieces(text).map(|piece| self.count_piece(piece.as_bytes(), usize::MAX)).sum()
    }

    /// Whether a text has at most this many tokens, in a time that grows with that number.
    pub(crate) fn within(&self, text: &str, most: usize) -> bool {
        let left = self
            .pieces(text)
            .try_fold(most, |left, piece| left.checked_sub(self.count_piece(piece.as_bytes(), left)));
        left.is_some()
    }

    /// The lengths of a text's tokens, in bytes.
    pub(crate) fn lengths(&self, text: &str) -> Vec<usize> {
        let tokens = self.pieces(text).flat_map(|piece| Merge::of(self, piece.as_bytes(), usize::MAX).tokens);
        tokens.map(|token| self.token(token).len()).collect()
    }

    fn pieces<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let found = self.pieces.find(Input::new(rest).anchored(Anchored::Yes))?;
            let mut end = found.end();
            if found.pattern().as_usize() == LOOK_AHEAD {
                end -= rest[..end].chars().next_back().map_or(0, char::len_utf8);
            }
            let (piece, after) = rest.split_at(end);
            rest = after;
            Some(piece)
        })
    }

    /// The tokens of a piece; more than `most` if it has more.
    fn count_piece(&self, piece: &[u8], most: usize) -> usize {
        // Most pieces are one token, so there is nothing to merge.
        match self.longest(piece) {
            Some(token) if self.token(token).len() == piece.len() => 1,
            _ => Merge::of(self, piece, most).tokens.len(),
        }
    }

    fn token(&self, token: u32) -> &[u8] {
        let token = token as usize;
        &self.bytes[self.starts[token] as usize..self.starts[token + 1] as usize]
    }

    /// The longest token that a text begins with.
    fn longest(&self, text: &[u8]) -> Option<u32> {
        let single = self.singles[usize::from(*text.first()?)];
        let Some(bucket) = bucket(text) else { return Some(single) };
        let (first, end) = (self.buckets[bucket], self.buckets[bucket + 1]);
        // Of the tokens up to the text, the last one begins with all that the text begins with.
        let (mut low, mut high) = (first, end);
        while low < high {
            let middle = low.midpoint(high);
            if self.token(middle) <= text { low = middle + 1 } else { high = middle }
        }
        let mut token = if low > first { low - 1 } else { single };
        while !text.starts_with(self.token(token)) {
            token = self.prefix[token as usize];
        }
        Some(token)
    }

    /// Whether a text of two tokens stays these two tokens: whether no merge that comes earlier spans their boundary.
    fn is_boundary(&self, mut one: u32, mut two: u32) -> bool {
        let rank = |token: u32| self.rank[token as usize];
        let mut limit = u32::MAX;
        loop {
            if self.merges.get(&(one, two)).is_some_and(|merge| *merge < limit) {
                return false;
            }
            // The later one of the two is taken apart first, or the other if it is no merge.
            let (end, beginning) = (self.halves[one as usize].1, self.halves[two as usize].0);
            let is_one_later = rank(one) > rank(two);
            match (end != one, beginning != two) {
                (false, false) => return true,
                (true, is_other) if is_one_later || !is_other => {
                    limit = rank(one);
                    one = end;
                }
                _ => {
                    limit = rank(two) + 1;
                    two = beginning;
                }
            }
        }
    }
}

fn bucket(text: &[u8]) -> Option<usize> {
    let (first, second) = (*text.first()?, *text.get(1)?);
    Some(usize::from(u16::from_be_bytes([first, second])))
}

/// A piece on its way into tokens: from each place with the longest token that keeps a boundary to the one before, and
/// back where there is none. No place is tried twice, so it takes a time that grows with the piece.
struct Merge<'a> {
    vocabulary: &'a Vocabulary,
    piece: &'a [u8],
    tokens: Vec<u32>,
    at: usize,
    /// A bit a place: no way leads on from it.
    is_dead: Vec<u64>,
}

impl<'a> Merge<'a> {
    /// Ends early, with more tokens than `most`, if there are clearly more.
    fn of(vocabulary: &'a Vocabulary, piece: &'a [u8], most: usize) -> Self {
        let is_dead = vec![0; piece.len() / 64 + 1];
        let mut merge = Self { vocabulary, piece, tokens: Vec::new(), at: 0, is_dead };
        // A way that leads nowhere may have some tokens more than the one that is found in the end.
        let most = most.saturating_add(10);
        let mut next = vocabulary.longest(piece);
        while let Some(token) = next.filter(|_| merge.tokens.len() <= most) {
            next = merge.step(token);
        }
        merge
    }

    /// Goes on by a token or a shorter one, else back. Returns what to try next.
    fn step(&mut self, mut token: u32) -> Option<u32> {
        let last = self.tokens.last().copied();
        loop {
            let end = self.at + self.vocabulary.token(token).len();
            if !self.is_dead(end) && last.is_none_or(|last| self.vocabulary.is_boundary(last, token)) {
                self.tokens.push(token);
                self.at = end;
                return self.vocabulary.longest(&self.piece[end..]);
            }
            let shorter = self.vocabulary.prefix[token as usize];
            if shorter == token {
                break;
            }
            token = shorter;
        }
        self.is_dead[self.at / 64] |= 1 << (self.at % 64);
        self.tokens.pop();
        self.at -= last.map_or(0, |last| self.vocabulary.token(last).len());
        last
    }

    fn is_dead(&self, place: usize) -> bool {
        self.is_dead[place / 64] & (1 << (place % 64)) != 0
    }
}

impl Vocabulary {
    fn unpack() -> Self {
        let mut packed = Vec::new();
        ZlibDecoder::new(PACKED).read_to_end(&mut packed).expect("a test reads it");
        let (number, rest) = packed.split_at(4);
        let number = u32::from_le_bytes(number.try_into().expect("four bytes"));
        let mut planes = rest.chunks_exact(number as usize);
        let (shared, added, first) = (plane(&mut planes), plane(&mut planes), plane(&mut planes));
        let (low, middle, high) = (plane(&mut planes), plane(&mut planes), plane(&mut planes));
        let rank = (0..low.len()).map(|at| u32::from_le_bytes([low[at], middle[at], high[at], 0])).collect();
        let mut vocabulary = Self {
            pieces: Regex::new_many(&PIECES).expect("a test compiles it"),
            bytes: Vec::new(),
            starts: vec![0],
            buckets: Vec::new(),
            singles: [0; 256],
            rank,
            prefix: Vec::new(),
            halves: Vec::new(),
            merges: HashMap::default(),
        };
        vocabulary.add_tokens(shared, added, &rest[6 * number as usize..]);
        vocabulary.add_merges(first);
        vocabulary
    }

    fn add_tokens(&mut self, shared: &[u8], added: &[u8], mut suffixes: &[u8]) {
        // The tokens that the newest one begins with, the longest last.
        let mut within: Vec<u32> = Vec::new();
        for (token, (shared, added)) in (0_u32..).zip(shared.iter().zip(added)) {
            let before = self.starts.len().saturating_sub(2);
            let (suffix, rest) = suffixes.split_at(usize::from(*added));
            suffixes = rest;
            let shared = self.starts[before] as usize..self.starts[before] as usize + usize::from(*shared);
            let length = shared.len() + suffix.len();
            self.bytes.extend_from_within(shared.clone());
            self.bytes.extend_from_slice(suffix);
            self.starts.push(u32::try_from(self.bytes.len()).expect("some megabytes"));
            within.retain(|other| self.token(*other).len() <= shared.len());
            self.prefix.push(within.last().copied().unwrap_or(token));
            within.push(token);
            let bucket = if length == 1 { None } else { bucket(self.token(token)) };
            match bucket {
                Some(bucket) if self.buckets.len() <= bucket => self.buckets.resize(bucket + 1, token),
                Some(_) => {}
                None => self.singles[usize::from(self.token(token)[0])] = token,
            }
        }
        self.buckets.resize(usize::from(u16::MAX) + 2, u32::try_from(self.rank.len()).expect("fewer"));
    }

    fn add_merges(&mut self, first: &[u8]) {
        self.merges.reserve(first.len());
        for (token, first) in (0_u32..).zip(first) {
            if *first == SINGLE {
                self.halves.push((token, token));
                continue;
            }
            let (one, two) = self.token(token).split_at(usize::from(*first));
            let halves = (self.longest(one).expect("a token"), self.longest(two).expect("a token"));
            self.halves.push(halves);
            self.merges.insert(halves, self.rank[token as usize]);
        }
    }
}

fn plane<'a>(planes: &mut ChunksExact<'a, u8>) -> &'a [u8] {
    planes.next().expect("six planes")
}

#[cfg(test)]
mod tests;
