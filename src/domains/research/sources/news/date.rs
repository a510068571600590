//! Parses the dates of feeds. They are RFC 2822, also with wrong days of the week or the zone `IST`, which no parser
//! takes for India's, or have other forms of Indian feeds. Dates without a zone are in India's time.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use crate::sources::india;

/// The forms of a date with a time and no zone. `%B` takes short names of months too.
const LOCAL: [&str; 6] = [
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%d %B %Y %H:%M:%S",
    "%d %B %Y %H:%M",
    "%B %d %Y %H:%M:%S",
];
const DAY: [&str; 4] = ["%Y-%m-%d", "%d %B %Y", "%d-%B-%Y", "%B %d %Y"];

/// The instant that a feed's date stands for; that of a day is its beginning.
pub(super) fn parse(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    // Without the day of the week: a wrong one would make the whole date wrong.
    let text = text.split_once(',').filter(|(day, _)| is_word(day)).map_or(text, |(_, date)| date);
    let text = text.replace(',', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let zoned = match text.strip_suffix("IST") {
        Some(date) => format!("{} +0530", date.trim_end()),
        None => text,
    };
    if let Ok(time) = DateTime::parse_from_rfc2822(&zoned) {
        return Some(time.to_utc());
    }
    let (local, zone) = split_zone(&zoned);
    let time = LOCAL.iter().find_map(|form| NaiveDateTime::parse_from_str(local, form).ok());
    let day = || DAY.iter().find_map(|form| NaiveDate::parse_from_str(local, form).ok());
    let time = time.or_else(|| Some(day()?.and_time(NaiveTime::MIN)))?;
    Some(time.and_local_timezone(zone).single()?.to_utc())
}

fn is_word(day: &str) -> bool {
    day.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The date and its zone: a number such as `+05:30` or `+0530`, or a name for UTC; India's without one.
fn split_zone(text: &str) -> (&str, FixedOffset) {
    let india = FixedOffset::east_opt(india::UTC_OFFSET_S).expect("less than a day");
    if let Some(date) = ["GMT", "UTC", "Z"].iter().find_map(|zone| text.strip_suffix(zone)) {
        return (date.trim_end(), FixedOffset::east_opt(0).expect("less than a day"));
    }
    let at = text.rfind(['+', '-']).filter(|at| *at > 0 && text[..*at].contains(':'));
    let zone = at.and_then(|at| Some((text[..at].trim_end(), text[at..].parse().ok()?)));
    zone.unwrap_or((text, india))
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
            "2026-01-16T15:30:00",
            "2026-01-16 15:30:00",
            "2026-01-16 15:30:00 IST",
            "2026-01-16 10:00:00 UTC",
            "2026-01-16 15:30:00 +05:30",
            "2026-01-16 15:30:00+05:30",
            "2026-01-16 15:30",
            "16 Jan 2026 15:30 IST",
            "16 Jan 2026 15:30",
            "16 January 2026 15:30 IST",
            "Fri, 16 Jan 2026 15:30:00 +05:30",
            "Jan 16, 2026 15:30:00 IST",
        ] {
            let time = parse(text).expect(text);
            assert_eq!(time.to_rfc3339(), "2026-01-16T10:00:00+00:00", "{text}");
        }
        for text in
            ["", "yesterday", "Fri, 32 Jan 2026 15:30:00 IST", "2026-02-30", "12:00", "2026-01-16 25:00"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_is_where_it_begins_in_india() {
        for text in ["2026-01-16", "Fri, 16 Jan 2026", "16 Jan 2026", "16-Jan-2026", "Jan 16, 2026"] {
            assert_eq!(parse(text).expect(text).to_rfc3339(), "2026-01-15T18:30:00+00:00", "{text}");
        }
    }
}
