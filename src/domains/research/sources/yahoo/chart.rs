//! The chart: daily bars of a stock.
//!
//! Not here: intraday bars, dividends and splits. `close` is adjusted for splits by Yahoo, `adjusted_close` for
//! dividends as well.

use chrono::{DateTime, NaiveDate, TimeDelta};
use serde::Deserialize;

use super::envelope::Envelope;
use crate::{
    domains::research::sources::india,
    upstream::{
        http::{Answer, Failure},
        text::Line,
    },
};

/// The prices of a stock.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Currency of the prices.
    pub currency: Option<Line>,
    /// One bar a trading day, in order of time. Days without a price are left out.
    pub bars: Vec<Bar>,
}

/// A trading day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The exchange's day.
    pub date: NaiveDate,
    /// Last price.
    pub close: f64,
    /// Last price less later dividends.
    pub adjusted_close: Option<f64>,
    /// Number of shares traded.
    pub volume: Option<f64>,
}

/// For which days prices are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The last month.
    OneMonth,
    /// The last two years: enough for 200 days and for a relative strength that has forgotten where it began.
    TwoYears,
    /// From one day to another, both included.
    Between {
        /// First day.
        from: NaiveDate,
        /// Last day.
        to: NaiveDate,
    },
}

#[derive(Deserialize)]
struct Wire {
    chart: Envelope<Item>,
}

#[derive(Deserialize)]
struct Item {
    meta: Meta,
    timestamp: Option<Vec<i64>>,
    indicators: Indicators,
}

#[derive(Deserialize)]
struct Meta {
    currency: Option<Line>,
    /// In seconds.
    gmtoffset: Option<i64>,
}

/// Any list may be null in place of empty, and so may what holds it.
#[derive(Deserialize)]
struct Indicators {
    quote: Vec<Option<Quote>>,
    adjclose: Option<Vec<Option<Adjusted>>>,
}

#[derive(Default, Deserialize)]
struct Quote {
    close: Option<Vec<Option<f64>>>,
    volume: Option<Vec<Option<f64>>>,
}

#[derive(Default, Deserialize)]
struct Adjusted {
    adjclose: Option<Vec<Option<f64>>>,
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

/// The bars of an answer that lie within the given days.
pub(super) fn parse(answer: &Answer, (from, to): (NaiveDate, NaiveDate)) -> Result<Chart, Failure> {
    let Item { meta, timestamp, indicators } = answer.json::<Wire>()?.chart.only()?;
    let offset = meta.gmtoffset.unwrap_or(india::UTC_OFFSET_S.into());
    let mut bars = bars(&timestamp.unwrap_or_default(), offset, &indicators)?;
    bars.retain(|bar| from <= bar.date && bar.date <= to);
    Ok(Chart { currency: meta.currency, bars: one_a_day(bars) })
}

fn bars(timestamps: &[i64], offset: i64, indicators: &Indicators) -> Result<Vec<Bar>, Failure> {
    let Some(Some(quote)) = indicators.quote.first() else { return Ok(Vec::new()) };
    let (closes, volumes) = (listed(quote.close.as_ref()), listed(quote.volume.as_ref()));
    if closes.len() != timestamps.len() {
        return Err(Failure::malformed(format!("{} timestamps, {} prices", timestamps.len(), closes.len())));
    }
    let adjusted = indicators.adjclose.as_ref().and_then(|all| all.first()?.as_ref()?.adjclose.as_ref());
    let adjusted = listed(adjusted);
    let mut bars = Vec::with_capacity(timestamps.len());
    for (index, (timestamp, close)) in timestamps.iter().zip(closes).enumerate() {
        let date =
            day(*timestamp, offset).ok_or_else(|| Failure::malformed("a timestamp beyond all years"))?;
        let at = |values: &[Option<f64>]| values.get(index).copied().flatten();
        // A null is a day without trading; a price that is not positive is none.
        if let Some(close) = close.filter(|close| *close > 0.0) {
            bars.push(Bar { date, close, adjusted_close: at(adjusted), volume: at(volumes) });
        }
    }
    Ok(bars)
}

fn listed(values: Option<&Vec<Option<f64>>>) -> &[Option<f64>] {
    values.map_or(&[], Vec::as_slice)
}

fn day(timestamp: i64, offset: i64) -> Option<NaiveDate> {
    DateTime::from_timestamp(timestamp.checked_add(offset)?, 0).map(|instant| instant.date_naive())
}

/// In order of time; of two rows of a day the later one holds, which is the live one.
fn one_a_day(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by_key(|bar| bar.date);
    let mut days: Vec<Bar> = Vec::with_capacity(bars.len());
    for bar in bars {
        match days.last_mut().filter(|last| last.date == bar.date) {
            Some(last) => *last = bar,
            None => days.push(bar),
        }
    }
    days
}
