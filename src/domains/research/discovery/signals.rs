//! What speaks for and against a candidate: its figures and the mood of its thread, each held against two bounds.
//!
//! docs/JOBS.md has the table. Not here: what a profile's rules say, which decide what may be done at all.

use crate::proto::v1::Suggestion;

/// One figure that speaks for or against a candidate, in words.
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

/// The signals of a candidate. A figure between its bounds, or one that is not known, is none.
pub(super) fn signals(figures: &Suggestion, moods: Option<Moods>) -> Vec<Signal> {
    let all = [
        places(&figures.found_in),
        moods.and_then(thread),
        figures.rsi_14.and_then(rsi),
        figures.price_vs_sma200_pct.and_then(average),
        figures.pe.and_then(earnings),
        figures.roe_pct.and_then(equity),
    ];
    all.into_iter().flatten().collect()
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
        ..=50.0 => Some(Signal::For(format!("RSI {rsi:.0}: not overbought"))),
        70.0.. => Some(Signal::Against(format!("RSI {rsi:.0}: overbought"))),
        _ => None,
    }
}

fn average(distance: f64) -> Option<Signal> {
    let text = |what: &str| format!("{distance:+.1}% against its average of 200 days: {what}");
    match distance {
        ..0.0 => Some(Signal::Against(text("it falls"))),
        0.0..=20.0 => Some(Signal::For(text("it rises"))),
        40.0.. => Some(Signal::Against(text("it has run far"))),
        _ => None,
    }
}

fn earnings(pe: f64) -> Option<Signal> {
    match pe {
        ..=0.0 => Some(Signal::Against(format!("P/E {pe:.1}: it makes losses"))),
        0.0..=25.0 => Some(Signal::For(format!("P/E {pe:.1}"))),
        50.0.. => Some(Signal::Against(format!("P/E {pe:.1}: dear"))),
        _ => None,
    }
}

fn equity(roe: f64) -> Option<Signal> {
    match roe {
        ..8.0 => Some(Signal::Against(format!("ROE {roe:.1}%: low"))),
        15.0.. => Some(Signal::For(format!("ROE {roe:.1}%"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
