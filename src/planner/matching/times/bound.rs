//! What the words before a date make of it: the beginning of a time, its end, or the whole of it.

use chrono::{Datelike, NaiveDate};

use crate::english::english;

/// Whether a date behind two words is the first one that is not in the time: `before June`, `prior to June`.
pub(super) fn is_end_before(second: &str, before: &str) -> bool {
    before == "before" || (second == "prior" && before == "to")
}

/// Whether a date behind two words ends a time without a beginning: `until June`, `up to June`.
pub(super) fn is_end(second: &str, before: &str) -> bool {
    matches!(before, "until" | "till") || (second == "up" && before == "to")
}

/// The beginning of a range that was said without its year. One after its end is in the year of the end, or in the one
/// before: `between March and June 2024`, `from November to March 2025`.
pub(super) fn of_range(since: NaiveDate, last: NaiveDate) -> NaiveDate {
    let years = [since.year(), last.year(), last.year() - 1].into_iter();
    let mut begins = years.filter_map(|year| since.with_year(year));
    begins.find(|begin| *begin <= last).unwrap_or(since)
}

/// Whether a date behind a word is the whole of the time.
pub(super) fn is_during(before: &str) -> bool {
    [&english().during, &english().last, &english().current].iter().any(|all| all.has(before))
}
