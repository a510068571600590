//! The quarterly results that a company filed. They may be stand-alone, without its subsidiaries.

use chrono::NaiveDate;
use serde::Deserialize;

use super::{amount::Amount, day};
use crate::{
    domains::research::sources::{india::LAKH, quarter::Quarter},
    upstream::http::{Answer, Failure},
};

/// The result of a quarter, in rupees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiledResult {
    /// The quarter.
    pub quarter: Quarter,
    /// Its last day, as filed.
    pub date: NaiveDate,
    /// Net sales.
    pub revenue: Option<f64>,
    /// Net profit.
    pub net_profit: Option<f64>,
    /// Basic earnings per share.
    pub eps: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    #[serde(default)]
    res_cmp_data: Option<Vec<Row>>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "re_to_dt")]
    to: String,
    #[serde(default, rename = "re_net_sale")]
    net_sale: Amount,
    #[serde(default, rename = "re_net_profit")]
    net_profit: Amount,
    #[serde(default, rename = "re_basic_eps_for_cont_dic_opr")]
    eps: Amount,
}

/// The results of an answer, newest first, one a quarter.
pub(super) fn parse(answer: &Answer) -> Result<Vec<FiledResult>, Failure> {
    let rows = answer.json::<Wire>()?.res_cmp_data.unwrap_or_default();
    let mut results = rows.iter().map(Row::result).collect::<Result<Vec<_>, _>>()?;
    // Stable: of two filings of a quarter the exchange lists the later one first.
    results.sort_by_key(|result| std::cmp::Reverse(result.quarter));
    results.dedup_by_key(|result| result.quarter);
    Ok(results)
}

impl Row {
    fn result(&self) -> Result<FiledResult, Failure> {
        let date = day::parse(&self.to)?;
        let rupees = |amount: Amount| amount.0.map(|lakh| lakh * LAKH);
        Ok(FiledResult {
            quarter: Quarter::of(date),
            date,
            revenue: rupees(self.net_sale),
            net_profit: rupees(self.net_profit),
            eps: self.eps.0,
        })
    }
}
