//! Days as the exchange writes them: `16-JAN-2026`, and `16-01-2026` in queries.

use chrono::NaiveDate;

use toolwire_sources::upstream::http::Failure;

/// The day of a text such as `16-JAN-2026`.
pub(super) fn parse(text: &str) -> Result<NaiveDate, Failure> {
    let text = text.trim();
    let day = NaiveDate::parse_from_str(text, "%d-%b-%Y");
    day.map_err(|_| Failure::malformed(format!("not a day: {:?}", text.chars().take(24).collect::<String>())))
}

/// The day as a query states it.
pub(super) fn query(day: NaiveDate) -> String {
    day.format("%d-%m-%Y").to_string()
}
