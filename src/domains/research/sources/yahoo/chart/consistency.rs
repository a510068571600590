//! Whether the parts of a chart agree: its prices from day to day, the adjusted ones, dividends, the market price, and
//! the range of a year.
//!
//! Where one day divides prices that agree from others that do not, the older ones are left out: what needs them then
//! says that the history is too short. Where nothing tells which part is wrong, the prices are kept and the
//! contradiction is stated; nothing may be concluded from them.

use chrono::{NaiveDate, TimeDelta};

use super::bar::Bar;

/// A dividend per share, and the first day on which shares are traded without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dividend {
    pub(super) date: NaiveDate,
    pub(super) amount: f64,
}

/// The market price that is stated beside the bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Market {
    /// Its day, if that is stated.
    pub(super) date: Option<NaiveDate>,
    pub(super) price: f64,
}

/// The range of the prices of a year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct YearRange {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Statements of an answer beside the bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stated {
    pub(super) dividends: Vec<Dividend>,
    /// Only where it is about the days of the last bars.
    pub(super) market: Option<Market>,
    pub(super) year_range: Option<YearRange>,
}

/// What the comparison found, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Findings {
    pub(super) warnings: Vec<String>,
    pub(super) contradictions: Vec<String>,
}

/// No price changes by this factor from one day of trading to the next: exchanges stop trading long before.
const MAX_STEP: f64 = 2.5;
/// As far as prices of one day may differ: live ones come late.
const MAX_LATE: f64 = 1.25;
/// From here on that is worth a word.
const NOTED: f64 = 1.05;
/// As far, as a logarithm, adjusted closes may go another way than closes for no stated reason.
const MAX_DRIFT: f64 = 0.2;
/// The days of the range of a year, less what its first one may be off.
const YEAR: TimeDelta = TimeDelta::days(360);

/// Compares bars, which are in order of time, with each other and with what is stated beside them.
pub(super) fn check(bars: &mut Vec<Bar>, stated: &Stated) -> Findings {
    let mut findings = Findings::default();
    let Some(last) = bars.last().copied() else { return findings };
    if let Some(market) = stated.market {
        check_market(last, market, &mut findings);
    }
    let first = first_after_break(bars, &stated.dividends, &mut findings).max(first_within(
        bars,
        stated.year_range,
        &mut findings,
    ));
    bars.drain(..first);
    findings
}

fn check_market(last: Bar, market: Market, findings: &mut Findings) {
    let factor = factor(last.close, market.price);
    let is_later = market.date.is_some_and(|date| date > last.date);
    let words = || {
        format!("Yahoo Finance states a market price of {} and a last price of {}", market.price, last.close)
    };
    if factor > if is_later { MAX_STEP } else { MAX_LATE } {
        findings.contradictions.push(words());
    } else if factor > NOTED && !is_later {
        findings.warnings.push(format!("{}.", words()));
    }
}

/// The first bar from which on each follows from the one before.
fn first_after_break(bars: &[Bar], dividends: &[Dividend], findings: &mut Findings) -> usize {
    let is_break = |place: &usize| {
        let (before, after) = (&bars[place - 1], &bars[*place]);
        let paid = dividends.iter().filter(|it| before.date < it.date && it.date <= after.date);
        let paid: f64 = paid.map(|dividend| dividend.amount).sum();
        let expected = if (0.0..before.close).contains(&paid) { before.close - paid } else { before.close };
        let adjusted = before.adjusted_close.zip(after.adjusted_close).map(|(a, b)| (b / a).ln());
        let step = (after.close / expected).ln();
        let is_adjusted_otherwise = adjusted.is_some_and(|adjusted| {
            step.abs() > MAX_DRIFT && (step - adjusted).abs() > MAX_DRIFT && adjusted.abs() < step.abs() / 2.0
        });
        factor(after.close, expected) > MAX_STEP || is_adjusted_otherwise
    };
    let Some(place) = (1..bars.len()).rev().find(is_break) else { return 0 };
    let (before, after) = (bars[place - 1], bars[place]);
    findings.warnings.push(format!(
        "The price goes from {} on {} to {} on {}, which no split or dividend that Yahoo Finance lists explains. Prices \
         before {} are left out.",
        before.close, before.date, after.close, after.date, after.date
    ));
    place
}

/// The first bar from which on all are in the range that is stated of the year.
fn first_within(bars: &[Bar], range: Option<YearRange>, findings: &mut Findings) -> usize {
    let (Some(YearRange { low, high }), Some(last)) = (range, bars.last()) else { return 0 };
    let is_outside = |bar: &Bar| {
        last.date.signed_duration_since(bar.date) < YEAR
            && (bar.close > high * MAX_LATE || bar.close < low / MAX_LATE)
    };
    let Some(place) = bars.iter().rposition(is_outside) else { return 0 };
    let Bar { close, date, .. } = bars[place];
    let words = format!(
        "Yahoo Finance states a price of {close} on {date} and a range of {low} to {high} of the last 52 weeks"
    );
    if place + 1 == bars.len() {
        findings.contradictions.push(words);
        return 0;
    }
    findings.warnings.push(format!("{words}. Prices up to {date} are left out."));
    place + 1
}

/// By which factor two prices differ, at least 1.
fn factor(one: f64, other: f64) -> f64 {
    (one / other).max(other / one)
}
