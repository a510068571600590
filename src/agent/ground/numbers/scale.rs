//! What stands behind a number and changes what it means: `%`, `k`, `bn`, `lakh`, `crore`, a currency, `x`.

/// What the digits are to be multiplied by, and what else they may mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::ground) struct Scale {
    /// 1 without a word for it.
    pub(in crate::ground) factor: f64,
    /// Whether it is said to be percent.
    pub(in crate::ground) percent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Suffix {
    /// They say how much; the length of what was read.
    Scale(Scale, usize),
    /// They make something else of the digits, such as `52w`; nothing to check.
    Glued,
}

pub(super) const ONE: Scale = Scale { factor: 1.0, percent: false };
pub(super) const PERCENT: Scale = Scale { percent: true, ..ONE };

/// Words that multiply.
const FACTORS: &[(&str, f64)] = &[
    ("hundred", 1e2),
    ("k", 1e3),
    ("thousand", 1e3),
    ("hazaar", 1e3),
    ("hazar", 1e3),
    ("m", 1e6),
    ("mm", 1e6),
    ("mn", 1e6),
    ("million", 1e6),
    ("b", 1e9),
    ("bn", 1e9),
    ("billion", 1e9),
    ("t", 1e12),
    ("tn", 1e12),
    ("trillion", 1e12),
    ("l", 1e5),
    ("lac", 1e5),
    ("lacs", 1e5),
    ("lakh", 1e5),
    ("lakhs", 1e5),
    ("cr", 1e7),
    ("crs", 1e7),
    ("crore", 1e7),
    ("crores", 1e7),
];

/// Words that say percent, behind a space too.
const PERCENTS: &[&str] = &["percent", "pct", "pp"];

/// Words that may stand right behind digits and change nothing.
const PLAIN: &[&str] = &["x", "bps", "usd", "inr", "eur", "gbp", "jpy", "chf", "rs"];

/// Currencies that may stand right before digits.
const BEFORE: &[&str] = &["rs", "usd", "inr", "eur", "gbp", "jpy", "chf", "us"];

const LONGEST: usize = 8;

/// What stands behind the digits.
pub(super) fn behind(rest: &str) -> Suffix {
    if let Some(percent) = percent(rest) {
        return percent;
    }
    let word = word(rest);
    if let Some(scale) = factor(word) {
        return with_crore(scale, rest, word.len());
    }
    if PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(word)) {
        return Suffix::Scale(ONE, word.len());
    }
    if rest.chars().next().is_some_and(is_glue) { Suffix::Glued } else { parse_spaced(rest) }
}

/// Whether digits beside it are part of a word. Scripts without spaces between words, and digits of others, are not.
pub(super) fn is_glue(c: char) -> bool {
    c.is_alphabetic() && c < '\u{590}'
}

/// Whether these letters are the name of a currency.
pub(super) fn is_currency(letters: &str) -> bool {
    BEFORE.iter().any(|name| name.eq_ignore_ascii_case(letters))
}

/// Behind a space only words of some letters count: `5 m` may be metres.
fn parse_spaced(rest: &str) -> Suffix {
    let gap = gap(rest);
    let word = word(&rest[gap..]);
    let scale = (gap > 0 && word.len() > 1).then(|| factor(word)).flatten();
    scale.map_or(Suffix::Scale(ONE, 0), |scale| with_crore(scale, rest, gap + word.len()))
}

fn percent(rest: &str) -> Option<Suffix> {
    let gap = gap(rest);
    let tail = &rest[gap..];
    if tail.starts_with('%') {
        return Some(Suffix::Scale(PERCENT, gap + 1));
    }
    let first = word(tail);
    if PERCENTS.iter().any(|name| name.eq_ignore_ascii_case(first)) {
        return Some(Suffix::Scale(PERCENT, gap + first.len()));
    }
    let is_per_cent = first.eq_ignore_ascii_case("per")
        && tail[first.len()..].strip_prefix(' ').is_some_and(|rest| word(rest).eq_ignore_ascii_case("cent"));
    is_per_cent.then_some(Suffix::Scale(PERCENT, gap + "per cent".len()))
}

/// `19 lakh crore` multiplies twice.
fn with_crore(scale: Scale, rest: &str, end: usize) -> Suffix {
    let tail = &rest[end..];
    let gap = gap(tail);
    let second = word(&tail[gap..]);
    if gap == 0 || second.get(..2).is_none_or(|start| !start.eq_ignore_ascii_case("cr")) {
        return Suffix::Scale(scale, end);
    }
    let crore = factor(second).map_or(1.0, |it| it.factor);
    let both = Scale { factor: scale.factor * crore, percent: false };
    Suffix::Scale(both, end + gap + second.len())
}

fn factor(word: &str) -> Option<Scale> {
    let (_, factor) = FACTORS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word))?;
    Some(Scale { factor: *factor, percent: false })
}

/// What a word multiplies by, such as `crore` or `cr`; a letter alone is a name too.
pub(super) fn factor_of(word: &str) -> Option<f64> {
    factor(word).filter(|_| word.len() > 1).map(|scale| scale.factor)
}

/// The length of one space, plain or not breaking.
fn gap(text: &str) -> usize {
    match text.chars().next() {
        Some(c @ (' ' | '\u{a0}' | '\u{202f}')) => c.len_utf8(),
        _ => 0,
    }
}

/// The word at the beginning of a text; nothing if there is none, or one that is longer than those here.
fn word(text: &str) -> &str {
    let end = text.bytes().take(LONGEST).take_while(u8::is_ascii_alphabetic).count();
    let goes_on = text[end..].chars().next().is_some_and(char::is_alphanumeric);
    if goes_on { "" } else { &text[..end] }
}
