//! Lengths of time as they are written: `the last two weeks`, `this year`, `60 days`, `3m`.

use super::{PeriodForm, Span, Unit};
use crate::{english::english, matching::words::Word};

/// Maximum number of units of a length of time.
const LONGEST: u32 = 10_000;

/// The length of time that begins at a word.
pub(super) fn span(words: &[Word], at: usize) -> Option<Span> {
    parse_named(words, at).or_else(|| parse_counted(words, at))
}

/// Such as `today`, `this year` or `the year`.
fn parse_named(words: &[Word], at: usize) -> Option<Span> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let made = |end, count, unit, form| Some(Span { first: at, end, count, unit, form });
    match (lower(at), lower(at + 1)) {
        (day, _) if english().today.has(day) => made(at + 1, 1, Unit::Day, PeriodForm::This),
        ("yesterday", _) => made(at + 1, 1, Unit::Day, PeriodForm::Past),
        ("ytd", _) => made(at + 1, 1, Unit::Year, PeriodForm::This),
        ("year", "to") if lower(at + 2) == "date" => made(at + 3, 1, Unit::Year, PeriodForm::This),
        (this, next) if english().current.has(this) && next != "fortnight" => {
            made(at + 2, 1, Unit::of(next)?, PeriodForm::This)
        }
        ("the", next) if !next.ends_with('s') => made(at + 2, 1, Unit::of(next)?, PeriodForm::This),
        ("half", "a" | "the") if lower(at + 2) == "year" => made(at + 3, 6, Unit::Month, PeriodForm::Bare),
        ("half", "year") => made(at + 2, 6, Unit::Month, PeriodForm::Bare),
        _ => None,
    }
}

/// Such as `the last two weeks`, `60 days`, `a couple of months` or `3m`.
fn parse_counted(words: &[Word], at: usize) -> Option<Span> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let is_past = english().past.has(lower(at));
    let form = if is_past { PeriodForm::Past } else { PeriodForm::Bare };
    let made = |end, count, unit| Some(Span { first: at, end, count, unit, form });
    let mut next = at + usize::from(is_past);
    if lower(next) == "couple" {
        next += 1 + usize::from(lower(next + 1) == "of");
        return made(next + 1, 2, Unit::of(lower(next))?);
    }
    // A larger number is no length of time.
    let count = words.get(next).and_then(Word::number).map(|count| count.min(LONGEST));
    let is_article = !is_past && count.is_none() && matches!(lower(next), "a" | "an");
    next += usize::from(count.is_some() || is_article);
    // `A good week` is a week.
    let is_plain = words.get(next).is_some_and(|word| word.number().is_none());
    if is_article && is_plain && Unit::of(lower(next)).is_none() && Unit::of(lower(next + 1)).is_some() {
        next += 1;
    }
    if let Some((count, unit)) = letters(lower(next)).filter(|_| count.is_none()) {
        return made(next + 1, count, unit);
    }
    // A word such as `monthly` needs nothing before it, and `week` alone says no length.
    let unit = Unit::of(lower(next))?;
    let weeks = if lower(next).starts_with("fortnight") { 2 } else { 1 };
    let is_alone = next == at && !lower(next).ends_with("ly") && lower(next) != "annual";
    if is_alone { None } else { made(next + 1, count.unwrap_or(1) * weeks, unit) }
}

/// `3m` or `1y`.
fn letters(word: &str) -> Option<(u32, Unit)> {
    let unit = Unit::of_letter(word.chars().last()?)?;
    let count: u32 = word[..word.len() - 1].parse().ok()?;
    Some((count.min(LONGEST), unit))
}
