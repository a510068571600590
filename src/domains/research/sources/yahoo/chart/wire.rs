//! The parts of Yahoo's chart that are read. Any list may be null in place of empty, and so may its parent.

use chrono::{DateTime, NaiveDate};
use serde::Deserialize;

use super::{
    consistency::{Dividend, Market, YearRange},
    splits::Split,
};
use crate::sources::{
    india,
    yahoo::{envelope::Envelope, number::Number},
};
use toolwire_sources::upstream::{
    json::{Column, Items, values},
    text::Line,
};

#[derive(Deserialize)]
pub(super) struct Wire {
    pub(super) chart: Envelope<Item>,
}

#[derive(Deserialize)]
pub(super) struct Item {
    #[serde(default)]
    pub(super) meta: Meta,
    #[serde(default)]
    timestamp: Column<Number>,
    #[serde(default)]
    events: Events,
    indicators: Indicators,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta {
    pub(super) currency: Option<Line>,
    /// In seconds.
    #[serde(rename = "gmtoffset")]
    offset: Number,
    regular_market_price: Number,
    regular_market_time: Number,
    fifty_two_week_high: Number,
    fifty_two_week_low: Number,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Events {
    #[serde(deserialize_with = "values")]
    splits: Items<ListedSplit>,
    #[serde(deserialize_with = "values")]
    dividends: Items<ListedDividend>,
}

#[derive(Deserialize)]
struct ListedSplit {
    date: Number,
    #[serde(default)]
    numerator: Number,
    #[serde(default)]
    denominator: Number,
    /// `10:1`
    #[serde(rename = "splitRatio")]
    ratio: Option<Line>,
}

#[derive(Deserialize)]
struct ListedDividend {
    date: Number,
    amount: Number,
}

#[derive(Deserialize)]
struct Indicators {
    #[serde(default)]
    quote: Vec<Option<Quote>>,
    #[serde(default)]
    adjclose: Option<Vec<Option<Adjusted>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Quote {
    close: Column<Number>,
    volume: Column<Number>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Adjusted {
    adjclose: Column<Number>,
}

/// The parallel arrays of a chart.
pub(super) struct Arrays {
    pub(super) timestamps: Vec<Option<f64>>,
    pub(super) closes: Vec<Option<f64>>,
    pub(super) adjusted: Vec<Option<f64>>,
    pub(super) volumes: Vec<Option<f64>>,
}

impl Item {
    /// The day of an instant at the exchange.
    pub(super) fn day(&self, timestamp: f64) -> Option<NaiveDate> {
        let offset = self.meta.offset.0.unwrap_or(india::UTC_OFFSET_S.into());
        #[allow(
            clippy::cast_possible_truncation,
            reason = "whole seconds; what is out of range is not a time"
        )]
        DateTime::from_timestamp((timestamp + offset).floor() as i64, 0).map(|instant| instant.date_naive())
    }

    /// What was paid in dividends.
    pub(super) fn dividends(&self) -> Vec<Dividend> {
        let of = |listed: &ListedDividend| {
            Some(Dividend { date: self.day(listed.date.0?)?, amount: listed.amount.0? })
        };
        self.events.dividends.read.iter().filter_map(of).collect()
    }

    /// The splits, oldest first.
    pub(super) fn splits(&self) -> Vec<Split> {
        let of =
            |listed: &ListedSplit| Some(Split { date: self.day(listed.date.0?)?, ratio: listed.ratio()? });
        let mut splits: Vec<_> = self.events.splits.read.iter().filter_map(of).collect();
        splits.sort_by_key(|split| split.date);
        splits
    }

    /// The market price, if it is stated.
    pub(super) fn market(&self) -> Option<Market> {
        let Meta { regular_market_price: price, regular_market_time: time, .. } = &self.meta;
        let date = time.0.and_then(|time| self.day(time));
        price.0.filter(|price| *price > 0.0).map(|price| Market { date, price })
    }

    /// The lowest and the highest price of a year, if both are stated.
    pub(super) fn year_range(&self) -> Option<YearRange> {
        let Meta { fifty_two_week_high: high, fifty_two_week_low: low, .. } = &self.meta;
        let (low, high) = (low.0?, high.0?);
        (0.0 < low && low <= high).then_some(YearRange { low, high })
    }

    pub(super) fn arrays(&mut self) -> Arrays {
        let quote = self.indicators.quote.drain(..).next().flatten().unwrap_or_default();
        let adjusted = self.indicators.adjclose.take().and_then(|all| all.into_iter().next().flatten());
        let numbers = |column: Column<Number>| column.0.into_iter().map(|number| number?.0).collect();
        Arrays {
            timestamps: numbers(std::mem::take(&mut self.timestamp)),
            closes: numbers(quote.close),
            adjusted: numbers(adjusted.unwrap_or_default().adjclose),
            volumes: numbers(quote.volume),
        }
    }
}

impl ListedSplit {
    /// Number of shares that one became.
    fn ratio(&self) -> Option<f64> {
        let of_text = || {
            let (numerator, denominator) = self.ratio.as_ref()?.split_once([':', '/'])?;
            Some((numerator.trim().parse().ok()?, denominator.trim().parse().ok()?))
        };
        let (numerator, denominator): (f64, f64) =
            self.numerator.0.zip(self.denominator.0).or_else(of_text)?;
        let ratio = numerator / denominator;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }
}
