//! Splits that are listed: prices before one are in shares of another size, unless they were adjusted for it.
//!
//! Yahoo usually adjusts them and sometimes does not, which nothing says. So each split is looked for in the prices
//! around its day, and applied where it shows.

use chrono::NaiveDate;

use super::{bar::Bar, consistency::Market};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    /// The first day on which the new shares are traded.
    pub(super) date: NaiveDate,
    /// Number of shares that one became.
    pub(super) ratio: f64,
}

/// A split may show this many bars away from its day: the days of events are less exact than those of prices.
const WINDOW: usize = 3;
/// Minimum change of the price by which a split shows: a smaller one is lost in daily moves.
const MIN_CHANGE: f64 = 0.01;
/// From this change of the price on, as a logarithm, the price alone distinguishes a split from a bad day: 3 for 2.
const TELLING_CHANGE: f64 = 0.4;
/// Maximum change of the price on the day of a split beside the split itself, as a logarithm.
const MAX_MOVE: f64 = 0.3;

/// Applies the splits that the bars before them do not show the effect of. Returns what was done, in words.
pub(super) fn apply(bars: &mut [Bar], splits: &[Split], market: Option<Market>) -> Vec<String> {
    let mut applied = Vec::new();
    // The newest first: each looks only at the step from one bar to the next, which no other one changes.
    for split in splits.iter().rev() {
        let Some((place, is_adjusted_close_right)) = place(bars, split, market) else { continue };
        for bar in &mut bars[..place] {
            bar.close /= split.ratio;
            bar.volume = bar.volume.map(|volume| volume * split.ratio);
            if !is_adjusted_close_right {
                bar.adjusted_close = bar.adjusted_close.map(|close| close / split.ratio);
            }
        }
        applied.push(format!(
            "Yahoo Finance lists a split on {} ({} shares for 1) and did not apply it to the prices before; they are \
             adjusted here.",
            split.date, split.ratio
        ));
    }
    applied
}

/// The first bar in the new shares, if those before are in the old ones, and whether the adjusted closes are not.
fn place(bars: &[Bar], split: &Split, market: Option<Market>) -> Option<(usize, bool)> {
    let change = -split.ratio.ln();
    let at = bars.partition_point(|bar| bar.date < split.date);
    if change.abs() < MIN_CHANGE || at == 0 {
        return None;
    }
    // One that is still to come changes no price yet.
    let later = market.filter(|market| market.date.is_some_and(|date| date >= split.date));
    let mut places: Vec<_> = (at.saturating_sub(WINDOW).max(1)..=at + WINDOW).collect();
    places.sort_by_key(|place| place.abs_diff(at));
    places.into_iter().find_map(|place| {
        let before = bars[..place.min(bars.len())].last()?;
        let (price, factor) = match bars.get(place) {
            Some(bar) => (bar.close, adjustment(bar).zip(adjustment(before)).map(|(b, a)| (b / a).ln())),
            None if place == bars.len() => (later?.price, None),
            None => return None,
        };
        let step = (price / before.close).ln();
        let is_adjusted_close_right =
            factor.is_some_and(|factor| (factor + change).abs() <= change.abs() / 4.0);
        let is_shown = if is_adjusted_close_right {
            (step - change).abs() < step.abs()
        } else {
            change.abs() >= TELLING_CHANGE && (step - change).abs() <= (change.abs() / 2.0).min(MAX_MOVE)
        };
        is_shown.then_some((place, is_adjusted_close_right))
    })
}

/// The quotient of the adjusted close and the close.
fn adjustment(bar: &Bar) -> Option<f64> {
    bar.adjusted_close.map(|adjusted| adjusted / bar.close).filter(|factor| *factor > 0.0)
}
