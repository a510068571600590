//! Words that are mistyped: the one that is meant, if one letter more, less, changed or moved makes it.

use std::collections::HashMap;

/// The shortest word that is looked at: of shorter ones too many are near.
const SHORTEST: usize = 5;

/// The shortest word of which one letter may be another: `house` is no `horse`.
const SHORTEST_CHANGED: usize = 7;

/// Words, each with what it stands for.
#[derive(Debug)]
pub(crate) struct Spelling<T> {
    /// By the first letter and the length in bytes.
    words: HashMap<(u8, usize), Near<T>>,
}

/// Words, each with its meaning.
type Near<T> = Vec<(Box<str>, T)>;

impl<T: Copy + PartialEq> Spelling<T> {
    /// Of the given words, in small letters.
    pub(crate) fn new<'a>(all: impl Iterator<Item = (&'a str, T)>) -> Self {
        let mut words: HashMap<_, Near<T>> = HashMap::new();
        for (word, meaning) in all.filter(|(word, _)| word.len() >= SHORTEST && word.is_ascii()) {
            words.entry((word.as_bytes()[0], word.len())).or_default().push((word.into(), meaning));
        }
        Self { words }
    }

    /// What the word stands for that a mistyped one, in small letters, is near to. `None` if it is near to words that
    /// stand for different things.
    pub(crate) fn near(&self, word: &str) -> Option<T> {
        if word.len() < SHORTEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let lengths = word.len() - 1..=word.len() + 1;
        let all = lengths.filter_map(|length| self.words.get(&(word.as_bytes()[0], length))).flatten();
        let mut near = all.filter(|(other, _)| is_near(word.as_bytes(), other.as_bytes())).map(|(_, it)| *it);
        let first = near.next()?;
        near.all(|other| other == first).then_some(first)
    }
}

/// Whether one slip makes one word of the other.
fn is_near(one: &[u8], other: &[u8]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other, length) = (&one[same..], &other[same..], one.len());
    match (one, other) {
        ([_, one @ ..], other) if one == other => true,
        (one, [_, other @ ..]) if one == other => true,
        ([a, b, one @ ..], [c, d, other @ ..]) if a == d && b == c && one == other => true,
        ([_, one @ ..], [_, other @ ..]) => one == other && length >= SHORTEST_CHANGED,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_understood_and_two_are_not() {
        let spelling =
            Spelling::new([("against", 1), ("elephant", 2), ("trade", 3), ("trades", 3)].into_iter());
        for (typed, meant) in
            [("agianst", 1), ("againt", 1), ("againnst", 1), ("elephamt", 2), ("tradess", 3)]
        {
            assert_eq!(spelling.near(typed), Some(meant), "{typed}");
        }
        for typed in ["aginast", "trace", "rade", "egainst", "", "é"] {
            assert_eq!(spelling.near(typed), None, "{typed}");
        }
    }

    #[test]
    fn what_may_be_either_is_neither() {
        let spelling = Spelling::new([("bonds", 1), ("bands", 2)].into_iter());
        assert_eq!(spelling.near("bonnds"), Some(1));
        let spelling = Spelling::new([("funding", 1), ("finding", 2)].into_iter());
        assert_eq!(spelling.near("fanding"), None);
    }
}
