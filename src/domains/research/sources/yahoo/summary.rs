//! The summary of a quote: what a company is worth, earns and owes.
//!
//! Not here: what is computed of these numbers. What Yahoo leaves out is `None`.

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use super::{envelope::Envelope, number::Number};
use crate::sources::quarter::Quarter;
use toolwire_sources::upstream::{
    http::{Answer, Failure},
    json::{Items, from_text},
    text::Line,
};

/// The fundamentals of a company.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub currency: Option<Line>,
    pub financial_currency: Option<Line>,
    pub sector: Option<Line>,
    /// Last price.
    pub price: Option<f64>,
    /// Market capitalisation in units of the currency.
    pub market_cap: Option<f64>,
    pub shares: Option<f64>,
    /// Price to the earnings of the last twelve months.
    pub trailing_pe: Option<f64>,
    /// Price to the expected earnings.
    pub forward_pe: Option<f64>,
    pub price_to_book: Option<f64>,
    pub return_on_equity: Option<f64>,
    /// Debt over equity in percent.
    pub debt_to_equity_pct: Option<f64>,
    pub dividend_yield: Option<f64>,
    /// Earnings per share of the last twelve months.
    pub trailing_eps: Option<f64>,
    /// Book value per share.
    pub book_value: Option<f64>,
    /// Highest price of the last 52 weeks.
    pub fifty_two_week_high: Option<f64>,
    /// Lowest price of the last 52 weeks.
    pub fifty_two_week_low: Option<f64>,
    /// Earnings per share by quarter.
    pub eps: Vec<EpsOfQuarter>,
    pub results: Vec<ResultOfQuarter>,
    /// What is left out because it contradicts something else of the answer, in words.
    pub contradictions: Vec<String>,
}

/// Earnings per share of a quarter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpsOfQuarter {
    pub quarter: Quarter,
    pub actual: Option<f64>,
    pub estimate: Option<f64>,
}

/// Revenue and profit of a quarter, in units of the currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultOfQuarter {
    pub quarter: Quarter,
    /// Its last day, where the source states it: that of a company need not be the calendar's.
    pub date: Option<NaiveDate>,
    pub revenue: Option<f64>,
    pub net_profit: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    quote_summary: Envelope<Modules>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Modules {
    #[serde(deserialize_with = "or_default")]
    financial_data: FinancialData,
    #[serde(deserialize_with = "or_default")]
    default_key_statistics: KeyStatistics,
    #[serde(deserialize_with = "or_default")]
    summary_detail: Detail,
    #[serde(deserialize_with = "or_default")]
    asset_profile: AssetProfile,
    #[serde(deserialize_with = "or_default")]
    earnings: Earnings,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FinancialData {
    current_price: Number,
    return_on_equity: Number,
    debt_to_equity: Number,
    financial_currency: Option<Line>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KeyStatistics {
    trailing_eps: Number,
    book_value: Number,
    price_to_book: Number,
    #[serde(rename = "forwardPE")]
    forward_pe: Number,
    shares_outstanding: Number,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Detail {
    currency: Option<Line>,
    market_cap: Number,
    #[serde(rename = "trailingPE")]
    trailing_pe: Number,
    #[serde(rename = "forwardPE")]
    forward_pe: Number,
    dividend_yield: Number,
    previous_close: Number,
    fifty_two_week_high: Number,
    fifty_two_week_low: Number,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AssetProfile {
    sector: Option<Line>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Earnings {
    #[serde(rename = "earningsChart", deserialize_with = "or_default")]
    eps: Quarterly<EpsPoint>,
    #[serde(rename = "financialsChart", deserialize_with = "or_default")]
    results: Quarterly<ResultPoint>,
    #[serde(rename = "financialCurrency")]
    currency: Option<Line>,
}

#[derive(Deserialize)]
#[serde(default, bound = "T: DeserializeOwned")]
struct Quarterly<T> {
    quarterly: Items<T>,
}

impl<T> Default for Quarterly<T> {
    fn default() -> Self {
        Self { quarterly: Items::default() }
    }
}

#[derive(Deserialize)]
struct EpsPoint {
    #[serde(deserialize_with = "from_text")]
    date: Quarter,
    #[serde(default)]
    actual: Number,
    #[serde(default)]
    estimate: Number,
}

#[derive(Deserialize)]
struct ResultPoint {
    #[serde(deserialize_with = "from_text")]
    date: Quarter,
    #[serde(default)]
    revenue: Number,
    #[serde(default)]
    earnings: Number,
}

/// A module that is null counts as missing.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

pub(super) fn parse(answer: &Answer) -> Result<Summary, Failure> {
    let modules = answer.json::<Wire>()?.quote_summary.only()?;
    let (eps, results) = (eps(&modules.earnings), results(&modules.earnings));
    Ok(Summary { eps, results, ..numbers(modules) })
}

fn numbers(modules: Modules) -> Summary {
    let Modules { financial_data, default_key_statistics: statistics, summary_detail: detail, .. } = modules;
    Summary {
        currency: detail.currency,
        financial_currency: modules.earnings.currency.or(financial_data.financial_currency),
        sector: modules.asset_profile.sector,
        price: financial_data.current_price.0.or(detail.previous_close.0),
        market_cap: detail.market_cap.0,
        shares: statistics.shares_outstanding.0,
        trailing_pe: detail.trailing_pe.0,
        forward_pe: detail.forward_pe.0.or(statistics.forward_pe.0),
        price_to_book: statistics.price_to_book.0,
        return_on_equity: financial_data.return_on_equity.0,
        debt_to_equity_pct: financial_data.debt_to_equity.0,
        dividend_yield: detail.dividend_yield.0,
        trailing_eps: statistics.trailing_eps.0,
        book_value: statistics.book_value.0,
        fifty_two_week_high: detail.fifty_two_week_high.0,
        fifty_two_week_low: detail.fifty_two_week_low.0,
        ..Summary::default()
    }
}

fn eps(earnings: &Earnings) -> Vec<EpsOfQuarter> {
    let of = |point: &EpsPoint| {
        let (actual, estimate) = (point.actual.0, point.estimate.0);
        EpsOfQuarter { quarter: point.date, actual, estimate }
    };
    earnings.eps.quarterly.read.iter().map(of).collect()
}

fn results(earnings: &Earnings) -> Vec<ResultOfQuarter> {
    let of = |point: &ResultPoint| {
        let (revenue, net_profit) = (point.revenue.nonzero(), point.earnings.nonzero());
        ResultOfQuarter { quarter: point.date, date: None, revenue, net_profit }
    };
    earnings.results.quarterly.read.iter().map(of).collect()
}
