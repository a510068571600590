//! Times of the day: `15:42`, `15:42:00`, `3:42 pm`.

/// A time of the day in seconds, and whether the seconds are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ground) struct Time {
    pub(super) seconds: u32,
    /// Whether it is exact to the second.
    pub(super) is_exact: bool,
}

impl Time {
    /// One number for each time.
    pub(super) fn code(self) -> u32 {
        self.seconds * 2 + u32::from(self.is_exact)
    }

    /// The ways in which a time can be said.
    pub(super) fn ways(self) -> [Self; 2] {
        [self, Self { seconds: self.seconds - self.seconds % 60, is_exact: false }]
    }
}

/// The time at the beginning of a text, which begins with a digit, and how many bytes it takes.
pub(super) fn time(text: &str) -> Option<(Time, usize)> {
    let (hours, first) = part(text)?;
    let (minutes, second) = part(text[first..].strip_prefix(':')?)?;
    let mut len = first + 1 + second;
    if second != 2 || hours > 23 || minutes > 59 {
        return None;
    }
    let mut time = Time { seconds: (hours * 60 + minutes) * 60, is_exact: false };
    if let Some((seconds, 2)) = text[len..].strip_prefix(':').and_then(part).filter(|(it, _)| *it < 60) {
        time = Time { seconds: time.seconds + seconds, is_exact: true };
        len += 3;
        len += fraction(&text[len..]);
    }
    let (half, more) = half(&text[len..]);
    match half {
        Some(true) if hours < 12 => time.seconds += 12 * 3600,
        Some(false) if hours == 12 => time.seconds -= 12 * 3600,
        _ => {}
    }
    Some((time, len + more))
}

/// One or two digits.
fn part(text: &str) -> Option<(u32, usize)> {
    let count = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&count).then(|| Some((text[..count].parse().ok()?, count)))?
}

/// The length of `.129` of a second.
fn fraction(text: &str) -> usize {
    let digits = text.strip_prefix('.').map_or(0, |it| it.bytes().take_while(u8::is_ascii_digit).count());
    if digits > 0 { digits + 1 } else { 0 }
}

/// Whether it is after noon, if that is said, and the length of the words.
fn half(text: &str) -> (Option<bool>, usize) {
    let gap = usize::from(text.starts_with(' '));
    let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    match text.get(gap..gap + 2) {
        Some(word) if word.eq_ignore_ascii_case("am") && ends(&text[gap + 2..]) => (Some(false), gap + 2),
        Some(word) if word.eq_ignore_ascii_case("pm") && ends(&text[gap + 2..]) => (Some(true), gap + 2),
        _ => (None, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_to_the_minute_or_to_the_second() {
        let at = |seconds, is_exact, len| Some((Time { seconds, is_exact }, len));
        assert_eq!(time("15:42 UTC"), at(56_520, false, 5));
        assert_eq!(time("15:42:07.129Z"), at(56_527, true, 12));
        assert_eq!(time("3:42 pm"), at(56_520, false, 7));
        assert_eq!(time("12:00 am"), at(0, false, 8));
        assert_eq!([time("25:00"), time("1:5"), time("15")], [None; 3]);
    }
}
