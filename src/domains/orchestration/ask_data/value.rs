//! One cell: a decimal, a date, a text, or nothing.

use std::{
    borrow::Cow,
    cmp::Ordering,
    hash::{Hash, Hasher},
};

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::Value as Json;

/// What all cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Kind {
    Decimal,
    /// Dates, or dates with times, as ISO 8601 writes them.
    Date,
    Text,
}

/// The value of a cell. Values of one column are of one kind.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Decimal(Decimal),
    /// A date, and how it is written.
    Date(NaiveDateTime, Cow<'a, str>),
    Text(Cow<'a, str>),
    Null,
}

impl Kind {
    /// The value of a text, if it is of this kind.
    pub(super) fn read(self, text: Cow<'_, str>) -> Option<Value<'_>> {
        match self {
            _ if text.is_empty() => Some(Value::Null),
            Self::Decimal => decimal(&text).map(Value::Decimal),
            Self::Date => date(&text).map(|date| Value::Date(date, text)),
            Self::Text => Some(Value::Text(text)),
        }
    }
}

impl Value<'_> {
    /// Whether it is nothing.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// As JSON: a decimal as a number where a double shows all its digits.
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Decimal(number) => number_to_json(*number),
            Self::Date(_, text) | Self::Text(text) => Json::from(text.as_ref()),
            Self::Null => Json::Null,
        }
    }

    /// About how many bytes it takes in an answer.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Date(_, text) | Self::Text(text) => text.len() + 2,
            Self::Decimal(_) | Self::Null => 8,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Decimal(_) => 0,
            Self::Date(..) => 1,
            Self::Text(_) => 2,
            Self::Null => 3,
        }
    }
}

fn number_to_json(number: Decimal) -> Json {
    let number = number.normalize();
    if number.scale() == 0
        && let Some(whole) = number.to_i64().filter(|whole| whole.abs() < 1_000_000_000_000_000)
    {
        return whole.into();
    }
    // A double keeps 15 digits; what has more would come out as another number.
    let is_kept = number.mantissa().unsigned_abs() < 1_000_000_000_000_000;
    let double = number.to_string().parse::<f64>().ok().filter(|_| is_kept);
    double.and_then(serde_json::Number::from_f64).map_or_else(|| number.to_string().into(), Json::Number)
}

/// A number as tables write it: no separators but the point, and no zero before other digits, which marks a code.
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(a, b)| (a, Some(b)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_code = whole.len() > 1 && whole.starts_with('0');
    if is_code || !is_number(fraction) || !(whole.is_empty() && mantissa.len() > 1 || is_number(whole)) {
        return None;
    }
    let Some(exponent) = exponent else { return Decimal::from_str_exact(text).ok() };
    let power = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let is_near = is_number(power) && power.len() <= 2;
    // Read in two steps, so that a mantissa of too many digits is refused rather than rounded.
    let is_exact = is_near && Decimal::from_str_exact(mantissa).is_ok();
    is_exact.then(|| Decimal::from_scientific(text).ok())?
}

/// A date or a time as ISO 8601 writes it, in UTC.
pub(super) fn date(text: &str) -> Option<NaiveDateTime> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_date = bytes.get(4) == Some(&b'-')
        && bytes.get(7) == Some(&b'-')
        && (0..4).chain([5, 6, 8, 9]).all(is_digit);
    if !is_date {
        return None;
    }
    if text.len() == 10 {
        return Some(NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_time(NaiveTime::MIN));
    }
    let zoned = DateTime::parse_from_rfc3339(text).ok().map(|time| time.naive_utc());
    let plain = |form| NaiveDateTime::parse_from_str(text, form).ok();
    zoned.or_else(|| plain("%Y-%m-%dT%H:%M:%S%.f")).or_else(|| plain("%Y-%m-%d %H:%M:%S%.f"))
}

/// Two ways to write a date or a number are one value. Nothing comes last.
impl Ord for Value<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Decimal(left), Self::Decimal(right)) => left.cmp(right),
            (Self::Date(left, _), Self::Date(right, _)) => left.cmp(right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value<'_> {}

impl Hash for Value<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Decimal(number) => number.hash(state),
            Self::Date(date, _) => date.hash(state),
            Self::Text(text) => text.hash(state),
            Self::Null => {}
        }
    }
}
