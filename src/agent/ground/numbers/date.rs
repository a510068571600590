//! Dates as results and people write them: `2026-01-15`, `15 Jan 2026`, `January 15, 2026`, `January 2026`, `15 Jan`.

/// A day, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ground) struct Date {
    /// The year, if it is said.
    pub(super) year: Option<u16>,
    /// The month, from 1.
    pub(super) month: Option<u8>,
    /// The day of the month, if it is said.
    pub(super) day: Option<u8>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

pub(super) const LONGEST_MONTH: usize = 9;

impl Date {
    pub(super) fn year(year: u16) -> Self {
        Self { year: Some(year), month: None, day: None }
    }

    /// One number for each date; what is not said is zero.
    pub(super) fn code(self) -> u32 {
        let [year, month, day] =
            [self.year.map(u32::from), self.month.map(u32::from), self.day.map(u32::from)]
                .map(Option::unwrap_or_default);
        year * 10_000 + month * 100 + day
    }

    /// The ways in which a date can be said.
    pub(super) fn ways(self) -> impl Iterator<Item = Self> {
        let Self { year, month, day } = self;
        let ways = [
            self,
            Self { year, month, day: None },
            Self { year, month: None, day: None },
            Self { year: None, month, day },
        ];
        ways.into_iter().filter(|way| way.code() != 0)
    }
}

/// The date at the beginning of a text, which begins with a digit, and how many bytes it takes.
pub(super) fn date(text: &str) -> Option<(Date, usize)> {
    numeric(text, b'-').or_else(|| numeric(text, b'/')).or_else(|| day_first(text))
}

/// The rest of a date whose month has just been said, and how many bytes it takes.
pub(super) fn after_month(month: u8, text: &str) -> Option<(Date, usize)> {
    if let Some(year) = four_digits(text).filter(|year| is_year(*year)) {
        let date = Date { year: Some(year), month: Some(month), day: None };
        return Some((date, 4));
    }
    let (day, mut len) = day(text)?;
    let mut date = Date { year: None, month: Some(month), day: Some(day) };
    let rest = &text[len..];
    let gap = rest.len() - rest.trim_start_matches([',', ' ']).len();
    if let Some(year) = four_digits(&rest[gap..]).filter(|year| (1..=2).contains(&gap) && is_year(*year)) {
        date.year = Some(year);
        len += gap + 4;
    }
    Some((date, len))
}

/// The month of a name, or of its first three letters, that begins with a capital: `may` is a verb too.
pub(super) fn month(word: &str) -> Option<u8> {
    if word.len() < 3 || !word.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let is_name = |name: &&str| name.eq_ignore_ascii_case(word) || name[..3].eq_ignore_ascii_case(word);
    let at = if word.eq_ignore_ascii_case("sept") { 8 } else { MONTHS.iter().position(is_name)? };
    u8::try_from(at + 1).ok()
}

/// `2026-01-15`, and the same with `/`.
fn numeric(text: &str, separator: u8) -> Option<(Date, usize)> {
    let year = four_digits(text)?;
    let [b'-' | b'/', m, n, second, d, e, rest @ ..] = &text.as_bytes()[4..] else { return None };
    let is_date = text.as_bytes()[4] == separator && *second == separator;
    let ends = !rest.first().is_some_and(u8::is_ascii_digit);
    let (month, day) = (two(*m, *n)?, two(*d, *e)?);
    let is_real = (1..=12).contains(&month) && (1..=31).contains(&day);
    let date = Date { year: Some(year), month: Some(month), day: Some(day) };
    (is_date && ends && is_real).then_some((date, 10))
}

/// `15 January 2026`, `15th Jan`, `15-Jan-2026`.
fn day_first(text: &str) -> Option<(Date, usize)> {
    let (day, mut len) = day(text)?;
    let rest = text.get(len..)?.strip_prefix([' ', '-'])?;
    let letters = rest.bytes().take(LONGEST_MONTH + 1).take_while(u8::is_ascii_alphabetic).count();
    let month = month(&rest[..letters])?;
    len += 1 + letters;
    let mut date = Date { year: None, month: Some(month), day: Some(day) };
    let rest = rest[letters..].trim_start_matches('.');
    let tail = rest.strip_prefix(", ").or_else(|| rest.strip_prefix([' ', '-', ',']));
    if let Some((tail, year)) = tail.and_then(|it| Some((it, four_digits(it).filter(|year| is_year(*year))?)))
    {
        date.year = Some(year);
        len = text.len() - tail.len() + 4;
    }
    Some((date, len))
}

/// One or two digits that are a day, with `st`, `nd`, `rd` or `th` or without.
fn day(text: &str) -> Option<(u8, usize)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).take(3).count();
    let day: u8 = text.get(..count)?.parse().ok()?;
    let rest = &text[count..];
    let is_fraction =
        rest.strip_prefix(['.', ',']).is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    let ordinal = ["st", "nd", "rd", "th"].iter().any(|it| rest.starts_with(it));
    let len = if ordinal { count + 2 } else { count };
    let goes_on = text[len..].starts_with(|c: char| c.is_alphanumeric() || c == '%');
    (count <= 2 && (1..=31).contains(&day) && !is_fraction && !goes_on).then_some((day, len))
}

fn four_digits(text: &str) -> Option<u16> {
    let count = text.bytes().take(5).take_while(u8::is_ascii_digit).count();
    (count == 4).then(|| text[..4].parse().ok())?
}

fn two(tens: u8, ones: u8) -> Option<u8> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| byte - b'0');
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// Whether four digits are likely to be a year.
pub(super) fn is_year(number: u16) -> bool {
    (1900..2200).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_however_it_is_written() {
        let full = Date { year: Some(2026), month: Some(1), day: Some(15) };
        for (text, expected, len) in [
            ("2026-01-15T10:00", full, 10),
            ("2026/01/15", full, 10),
            ("15 January 2026.", full, 15),
            ("15-Jan-2026", full, 11),
            ("15th Jan, 2026", full, 14),
            ("15 Jan and", Date { year: None, ..full }, 6),
        ] {
            assert_eq!(date(text), Some((expected, len)), "{text}");
        }
        assert_eq!(after_month(1, "15, 2026"), Some((full, 8)));
        assert_eq!(after_month(1, "2026 was"), Some((Date { day: None, ..full }, 4)));
        assert_eq!(after_month(1, "15.5"), None);
        for none in ["2026-13-01", "2026-01-151", "32 January", "15 januar 2026", "15 may 2", "20260115"] {
            assert_eq!(date(none), None, "{none}");
        }
    }
}
