//! The tokens of a text that are written in digits: numbers, dates, times. One pass; each byte is looked at a bounded
//! number of times.

use std::ops::Range;

use super::{
    currency::Currency,
    date::{self, Date},
    direction::{self, Direction},
    number_words as words,
    numeral::{Numeral, numeral},
    scale::{self, ONE, PERCENT, Scale, Suffix},
    time::{self, Time},
};

/// Something said in digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::ground) enum Token<'a> {
    Number {
        /// What the digits say, without sign.
        value: f64,
        /// One unit of the last digit.
        step: f64,
        /// What stands behind them.
        scale: Scale,
        /// Whether they may be a year.
        is_year: bool,
        claim: Claim,
    },
    Date(Date),
    Time(Time),
    /// Digits of other scripts, superscripts, fractions of one character, and what no float holds, as they are.
    Foreign(&'a str),
}

impl Token<'_> {
    const fn plain(value: f64, step: f64) -> Self {
        Self::Number {
            value,
            step,
            scale: ONE,
            is_year: false,
            claim: Claim { currency: None, direction: None },
        }
    }
}

/// What stands beside a number and says more of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::ground) struct Claim {
    pub(super) currency: Option<Currency>,
    /// Of amounts of money and percentages only: `below 40` is no fall.
    pub(super) direction: Option<Direction>,
}

/// What a text says of numbers in words.
pub(in crate::ground) fn spelled(text: &str) -> impl Iterator<Item = (Token<'_>, Range<usize>)> {
    words::spelled(text).map(|(number, range)| {
        if number.percent || number.direction.is_some() {
            let scale = if number.percent { PERCENT } else { ONE };
            let claim = Claim { currency: None, direction: number.direction };
            let (value, step) = (number.value, number.step);
            return (Token::Number { value, step, scale, is_year: false, claim }, range);
        }
        let Suffix::Scale(scale, more) = scale::behind(&text[range.end..]) else {
            return (Token::plain(number.value, number.step), range);
        };
        let claim = Claim::of(text, range.clone(), range.end + more, scale.percent);
        let token = Token::Number { value: number.value, step: number.step, scale, is_year: false, claim };
        (token, range.start..range.end + more)
    })
}

const LONGEST_CURRENCY: usize = 3;

/// What a text says in digits, and where. Digits that are glued to letters, as in `Q3` and `SMA200`, say nothing.
pub(in crate::ground) fn tokens(text: &str) -> impl Iterator<Item = (Token<'_>, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += next_digit(&text[at..])?;
            let start = at;
            let (token, end) = read(text, start);
            at = end;
            if let Some(token) = token {
                return Some((token, start..end));
            }
        }
    })
}

/// How far the next character is that may belong to a number.
fn next_digit(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            return Some(at);
        }
        if byte.is_ascii() {
            at += 1;
            continue;
        }
        let c = text[at..].chars().next()?;
        if c.is_numeric() {
            return Some(at);
        }
        at += c.len_utf8();
    }
    None
}

/// What begins at a digit, and where to go on.
fn read(text: &str, start: usize) -> (Option<Token<'_>>, usize) {
    let rest = &text[start..];
    if !rest.as_bytes()[0].is_ascii_digit() {
        let end = rest.find(|c: char| c.is_ascii() || !c.is_numeric()).unwrap_or(rest.len());
        return (Some(Token::Foreign(&rest[..end])), start + end);
    }
    let before = Before::of(&text[..start]);
    if before == Before::Glued {
        return (None, start + glued_len(rest));
    }
    if let Before::Month(month) = before
        && let Some((date, len)) = date::after_month(month, rest)
    {
        return (Some(Token::Date(date)), start + len);
    }
    if let Some((date, len)) = date::date(rest) {
        return (Some(Token::Date(date)), start + len);
    }
    if let Some((time, len)) = time::time(rest) {
        return (Some(Token::Time(time)), start + len);
    }
    number(text, start, before == Before::Point)
}

fn number(text: &str, start: usize, behind_point: bool) -> (Option<Token<'_>>, usize) {
    let from = start - usize::from(behind_point);
    let Numeral { value, step, is_year, len } = numeral(&text[from..]);
    let end = from + len;
    // Too large, or too long: only the same digits are the same number.
    if !value.is_finite() {
        return (Some(Token::Foreign(&text[from..end])), end);
    }
    match scale::behind(&text[end..]) {
        Suffix::Glued => (None, end + glued_len(&text[end..])),
        Suffix::Scale(scale, more) => {
            let is_year = is_year && more == 0;
            let claim = Claim::of(text, from..end, end + more, scale.percent);
            (Some(Token::Number { value, step, scale, is_year, claim }), end + more)
        }
    }
}

impl Claim {
    /// The claim beside these digits, with what multiplies them up to `end`.
    pub(super) fn of(text: &str, digits: Range<usize>, end: usize, is_percent: bool) -> Self {
        let before = &text[..digits.start];
        let (currency, start) = match Currency::before(before) {
            Some((currency, start)) => (Some(currency), start),
            None => (None, before.len()),
        };
        let within = Currency::of_name(text[digits.end..end].trim());
        let behind = Currency::behind(&text[end..]);
        let end = end + behind.map_or(0, |(_, len)| len);
        let currency = currency.or(within).or(behind.map(|(currency, _)| currency));
        let direction = || {
            let sign = direction::sign(before).or_else(|| direction::sign(&before[..start]));
            sign.or_else(|| direction::before(&before[..start])).or_else(|| direction::behind(&text[end..]))
        };
        let direction = if is_percent || currency.is_some() { direction() } else { None };
        Self { currency, direction }
    }
}

/// The length of what hangs together with letters: `v1.2`, `52w`, `rsi_14`.
fn glued_len(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let joins = c == '.' && text[at + 1..].starts_with(|next: char| next.is_ascii_digit());
        if !(c.is_alphanumeric() || c == '_' || joins) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// What stands right before digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// Letters: the digits belong to a word.
    Glued,
    /// A point that begins the number, as in `.5`.
    Point,
    /// The name of a month, and a space.
    Month(u8),
}

impl Before {
    fn of(text: &str) -> Self {
        let Some(last) = text.chars().next_back() else { return Self::Nothing };
        if last == '_' {
            let word = text.trim_end_matches(['_', '\\']);
            return if ends_in_word(word) { Self::Glued } else { Self::Nothing };
        }
        if scale::is_glue(last) {
            // Between a date and its time.
            if text.strip_suffix('T').is_some_and(|date| date.ends_with(|c: char| c.is_ascii_digit())) {
                return Self::Nothing;
            }
            let letters = trailing_letters(text, LONGEST_CURRENCY);
            return if scale::is_currency(letters) { Self::Nothing } else { Self::Glued };
        }
        if last == '.' {
            return if ends_in_word(&text[..text.len() - 1]) { Self::Nothing } else { Self::Point };
        }
        let word = text.strip_suffix(' ').map(|it| it.strip_suffix('.').unwrap_or(it));
        let month = word.and_then(|word| date::month(trailing_letters(word, date::LONGEST_MONTH)));
        month.map_or(Self::Nothing, Self::Month)
    }
}

fn ends_in_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(char::is_alphanumeric)
}

/// The letters that end a text, if there are at most this many.
fn trailing_letters(text: &str, most: usize) -> &str {
    let count = text.bytes().rev().take(most + 1).take_while(u8::is_ascii_alphabetic).count();
    let start = text.len() - count;
    if count > most || ends_in_word(&text[..start]) { "" } else { &text[start..] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        let number = |(token, _): (Token<'_>, _)| match token {
            Token::Number { value, scale, .. } => Some(value * scale.factor),
            _ => None,
        };
        tokens(text).filter_map(number).collect()
    }

    #[test]
    fn numbers_are_found_with_what_stands_around_them() {
        for (text, expected) in [
            ("It is at $193.12 (+1.1%).", &[193.12, 1.1][..]),
            ("₹1,23,456.50 or Rs. 5 crore", &[123_456.5, 5e7]),
            ("1.2m, 3 bn, 4K, 19 lakh crore, 7x", &[1.2e6, 3e9, 4e3, 19e12, 7.0]),
            ("Q3 FY26, SMA200, v1.2, rsi_14, 1st, 52w, `x`2", &[2.0]),
            ("SMA 200, 52-week, USD5, -7.5 and .5", &[200.0, 52.0, 5.0, 7.5, 0.5]),
            ("1,2,3", &[1.0, 2.0, 3.0]),
            ("6 per cent, 7 percent of 8 people", &[6.0, 7.0, 8.0]),
            ("rsi\\_14 and _15_", &[15.0]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn dates_and_times_are_not_numbers() {
        let text = "2026-01-14T15:42:00Z, 15 January 2026, January 15, Jan 2026, at 15:42";
        let (dates, times): (Vec<_>, Vec<_>) =
            tokens(text).map(|(token, _)| token).partition(|token| matches!(token, Token::Date(_)));
        assert_eq!((dates.len(), times.len()), (4, 2), "{dates:?} {times:?}");
        assert!(times.iter().all(|token| matches!(token, Token::Time(_))));
    }

    #[test]
    fn digits_of_other_scripts_are_told_apart() {
        let found: Vec<_> = tokens("x² 5½ ９９ ③").map(|(token, _)| token).collect();
        assert_eq!(found.len(), 5, "the five before the half is one too: {found:?}");
        let foreign = |text: &str| found.contains(&Token::Foreign(text));
        assert!(["²", "½", "９９", "③"].into_iter().all(foreign));
    }
}
