//! The chart: daily bars of a stock, whose parts are held against each other.
//!
//! Not here: intraday bars. `close` is adjusted for splits, by Yahoo or else here; `adjusted_close` for dividends as
//! well.

mod bar;
mod consistency;
mod splits;
mod wire;

use chrono::{NaiveDate, TimeDelta};

pub use self::bar::Bar;
use self::{
    consistency::Stated,
    wire::{Arrays, Item, Wire},
};
use crate::sources::india;
use toolwire_sources::upstream::{
    http::{Answer, Failure},
    json::keep_ok,
    text::Line,
};

/// No exchange is closed for longer.
const LONGEST_CLOSURE: TimeDelta = TimeDelta::days(10);

/// The prices of a stock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    pub currency: Option<Line>,
    /// One bar a trading day, in order of time. Days without a price are left out.
    pub bars: Vec<Bar>,
    /// What was repaired or left out, in words.
    pub warnings: Vec<String>,
    /// Contradictions among parts of the answer that cannot be resolved, in words. If there are any, nothing may be
    /// concluded from the bars.
    pub contradictions: Vec<String>,
}

/// The days of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The last month.
    OneMonth,
    /// The last two years: enough for 200 days and for a relative strength that has forgotten where it began.
    TwoYears,
    /// From one day to another, both included.
    Between {
        from: NaiveDate,
        /// Last day.
        to: NaiveDate,
    },
}

impl Span {
    pub(super) fn query(self) -> Vec<(&'static str, String)> {
        let mut query = match self {
            Self::OneMonth => vec![("range", "1mo".to_owned())],
            Self::TwoYears => vec![("range", "2y".to_owned())],
            Self::Between { from, to } => vec![
                ("period1", india::start_of(from).to_string()),
                ("period2", india::start_of(to + TimeDelta::days(1)).to_string()),
            ],
        };
        query.push(("interval", "1d".to_owned()));
        query.push(("events", "div,splits".to_owned()));
        query
    }

    /// The first and the last day of the span; what the source adds beyond them is not of it.
    pub(super) fn bounds(self, today: NaiveDate) -> (NaiveDate, NaiveDate) {
        match self {
            Self::OneMonth | Self::TwoYears => (NaiveDate::MIN, today),
            Self::Between { from, to } => (from, to),
        }
    }
}

/// The bars of an answer that lie within the given days and do not contradict each other.
pub(super) fn parse(answer: &Answer, (from, to): (NaiveDate, NaiveDate)) -> Result<Chart, Failure> {
    let mut item = answer.json::<Wire>()?.chart.only()?;
    let arrays = item.arrays();
    let mut warnings: Vec<_> = arrays.cut().into_iter().collect();
    let mut bars = one_a_day(bars(&arrays, &item)?);
    let market = item.market();
    warnings.extend(splits::apply(&mut bars, &item.splits(), market));
    // What is stated of now says nothing of days long past.
    let is_of_last_bar = bars.last().is_some_and(|last| match market.and_then(|market| market.date) {
        Some(date) => (date - last.date).abs() <= LONGEST_CLOSURE,
        None => from == NaiveDate::MIN,
    });
    let stated = Stated {
        dividends: item.dividends(),
        market: market.filter(|_| is_of_last_bar),
        year_range: item.year_range().filter(|_| is_of_last_bar),
    };
    let found = consistency::check(&mut bars, &stated);
    warnings.extend(found.warnings);
    bars.retain(|bar| from <= bar.date && bar.date <= to);
    Ok(Chart { currency: item.meta.currency, bars, warnings, contradictions: found.contradictions })
}

impl Arrays {
    /// What to say where there are a few more days than prices, or fewer: the last ones are left out.
    fn cut(&self) -> Option<String> {
        let (days, prices) = (self.timestamps.len(), self.closes.len());
        (days != prices).then(|| {
            format!(
                "Yahoo Finance sent {days} days and {prices} prices. Those without the other are left out."
            )
        })
    }
}

/// The bars in order of time.
fn bars(arrays: &Arrays, item: &Item) -> Result<Vec<Bar>, Failure> {
    let Arrays { timestamps, closes, adjusted, volumes } = arrays;
    let missing = timestamps.len().abs_diff(closes.len());
    // With more missing nothing says which price is of which day.
    if missing > (timestamps.len().max(closes.len()) / 50).max(1) {
        return Err(Failure::malformed(format!("{} timestamps, {} prices", timestamps.len(), closes.len())));
    }
    let at = |values: &[Option<f64>], place: usize| values.get(place).copied().flatten();
    let bar = |(place, (timestamp, close)): (usize, (&Option<f64>, &Option<f64>))| {
        // A null is a day without trading; a price that is not positive is none.
        let (timestamp, close) = ((*timestamp)?, close.filter(|close| *close > 0.0)?);
        let day = item.day(timestamp).ok_or_else(|| Failure::malformed("a timestamp beyond all years"));
        let (adjusted_close, volume) = (at(adjusted, place), at(volumes, place));
        Some(day.map(|date| (timestamp, Bar { date, close, adjusted_close, volume })))
    };
    let mut bars = keep_ok(timestamps.iter().zip(closes).enumerate().filter_map(bar))?;
    bars.sort_by(|one, other| one.0.total_cmp(&other.0));
    Ok(bars.into_iter().map(|(_, bar)| bar).collect())
}

/// Keeps one row a day: of two rows the later one, which is the live one.
fn one_a_day(bars: Vec<Bar>) -> Vec<Bar> {
    let mut days: Vec<Bar> = Vec::with_capacity(bars.len());
    for bar in bars {
        match days.last_mut().filter(|last| last.date == bar.date) {
            Some(last) => *last = bar,
            None => days.push(bar),
        }
    }
    days
}

#[cfg(test)]
mod tests;
