//! The signals for and against a candidate: its figures and the mood of its thread, each compared with two bounds.
//!
//! docs/JOBS.md has the table, which a test compares with these bounds. Not here: what a profile's
//! rules say, which decide what may be done at all.

use crate::proto::v1::Suggestion;

/// The bounds of figures that are better when low: the most that is a signal for, and the least that is one against.
const RSI: (f64, f64) = (50.0, 70.0);
const ABOVE_AVERAGE: (f64, f64) = (20.0, 40.0);
const EARNINGS: (f64, f64) = (25.0, 50.0);
/// The bounds of a figure that is better when high: from the first on it is a signal for, below the second against.
const EQUITY: (f64, f64) = (15.0, 8.0);

/// A signal for or against a candidate, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    For(String),
    Against(String),
}

/// The moods of the newest posts of a candidate's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moods {
    pub(super) positive: u32,
    pub(super) negative: u32,
}

impl Moods {
    /// Whether more posts are negative than positive.
    pub(super) fn are_against(self) -> bool {
        self.negative > self.positive
    }
}

/// The signals of a candidate. A figure that is unknown or between its bounds is none, and a figure that breaks a rule
/// of the user is never a signal for it.
pub(super) fn signals(figures: &Suggestion, moods: Option<Moods>) -> Vec<Signal> {
    let of_figure = |name: &str, signal: Option<Signal>| {
        signal.filter(|signal| matches!(signal, Signal::Against(_)) || !is_broken(figures, name))
    };
    let all = [
        places(&figures.found_in),
        moods.and_then(thread),
        of_figure("RSI", figures.rsi_14.and_then(rsi)),
        of_figure("SMA200", figures.price_vs_sma200_pct.and_then(average)),
        of_figure("P/E", figures.pe.and_then(earnings)),
        of_figure("ROE", figures.roe_pct.and_then(equity)),
    ];
    all.into_iter().flatten().collect()
}

/// Whether a rule of the user's speaks against this figure.
fn is_broken(figures: &Suggestion, name: &str) -> bool {
    let waits = figures.wait_zone.iter().flat_map(|it| &it.reasons);
    let broken = figures.forbidden.iter().flat_map(|it| &it.violations);
    waits.chain(broken).any(|reason| reason.contains(name))
}

fn places(found_in: &[String]) -> Option<Signal> {
    (found_in.len() > 1)
        .then(|| Signal::For(format!("Named in {} sources: {}", found_in.len(), found_in.join(", "))))
}

fn thread(Moods { positive, negative }: Moods) -> Option<Signal> {
    let text = format!("{positive} positive and {negative} negative of the last posts of its thread");
    match positive.cmp(&negative) {
        std::cmp::Ordering::Greater => Some(Signal::For(text)),
        std::cmp::Ordering::Less => Some(Signal::Against(text)),
        std::cmp::Ordering::Equal => None,
    }
}

fn rsi(rsi: f64) -> Option<Signal> {
    match rsi {
        _ if rsi <= RSI.0 => Some(Signal::For(format!("RSI {rsi:.0}: not overbought"))),
        _ if rsi >= RSI.1 => Some(Signal::Against(format!("RSI {rsi:.0}: overbought"))),
        _ => None,
    }
}

fn average(distance: f64) -> Option<Signal> {
    let text = |what: &str| format!("{distance:+.1}% against its average of 200 days: {what}");
    match distance {
        ..0.0 => Some(Signal::Against(text("it falls"))),
        _ if distance <= ABOVE_AVERAGE.0 => Some(Signal::For(text("it rises"))),
        _ if distance >= ABOVE_AVERAGE.1 => Some(Signal::Against(text("it has run far"))),
        _ => None,
    }
}

fn earnings(pe: f64) -> Option<Signal> {
    match pe {
        ..=0.0 => Some(Signal::Against(format!("P/E {pe:.1}: it makes losses"))),
        _ if pe <= EARNINGS.0 => Some(Signal::For(format!("P/E {pe:.1}"))),
        _ if pe >= EARNINGS.1 => Some(Signal::Against(format!("P/E {pe:.1}: dear"))),
        _ => None,
    }
}

fn equity(roe: f64) -> Option<Signal> {
    match roe {
        _ if roe < EQUITY.1 => Some(Signal::Against(format!("ROE {roe:.1}%: low"))),
        _ if roe >= EQUITY.0 => Some(Signal::For(format!("ROE {roe:.1}%"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::{Forbidden, WaitZone};

    fn figures(rsi: f64, average: f64, pe: f64, roe: f64) -> Suggestion {
        Suggestion {
            found_in: vec!["news".to_owned()],
            rsi_14: Some(rsi),
            price_vs_sma200_pct: Some(average),
            pe: Some(pe),
            roe_pct: Some(roe),
            ..Suggestion::default()
        }
    }

    #[test]
    fn a_figure_speaks_for_or_against_by_its_bounds_and_between_them_not_at_all() {
        let texts = |figures: &Suggestion, moods| {
            let text = |signal| match signal {
                Signal::For(text) => format!("+ {text}"),
                Signal::Against(text) => format!("- {text}"),
            };
            signals(figures, moods).into_iter().map(text).collect::<Vec<_>>()
        };
        let moods = |positive, negative| Some(Moods { positive, negative });
        assert_eq!(
            texts(&figures(81.0, 55.0, 60.0, 7.0), moods(0, 3)),
            [
                "- 0 positive and 3 negative of the last posts of its thread",
                "- RSI 81: overbought",
                "- +55.0% against its average of 200 days: it has run far",
                "- P/E 60.0: dear",
                "- ROE 7.0%: low",
            ]
        );
        assert_eq!(
            texts(&figures(45.0, 5.0, 20.0, 18.0), moods(2, 1)),
            [
                "+ 2 positive and 1 negative of the last posts of its thread",
                "+ RSI 45: not overbought",
                "+ +5.0% against its average of 200 days: it rises",
                "+ P/E 20.0",
                "+ ROE 18.0%",
            ]
        );
        assert_eq!(texts(&figures(60.0, 30.0, 30.0, 10.0), moods(1, 1)), [""; 0]);
        assert_eq!(texts(&figures(60.0, -3.0, -2.0, 10.0), None).len(), 2);
        let named =
            Suggestion { found_in: vec!["news".to_owned(), "reddit".to_owned()], ..Suggestion::default() };
        assert_eq!(texts(&named, None), ["+ Named in 2 sources: news, reddit"]);
    }

    #[test]
    fn no_figure_stands_on_both_sides() {
        let waits = |reason: &str| Some(WaitZone { is_wait_zone: true, reasons: vec![reason.to_owned()] });
        let cheap = figures(48.0, 5.0, 20.0, 18.0);
        assert_eq!(signals(&cheap, None).len(), 4);
        for reason in ["RSI 48 > 40 (not value)", "+5% above SMA200 (very extended)"] {
            let found = signals(&Suggestion { wait_zone: waits(reason), ..cheap.clone() }, None);
            assert_eq!(found.len(), 3, "{reason}: {found:?}");
        }
        let violations = vec!["P/E 20 > 15".to_owned()];
        let forbidden = Some(Forbidden { is_forbidden: true, violations, unknown: Vec::new() });
        assert_eq!(signals(&Suggestion { forbidden, ..cheap }, None).len(), 3);
    }

    #[test]
    fn the_page_has_the_bounds() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/JOBS.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let (rsi, above, pe, roe) = (RSI, ABOVE_AVERAGE, EARNINGS, EQUITY);
        for row in [
            "| where it is named | two sources or more | |".to_owned(),
            "| last posts of its thread, by word list | more positive than negative | more negative than positive |".to_owned(),
            format!("| RSI over 14 days | at most {} | at least {} |", rsi.0, rsi.1),
            format!(
                "| distance from its average of 200 days | 0 to +{} % | below 0, or at least +{} % |",
                above.0, above.1
            ),
            format!("| P/E | up to {} | a loss, or at least {} |", pe.0, pe.1),
            format!("| ROE | at least {} % | below {} % |", roe.0, roe.1),
        ] {
            assert!(page.contains(&row), "docs/JOBS.md has no row: {row}");
        }
    }
}
