//! Figures in texts: as few decimals as still tell the truth about a limit.

/// Maximum number of decimals that are tried; beyond it, a figure is printed whole.
const MAX_DECIMALS: usize = 6;

/// Prints a value that is above or below a limit so that the printed value is on the same side: 72, but 40.3 where an
/// integer would print `40 > 40`.
pub(super) fn beyond(value: f64, limit: f64) -> String {
    shortest(0, value, limit)
}

/// Prints such a value, with one decimal for a small non-integer figure: 0.3 rather than `0 < 1`.
pub(super) fn beyond_in_short(value: f64, limit: f64) -> String {
    let is_small = value.abs() < 10.0 && value.fract() != 0.0;
    shortest(usize::from(is_small), value, limit)
}

fn shortest(least_decimals: usize, value: f64, limit: f64) -> String {
    let side = |number: f64| number.partial_cmp(&limit);
    let is_beyond = |text: &String| text.parse().is_ok_and(|printed| side(printed) == side(value));
    let with = |decimals: usize| format!("{value:.decimals$}");
    (least_decimals..=MAX_DECIMALS).map(with).find(is_beyond).unwrap_or_else(|| value.to_string())
}

/// A figure to two decimals, which is as exact as any is quoted.
pub(super) fn round(value: f64) -> f64 {
    // Never `-0`.
    (value * 100.0).round() / 100.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_as_short_as_the_limit_allows() {
        let cases = [
            (72.4, 40.0, "72"),
            (40.6, 40.0, "41"),
            (40.3, 40.0, "40.3"),
            (40.02, 40.0, "40.02"),
            (38.2, 37.9, "38"),
            (40.4, 40.2, "40.4"),
            (39.7, 40.0, "39.7"),
            (39.2, 40.0, "39"),
            (-0.3, 0.0, "-0.3"),
            (40.000_000_01, 40.0, "40.00000001"),
            (0.0, 0.0, "0"),
        ];
        for (value, limit, text) in cases {
            assert_eq!(beyond(value, limit), text, "{value} against {limit}");
        }
    }

    #[test]
    fn a_figure_has_two_decimals() {
        for (value, shown) in
            [(100.0 * 0.0847, "8.47"), (-16.533_811, "-16.53"), (-0.004, "0"), (1160.0, "1160")]
        {
            assert_eq!(round(value).to_string(), shown);
        }
    }
}
