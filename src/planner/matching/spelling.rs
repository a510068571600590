//! Mistyped words: the known word that is meant, if one slip of the fingers, or two in a long word, make the one of the
//! other.

use std::collections::HashMap;

use strsim::osa_distance;

/// The shortest known word of which letters may have changed places: of shorter ones too many are near.
const SHORTEST_MOVED: usize = 3;

/// The shortest word, as it is typed and as it is known, that may have a letter more: `plans` is no `plan`.
const SHORTEST: usize = 5;

/// The shortest word, as it is typed, that may lack a letter.
const SHORTEST_LACKING: usize = 4;

/// The shortest word of which one letter may be another that sounds the same.
const SHORTEST_SOUND: usize = 5;

/// Letters that sound the same in many words.
const SOUNDS: [&[u8]; 3] = [b"csz", b"iy", b"ck"];

/// The shortest word of which one letter may be another: `house` is no `horse`.
const SHORTEST_CHANGED: usize = 7;

/// The shortest word, as it is typed and as it is known, that may have two slips.
const SHORTEST_TWICE: usize = 9;

/// The shortest word, as it is typed and as it is known, that may have two other vowels: `compair` is `compare`.
const SHORTEST_VOWELS: usize = 6;

/// Words, each with what it stands for.
#[derive(Debug)]
pub(crate) struct Spelling<T> {
    /// By the first letter and the length in bytes.
    words: HashMap<(u8, usize), Near<T>>,
    /// Whether one vowel may be another in shorter words too.
    are_names: bool,
}

/// Words, each with its meaning.
type Near<T> = Vec<(Box<str>, T)>;

/// What happened to a known word, the likeliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slip {
    /// Two letters changed places, or one is too many, missing, or sounds the same.
    Letter,
    Changed,
    Twice,
}

impl<T: PartialEq> Spelling<T> {
    /// Of the given words, in small letters.
    pub(crate) fn new<'a>(all: impl Iterator<Item = (&'a str, T)>) -> Self {
        let mut words: HashMap<_, Near<T>> = HashMap::new();
        for (word, meaning) in all.filter(|(word, _)| word.len() >= SHORTEST_MOVED && word.is_ascii()) {
            words.entry((word.as_bytes()[0], word.len())).or_default().push((word.into(), meaning));
        }
        Self { words, are_names: false }
    }

    /// Of names, of which each vowel may be another one: few words are as near as `bands` is to `bonds`.
    pub(crate) fn of_names<'a>(all: impl Iterator<Item = (&'a str, T)>) -> Self {
        Self { are_names: true, ..Self::new(all) }
    }

    /// The known word that a mistyped one, in small letters, is nearest to, and what it stands for. `None` if it is as
    /// near to words that stand for different things, or is known itself.
    pub(crate) fn near<'a>(&'a self, typed: &str) -> Option<(&'a str, &'a T)> {
        if typed.len() < SHORTEST_MOVED || !typed.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let mut nearest: Option<(Slip, &'a str, &'a T)> = None;
        let mut is_clear = true;
        for (word, meaning) in self.alike(typed) {
            if word == typed {
                return None;
            }
            let Some(slip) = slip(typed, word, self.are_names) else { continue };
            match nearest {
                Some((least, ..)) if least < slip => {}
                Some((least, _, first)) if least == slip => is_clear &= first == meaning,
                _ => (nearest, is_clear) = (Some((slip, word, meaning)), true),
            }
        }
        nearest.filter(|_| is_clear).map(|(_, word, meaning)| (word, meaning))
    }

    /// The words of about the same length with the same first letter, or with the first two in the other order.
    fn alike<'a>(&'a self, typed: &str) -> impl Iterator<Item = (&'a str, &'a T)> + use<'a, T> {
        let of = move |first: u8, length: usize| self.words.get(&(first, length)).into_iter().flatten();
        let (first, second, length) = (typed.as_bytes()[0], typed.as_bytes()[1], typed.len());
        let around = if length >= SHORTEST_TWICE { 2 } else { 1 };
        let same = (length - around..=length + around).flat_map(move |it| of(first, it));
        let is_moved = move |word: &str| first != second && word.as_bytes()[1] == first;
        let moved = of(second, length).filter(move |(word, _)| is_moved(word));
        same.chain(moved).map(|(word, meaning)| (&**word, meaning))
    }
}

fn has_same_consonants(one: &str, other: &str) -> bool {
    let consonants = |word: &str| word.bytes().filter(|byte| !is_vowel(*byte)).collect::<Vec<_>>();
    consonants(one) == consonants(other)
}

fn is_vowel(byte: u8) -> bool {
    b"aeiouy".contains(&byte)
}

/// What makes the typed word of a known one, if it is little.
fn slip(typed: &str, word: &str, is_name: bool) -> Option<Slip> {
    let (one, other) = (typed.as_bytes(), word.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let is_long = one.len().min(other.len()) >= SHORTEST;
    // `Sel` and `sell`: once is easily typed for twice.
    let is_doubled = |bytes: &[u8]| same > 0 && bytes[same] == bytes[same - 1];
    let are_vowels = |a: &u8, b: &u8| is_name && is_vowel(*a) && is_vowel(*b);
    let sounds_same = |a: &u8, b: &u8| SOUNDS.iter().any(|sound| sound.contains(a) && sound.contains(b));
    match (&one[same..], &other[same..]) {
        ([a, b, one @ ..], [c, d, other @ ..]) if a == d && b == c && one == other => Some(Slip::Letter),
        ([_, rest @ ..], other) if rest == other && (is_long || is_doubled(one)) => Some(Slip::Letter),
        // A vowel is left out of a name even where it is short: `bnk`.
        (rest, [lacking, after @ ..])
            if rest == after
                && (typed.len() >= SHORTEST_LACKING
                    || is_doubled(other)
                    || (is_name && same > 0 && is_vowel(*lacking))) =>
        {
            Some(Slip::Letter)
        }
        ([a, one @ ..], [b, other @ ..])
            if one == other && typed.len() >= SHORTEST_SOUND && (sounds_same(a, b) || are_vowels(a, b)) =>
        {
            Some(Slip::Letter)
        }
        ([_, one @ ..], [_, other @ ..]) if one == other && typed.len() >= SHORTEST_CHANGED => {
            Some(Slip::Changed)
        }
        _ => {
            let shortest = typed.len().min(word.len());
            let is_twice = || osa_distance(typed, word) == 2;
            let may_be = shortest >= SHORTEST_TWICE
                || (shortest >= SHORTEST_VOWELS && has_same_consonants(typed, word));
            (may_be && is_twice()).then_some(Slip::Twice)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near<T: PartialEq + Copy>(spelling: &Spelling<T>, typed: &str) -> Option<T> {
        spelling.near(typed).map(|(_, meaning)| *meaning)
    }

    #[test]
    fn one_slip_is_understood_and_two_are_only_in_a_long_word() {
        let known = [
            ("against", 1),
            ("elephant", 2),
            ("trade", 3),
            ("trades", 3),
            ("show", 4),
            ("institution", 5),
            ("compare", 6),
        ];
        let spelling = Spelling::new(known.into_iter());
        for (typed, meant) in [
            ("agianst", 1),
            ("gaainst", 1),
            ("againt", 1),
            ("againnst", 1),
            ("elephamt", 2),
            ("tradess", 3),
            ("shwo", 4),
            ("instutition", 5),
            ("agaynst", 1),
            ("trde", 3),
            ("traade", 3),
            ("compair", 6),
            ("aginast", 1),
        ] {
            assert_eq!(near(&spelling, typed), Some(meant), "{typed}");
        }
        for typed in ["trace", "rade", "egainst", "shows", "sow", "slow", "", "é"] {
            assert_eq!(near(&spelling, typed), None, "{typed}");
        }
    }

    #[test]
    fn what_may_be_either_is_neither_and_the_likelier_slip_counts() {
        let spelling = Spelling::new([("bonds", 1), ("bands", 2)].into_iter());
        assert_eq!(near(&spelling, "bonnds"), Some(1));
        let spelling = Spelling::new([("funding", 1), ("finding", 2)].into_iter());
        assert_eq!(near(&spelling, "fanding"), None);
        let spelling = Spelling::new([("holding", 1), ("holders", 2), ("molding", 3)].into_iter());
        assert_eq!(near(&spelling, "holidng"), Some(1));
    }
}
