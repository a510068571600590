//! The dates of feeds: RFC 2822, with the zone `IST`, which no parser takes for India's, and with wrong days of the
//! week.

use chrono::{DateTime, Utc};

/// The instant that a feed's date stands for.
pub(super) fn parse(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    // Without the day of the week: a wrong one would make the whole date wrong.
    let text = text.split_once(',').map_or(text, |(_, date)| date).trim();
    let text = text.strip_suffix("IST").map_or_else(|| text.to_owned(), |date| format!("{date}+0530"));
    DateTime::parse_from_rfc2822(&text).ok().map(|time| time.to_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_in_which_feeds_write_dates_are_understood() {
        for text in [
            "Fri, 16 Jan 2026 15:30:00 +0530",
            "Fri, 16 Jan 2026 15:30:00 IST",
            "Mon, 16 Jan 2026 10:00:00 GMT",
            "16 Jan 2026 10:00:00 +0000",
            " 2026-01-16T15:30:00+05:30 ",
        ] {
            let time = parse(text).expect(text);
            assert_eq!(time.to_rfc3339(), "2026-01-16T10:00:00+00:00", "{text}");
        }
        for text in ["", "yesterday", "Fri, 32 Jan 2026 15:30:00 IST", "Fri, 16 Jan 2026"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
