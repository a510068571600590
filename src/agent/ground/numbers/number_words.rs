//! Numbers in words: `three hundred and twelve`, `twenty-five lakh`, `two percent`.
//!
//! Not here: `one` alone, which is a pronoun too, ordinals, and fractions but `half`.

use std::ops::Range;

use super::{
    direction::Direction,
    scale,
    vague::{self, Vague},
};

/// The numbers below twenty.
pub(crate) const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number in words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spelled {
    pub(super) value: f64,
    /// What it may be rounded to: the last word that multiplies, from a thousand on.
    pub(super) step: f64,
    /// Whether it is said to be percent, and of a rise or a fall.
    pub(super) percent: bool,
    pub(super) direction: Option<Direction>,
}

/// What a word adds to a number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    One(f64),
    Ten(f64),
    Hundred,
    Scale(f64),
    Dozen,
    /// Before a unit only.
    Hindi(f64),
    /// A number by itself.
    Vague(Vague),
}

/// The numbers in words of a text, each with its place.
pub(super) fn spelled(text: &str) -> impl Iterator<Item = (Spelled, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let rest = &text[at..];
            let begin = at + rest.find(|c: char| c.is_ascii_alphabetic())?;
            let end = begin + letters(&text[begin..]);
            at = end;
            let is_word = !text[..begin].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if let Some((number, len)) = is_word.then(|| number(&text[..begin], &text[begin..])).flatten() {
                at = begin + len;
                return Some((number, begin..at));
            }
        }
        None
    })
}

/// The number at the beginning of a text that stands behind another, and its length.
fn number(before: &str, text: &str) -> Option<(Spelled, usize)> {
    let (first, mut end) = match part(text)? {
        (Some(Part::Vague(word)), len) => {
            let (value, step, more) = vague::read(word, before, &text[len..])?;
            let (percent, direction) = match word {
                // A share of 1 is said as percent too, and no doubling.
                Vague::Percent(value, direction) => (value < 100.0, direction),
                Vague::Half => (true, None),
                Vague::Some(_) | Vague::Few => (false, None),
            };
            return Some((Spelled { value, step, percent, direction }, len + more));
        }
        (Some(Part::Hindi(value)), len) => match next(&text[len..])? {
            (Part::Hundred | Part::Scale(_), _) => (Part::One(value), len),
            _ => return None,
        },
        // `A hundred`, but not `a` alone.
        (None, len) => {
            let gap = len + text[len..].strip_prefix(' ').map(|_| 1)?;
            match part(&text[gap..])? {
                (Some(part @ (Part::Hundred | Part::Scale(_) | Part::Dozen)), more) => (part, gap + more),
                _ => return None,
            }
        }
        // `5 crore` has its number before it.
        (Some(Part::Hundred | Part::Scale(_) | Part::Dozen), _) => return None,
        (Some(part), len) => (part, len),
    };
    let mut sum = Sum::default();
    sum.add(first)?;
    let mut is_alone = true;
    while let Some((part, len)) = next(&text[end..]) {
        if sum.add(part).is_none() {
            break;
        }
        end += len;
        is_alone = false;
    }
    let value = sum.whole + sum.part;
    let spelled = Spelled { value, step: sum.step, percent: false, direction: None };
    let is_word = is_alone && spelled.value < 2.0 && !is_measured(&text[end..]);
    (!is_word).then_some((spelled, end))
}

/// Whether a unit follows: `one percent` is a number.
fn is_measured(rest: &str) -> bool {
    matches!(scale::behind(rest), scale::Suffix::Scale(_, len) if len > 0)
}

#[derive(Debug)]
struct Sum {
    /// The parts that were multiplied already.
    whole: f64,
    part: f64,
    step: f64,
    last: Option<Part>,
}

impl Default for Sum {
    fn default() -> Self {
        Self { whole: 0.0, part: 0.0, step: 1.0, last: None }
    }
}

impl Sum {
    /// Adds a part; `None` if it begins another number.
    fn add(&mut self, part: Part) -> Option<()> {
        let is_after = |last: fn(Part) -> bool| self.last.is_none_or(last);
        match part {
            Part::One(value) if is_after(|it| matches!(it, Part::Hundred | Part::Scale(_))) => {
                self.part += value;
            }
            // `Twenty-five`, but not `twenty twelve`.
            Part::One(value) if value < 10.0 && is_after(|it| matches!(it, Part::Ten(_))) => {
                self.part += value;
            }
            Part::Ten(value) if is_after(|it| matches!(it, Part::Hundred | Part::Scale(_))) => {
                self.part += value;
            }
            Part::Hundred if is_after(|it| matches!(it, Part::One(_))) => {
                self.part = self.part.max(1.0) * 100.0;
            }
            Part::Dozen if is_after(|it| matches!(it, Part::One(_))) => self.part = self.part.max(1.0) * 12.0,
            Part::Scale(factor) if self.last.is_none() || self.part > 0.0 => {
                self.whole += self.part.max(1.0) * factor;
                self.part = 0.0;
                self.step = factor;
            }
            // `Two lakh crore`.
            Part::Scale(factor) => {
                self.whole *= factor;
                self.step *= factor;
            }
            Part::One(_) | Part::Ten(_) | Part::Hundred | Part::Dozen | Part::Hindi(_) | Part::Vague(_) => {
                return None;
            }
        }
        if !matches!(part, Part::Scale(_)) {
            self.step = 1.0;
        }
        self.last = Some(part);
        Some(())
    }
}

/// The next part behind a space, a hyphen or `and`.
fn next(text: &str) -> Option<(Part, usize)> {
    let gap = if text.starts_with(" and ") { 5 } else { usize::from(text.starts_with([' ', '-'])) };
    let (found, len) = part(text.get(gap..).filter(|_| gap > 0)?)?;
    // `Five crores` is a number; `crores` alone says only how large one is.
    let found = match found? {
        Part::Vague(Vague::Some(factor)) => Part::Scale(factor),
        other => other,
    };
    Some((found, gap + len))
}

/// The part that a word is, `None` for `a`, and the length of the word.
fn part(text: &str) -> Option<(Option<Part>, usize)> {
    let len = letters(text);
    let word = text.get(..len).filter(|word| (1..=10).contains(&word.len()))?;
    if text[len..].starts_with(char::is_alphanumeric) {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let position = |words: &[&str]| words.iter().position(|it| *it == lower).map(number_of);
    let found = match lower.as_str() {
        "a" | "an" => return Some((None, len)),
        "hundred" => Part::Hundred,
        "dozen" => Part::Dozen,
        _ => match (position(&ONES), position(&TENS)) {
            (Some(value), _) => Part::One(value),
            (None, Some(tens)) => Part::Ten(tens * 10.0),
            (None, None) => match (vague::of_word(&lower), vague::hindi(&lower)) {
                (Some(word), _) => Part::Vague(word),
                (None, Some(value)) => Part::Hindi(value),
                (None, None) => Part::Scale(scale::factor_of(&lower)?),
            },
        },
    };
    Some((Some(found), len))
}

fn number_of(position: usize) -> f64 {
    f64::from(u32::try_from(position).unwrap_or_default())
}

/// The number of letters at the beginning of a text.
fn letters(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_alphabetic).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_are_read_by_what_they_say() {
        let all = |text: &str| spelled(text).map(|(it, _)| (it.value, it.step)).collect::<Vec<_>>();
        for (text, expected) in [
            ("You hold forty-two shares.", &[(42.0, 1.0)][..]),
            ("three hundred and twelve", &[(312.0, 1.0)]),
            ("a hundred, two thousand five hundred", &[(100.0, 1.0), (2500.0, 1.0)]),
            ("twenty-five lakh, two lakh crore", &[(25e5, 1e5), (2e12, 1e12)]),
            ("one million dollars", &[(1e6, 1e6)]),
            ("Twelve of three", &[(12.0, 1.0), (3.0, 1.0)]),
            ("one of them, a share, someone, tone, x_two", &[]),
            ("one percent", &[(1.0, 1.0)]),
            ("a dozen", &[(12.0, 1.0)]),
            ("twenty twelve", &[(20.0, 1.0), (12.0, 1.0)]),
            ("ek lakh rupaye, dedh crore, do it, a teen", &[(1e5, 1e5), (1.5e7, 1e7)]),
            ("It has doubled and halved", &[(100.0, 10.0), (50.0, 10.0)]),
            ("About half of it, the second half of 2025, half-hearted", &[(50.0, 10.0)]),
            ("It is worth crores, a few lakh", &[(500e7, 998e7), (500e5, 998e5)]),
            ("thousands of crores", &[(500e10, 998e10)]),
            ("5 crores, in crores, five crores, few people", &[(5e7, 1e7)]),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
        let (_, place) = spelled("It is forty-two.").next().unwrap();
        assert_eq!(place, 6..15);
    }
}
