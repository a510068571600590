//! The quarterly results that a company filed. They may be stand-alone, without its subsidiaries.

use std::ops::RangeInclusive;

use chrono::NaiveDate;
use serde::Deserialize;

use super::{amount::Amount, day};
use crate::sources::{india::LAKH, quarter::Quarter};
use toolwire_sources::upstream::{
    http::{Answer, Failure},
    json::{Items, keep_ok},
    text::Line,
};

/// The result of a quarter, in rupees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiledResult {
    pub quarter: Quarter,
    /// Its last day, as filed.
    pub date: NaiveDate,
    /// Net sales; of a bank the interest it earned.
    pub revenue: Option<f64>,
    pub net_profit: Option<f64>,
    /// Basic earnings per share.
    pub eps: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    /// Null for a company without results; absent from an invalid answer.
    #[serde(deserialize_with = "Option::deserialize")]
    res_cmp_data: Option<Items<Row>>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "re_from_dt")]
    from: Option<Line>,
    #[serde(rename = "re_to_dt")]
    to: Line,
    #[serde(default, rename = "re_net_sale")]
    net_sale: Amount,
    /// What a bank has in place of sales.
    #[serde(default, rename = "re_int_earned")]
    interest_earned: Amount,
    #[serde(default, rename = "re_net_profit")]
    net_profit: Amount,
    #[serde(default, rename = "re_basic_eps_for_cont_dic_opr")]
    eps: Amount,
}

/// The results of an answer, newest first, one a quarter.
pub(super) fn parse(answer: &Answer) -> Result<Vec<FiledResult>, Failure> {
    let rows = answer.json::<Wire>()?.res_cmp_data.unwrap_or_default();
    let mut results = keep_ok(rows.read.iter().map(Row::result).filter_map(Result::transpose))?;
    // Stable: of two filings of a quarter the exchange lists the later one first.
    results.sort_by_key(|result| std::cmp::Reverse(result.quarter));
    results.dedup_by_key(|result| result.quarter);
    Ok(results)
}

/// How many days a quarter has, whatever the company's year; half-years and years end on the same days.
const QUARTER: RangeInclusive<i64> = 80..=100;

impl Row {
    /// `None` for another period than a quarter.
    fn result(&self) -> Result<Option<FiledResult>, Failure> {
        let date = day::parse(&self.to)?;
        let from = self.from.as_deref().filter(|from| !matches!(from.trim(), "" | "-")).map(day::parse);
        let is_quarter =
            from.transpose()?.is_none_or(|from| QUARTER.contains(&((date - from).num_days() + 1)));
        let rupees = |amount: Option<f64>| amount.map(|lakh| lakh * LAKH);
        let sales = self.net_sale.0.filter(|sales| *sales != 0.0);
        Ok(is_quarter.then(|| FiledResult {
            quarter: Quarter::of(date),
            date,
            revenue: rupees(sales.or(self.interest_earned.0).or(self.net_sale.0)),
            net_profit: rupees(self.net_profit.0),
            eps: self.eps.0,
        }))
    }
}
