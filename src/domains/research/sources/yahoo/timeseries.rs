//! The time series of results: revenue and net income by quarter, further back than the summary and without a crumb.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Deserialize;

use super::{ResultOfQuarter, envelope::Envelope, number::Number};
use crate::sources::quarter::Quarter;
use toolwire_sources::upstream::{
    http::{Answer, Failure},
    json::{Items, from_text},
    text::Line,
};

/// The types of amounts that are requested.
pub(super) const TYPES: &str = "quarterlyTotalRevenue,quarterlyNetIncome";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeseries {
    pub currency: Option<Line>,
    /// The quarters, oldest first.
    pub results: Vec<ResultOfQuarter>,
}

#[derive(Deserialize)]
struct Wire {
    timeseries: Envelope<Series>,
}

/// One type of amount; a series that has none of its type has no such member.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Series {
    #[serde(default)]
    quarterly_total_revenue: Items<Point>,
    #[serde(default)]
    quarterly_net_income: Items<Point>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Point {
    #[serde(deserialize_with = "from_text")]
    as_of_date: NaiveDate,
    currency_code: Option<Line>,
    #[serde(default)]
    reported_value: Number,
}

pub(super) fn parse(answer: &Answer) -> Result<Timeseries, Failure> {
    let mut currency = None;
    let mut quarters = BTreeMap::new();
    for series in answer.json::<Wire>()?.timeseries.open()? {
        for point in series.quarterly_total_revenue {
            entry(&mut quarters, point.as_of_date).revenue = point.reported_value.nonzero();
            currency = currency.or(point.currency_code);
        }
        for point in series.quarterly_net_income {
            entry(&mut quarters, point.as_of_date).net_profit = point.reported_value.nonzero();
            currency = currency.or(point.currency_code);
        }
    }
    Ok(Timeseries { currency, results: quarters.into_values().collect() })
}

fn entry(quarters: &mut BTreeMap<Quarter, ResultOfQuarter>, date: NaiveDate) -> &mut ResultOfQuarter {
    let quarter = Quarter::of(date);
    let unknown = ResultOfQuarter { quarter, date: Some(date), revenue: None, net_profit: None };
    quarters.entry(quarter).or_insert(unknown)
}
