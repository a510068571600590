//! Instants and identifiers in a few characters: the hours of today, the date and hours of other days, prefixes.

use std::time::SystemTime;

use toolwire_contract::convert::timestamp;

/// `2026-01-14T14:03:20` and no more is needed.
const DATE: usize = 10;
const MINUTES: usize = 16;
const SECONDS: usize = 19;

/// The text with its instants and identifiers written short.
pub(super) fn words(text: &str, now: SystemTime, id: usize) -> String {
    let today = timestamp(now).to_string();
    let short = |word: &str| {
        let (word, mark) = word.strip_suffix(',').map_or((word, ""), |bare| (bare, ","));
        let shown = instant(word, &today).or_else(|| is_id(word).then(|| word[..id].to_owned()));
        shown.unwrap_or_else(|| word.to_owned()) + mark
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

fn instant(word: &str, today: &str) -> Option<String> {
    let is_instant = word.len() > SECONDS
        && word.ends_with('Z')
        && word.bytes().zip("0000-00-00T00:00:00".bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        });
    let (date, hours) = (word.get(..DATE)?, word.get(DATE + 1..)?);
    is_instant.then(|| {
        if date == &today[..DATE] {
            format!("{}Z", &hours[..SECONDS - DATE - 1])
        } else {
            format!("{date} {}Z", &hours[..MINUTES - DATE - 1])
        }
    })
}

/// Whether it is a UUID, or a word and 32 digits.
fn is_id(word: &str) -> bool {
    let digits = word.split_once('_').map_or(word, |(_, digits)| digits);
    let is_of_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    word.is_ascii() && is_of_digits && matches!(digits.len(), 32 | 36)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn instants_are_hours_today_and_dates_otherwise() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(491_266);
        for (text, expected) in [
            ("2026-01-16T09:59:58.123456Z", "09:59:58Z"),
            ("2026-01-16T09:59:58Z", "09:59:58Z"),
            ("2026-01-15T23:59:58.5Z", "2026-01-15 23:59Z"),
            ("refused until 2026-01-16T10:00:00Z", "refused until 10:00:00Z"),
            (
                "blocked, waits for task_0123456789abcdef0123456789abcdef, 01a21959-8b2f-7aaa-8000-000000000000",
                "blocked, waits for task_01234567, 01a21959-8b2f",
            ),
            ("2026-01-16", "2026-01-16"),
            ("2026-01-16T10:00:00+02:00", "2026-01-16T10:00:00+02:00"),
            ("ein Satz über Größen", "ein Satz über Größen"),
            ("", ""),
        ] {
            assert_eq!(words(text, now, 13), expected);
        }
    }
}
