//! The filters of templates: `num`, `money`, `pct`, `date`, `quote`, `link`, `rest`. What they write is not escaped
//! again; everything else that a template shows is quoted as text from outside.

#![allow(clippy::needless_pass_by_value, reason = "the engine gives named arguments away")]

use chrono::{DateTime, NaiveDate, Utc};
use minijinja::{
    Error, ErrorKind, State,
    value::{Kwargs, Value},
};

use super::{
    cells::{amount, number},
    quote::{quote, quote_within},
    rest::rest as rest_of,
};

/// What stands for a value that is absent.
pub(super) const ABSENT: &str = "n/a";

/// `1,234.5`, with as many decimals as it has, at most three or those asked for.
pub(super) fn num(value: &Value, decimals: Option<usize>, options: Kwargs) -> Result<Value, Error> {
    let signed = options.get::<Option<bool>>("signed")?.unwrap_or(false);
    options.assert_all_used()?;
    of_number(value, |it| number(it, decimals, signed))
}

/// `$1,234.50`, `₹1,23,456.00`, or `5.00 CHF`.
pub(super) fn money(
    value: &Value,
    currency: &Value,
    decimals: Option<usize>,
    options: Kwargs,
) -> Result<Value, Error> {
    let signed = options.get::<Option<bool>>("signed")?.unwrap_or(false);
    options.assert_all_used()?;
    of_number(value, |it| amount(it, currency.as_str(), decimals.unwrap_or(2), signed))
}

/// `1.1%`, of what is percent already.
pub(super) fn pct(value: &Value, decimals: Option<usize>, options: Kwargs) -> Result<Value, Error> {
    let signed = options.get::<Option<bool>>("signed")?.unwrap_or(false);
    options.assert_all_used()?;
    of_number(value, |it| format!("{}%", number(it, decimals, signed)))
}

/// `15 January 2026`, and `14 January 2026, 15:42 UTC` of a time. What is not a date is quoted as it is.
pub(super) fn date(value: &Value) -> Result<Value, Error> {
    let Some(text) = text(value)? else { return Ok(safe(ABSENT)) };
    let day = |text: &str| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let shown = match (day(text), DateTime::parse_from_rfc3339(text)) {
        (Some(day), _) => day.format("%-d %B %Y").to_string(),
        (None, Ok(time)) => time.with_timezone(&Utc).format("%-d %B %Y, %H:%M UTC").to_string(),
        (None, Err(_)) => quote(text),
    };
    Ok(Value::from_safe_string(shown))
}

/// A text from outside, of at most this many characters.
pub(super) fn quote_filter(value: &Value, longest: Option<usize>) -> Result<Value, Error> {
    let shown = |text| longest.map_or_else(|| quote(text), |longest| quote_within(text, longest));
    Ok(text(value)?.map_or_else(|| safe(ABSENT), |text| Value::from_safe_string(shown(text))))
}

/// An address as a link, if it is one that a page can have; otherwise nothing.
pub(super) fn link(value: &Value) -> Result<Value, Error> {
    let address = text(value)?.unwrap_or_default();
    let is_page = ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme));
    let is_plain =
        address.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | '`' | '|' | '\\'));
    let shown = if is_page && is_plain { format!("<{address}>") } else { String::new() };
    Ok(Value::from_safe_string(shown))
}

/// How many elements a list has beyond its first `shown`, with its source. Nothing if it has no more.
pub(super) fn rest(state: &State<'_, '_>, list: &Value, shown: usize) -> Result<Value, Error> {
    let all = list.len().ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, format!("a list is expected, not {}", list.kind()))
    })?;
    let rest = rest_of(shown, all);
    if rest.is_empty() {
        return Ok(Value::from_safe_string(rest));
    }
    let cite = state.lookup("cite").unwrap_or_default();
    Ok(Value::from_safe_string(format!("{rest} {}.", cite.as_str().unwrap_or_default())))
}

fn of_number(value: &Value, show: impl FnOnce(f64) -> String) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_none() {
        return Ok(safe(ABSENT));
    }
    f64::try_from(value.clone()).map(|it| Value::from_safe_string(show(it)))
}

fn text(value: &Value) -> Result<Option<&str>, Error> {
    if value.is_none() {
        return Ok(None);
    }
    let what =
        || Error::new(ErrorKind::InvalidOperation, format!("a text is expected, not {}", value.kind()));
    value.as_str().map(Some).ok_or_else(what)
}

fn safe(text: &str) -> Value {
    Value::from_safe_string(text.to_owned())
}
