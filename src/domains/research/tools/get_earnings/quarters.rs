//! Results by quarter, as each source states them. Growth is computed within one source only.

use std::collections::BTreeMap;

use crate::{
    domains::research::proto::v1::QuarterlyResult,
    domains::research::{
        sources::{
            nse::FiledResult,
            quarter::Quarter,
            yahoo::{ResultOfQuarter, Summary, Timeseries},
        },
        tools::figure::tidy,
    },
};

/// Results, by quarter.
pub(super) type Quarters = BTreeMap<Quarter, QuarterlyResult>;

/// The results of Yahoo's two documents. The series reaches further back, the summary knows earnings per share.
pub(super) fn of_yahoo(summary: &Summary, series: &Timeseries) -> Quarters {
    let mut quarters = Quarters::new();
    for ResultOfQuarter { quarter, revenue, net_profit } in summary.results.iter().chain(&series.results) {
        let result = entry(&mut quarters, *quarter);
        result.revenue = revenue.or(result.revenue);
        result.net_profit = net_profit.or(result.net_profit);
    }
    for eps in &summary.eps {
        let result = entry(&mut quarters, eps.quarter);
        (result.eps_actual, result.eps_estimate) = (eps.actual, eps.estimate);
        result.surprise_pct =
            eps.actual.zip(eps.estimate).and_then(|(actual, estimate)| over(actual, estimate));
    }
    with_growth(quarters)
}

/// The results on file at the exchange.
pub(super) fn of_nse(filed: &[FiledResult]) -> Quarters {
    let mut quarters = Quarters::new();
    for filed in filed {
        let result = entry(&mut quarters, filed.quarter);
        result.date = Some(filed.date.to_string());
        result.revenue = filed.revenue;
        result.net_profit = filed.net_profit;
        result.eps_actual = filed.eps;
    }
    with_growth(quarters)
}

fn entry(quarters: &mut Quarters, quarter: Quarter) -> &mut QuarterlyResult {
    quarters.entry(quarter).or_insert_with(|| QuarterlyResult {
        period: quarter.to_string(),
        date: Some(quarter.last_day().to_string()),
        ..QuarterlyResult::default()
    })
}

fn with_growth(mut quarters: Quarters) -> Quarters {
    let revenues: BTreeMap<_, _> =
        quarters.iter().filter_map(|(quarter, result)| Some((*quarter, result.revenue?))).collect();
    for (quarter, result) in &mut quarters {
        let before = revenues.get(&quarter.a_year_before());
        result.yoy_revenue_pct = result.revenue.zip(before).and_then(|(now, before)| over(now, *before));
    }
    quarters
}

/// How far a number is over another, in percent of the other's size.
fn over(number: f64, base: f64) -> Option<f64> {
    (base != 0.0).then(|| tidy(100.0 * (number - base) / base.abs()))
}
