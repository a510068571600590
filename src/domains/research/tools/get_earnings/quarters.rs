//! Results by quarter, as each source states them. Growth is computed within one source only.

use std::collections::BTreeMap;

use crate::{
    proto::v1::QuarterlyResult,
    sources::{
        india::CRORE,
        nse::FiledResult,
        quarter::Quarter,
        yahoo::{ResultOfQuarter, Summary, Timeseries},
    },
    tools::figure::round,
};

pub(super) type Quarters = BTreeMap<Quarter, QuarterlyResult>;

/// The results of Yahoo's two documents. The series reaches further back, the summary knows earnings per share.
pub(super) fn of_yahoo(summary: &Summary, series: &Timeseries) -> Quarters {
    let mut quarters = Quarters::new();
    for ResultOfQuarter { quarter, date, revenue, net_profit } in
        summary.results.iter().chain(&series.results)
    {
        let result = entry(&mut quarters, *quarter);
        result.date = date.map(|date| date.to_string()).or(result.date.take());
        result.revenue_cr = revenue.map(in_crore).or(result.revenue_cr);
        result.net_profit_cr = net_profit.map(in_crore).or(result.net_profit_cr);
    }
    for eps in &summary.eps {
        let result = entry(&mut quarters, eps.quarter);
        (result.eps_actual, result.eps_estimate) = (eps.actual.map(round), eps.estimate.map(round));
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
        result.revenue_cr = filed.revenue.map(in_crore);
        result.net_profit_cr = filed.net_profit.map(in_crore);
        result.eps_actual = filed.eps.map(round);
    }
    with_growth(quarters)
}

fn entry(quarters: &mut Quarters, quarter: Quarter) -> &mut QuarterlyResult {
    quarters.entry(quarter).or_insert_with(|| QuarterlyResult {
        period: quarter.fiscal(),
        date: Some(quarter.last_day().to_string()),
        ..QuarterlyResult::default()
    })
}

fn with_growth(mut quarters: Quarters) -> Quarters {
    let revenues: BTreeMap<_, _> =
        quarters.iter().filter_map(|(quarter, result)| Some((*quarter, result.revenue_cr?))).collect();
    for (quarter, result) in &mut quarters {
        let before = revenues.get(&quarter.a_year_before());
        // Growth from nothing, or from less than that, has no percentage.
        let before = before.filter(|before| **before > 0.0);
        result.yoy_revenue_pct = result.revenue_cr.zip(before).and_then(|(now, before)| over(now, *before));
    }
    quarters
}

fn in_crore(amount: f64) -> f64 {
    round(amount / CRORE)
}

/// How far a number is over another, in percent of the other's size.
fn over(number: f64, base: f64) -> Option<f64> {
    (base != 0.0).then(|| round(100.0 * (number - base) / base.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_over_nothing_or_less_is_none_and_a_stated_day_is_kept() {
        let result = |quarter: &str, revenue: f64, date: Option<&str>| ResultOfQuarter {
            quarter: quarter.parse().unwrap(),
            date: date.map(|date| date.parse().unwrap()),
            revenue: Some(revenue * CRORE),
            net_profit: None,
        };
        let results =
            [("1Q2024", -50.0), ("2Q2024", 0.0), ("3Q2024", 50.0), ("1Q2025", 60.0), ("2Q2025", 60.0)];
        let mut results: Vec<_> = results.iter().map(|(it, revenue)| result(it, *revenue, None)).collect();
        results.push(result("3Q2025", 60.0, Some("2025-08-31")));
        let quarters = of_yahoo(&Summary { results, ..Summary::default() }, &Timeseries::default());
        let newest: Vec<_> = quarters.values().rev().take(3).collect();
        let growth: Vec<_> = newest.iter().map(|quarter| quarter.yoy_revenue_pct).collect();
        assert_eq!(growth, [Some(20.0), None, None]);
        assert_eq!(newest[0].date.as_deref(), Some("2025-08-31"));
        assert_eq!(newest[1].date.as_deref(), Some("2025-06-30"));
    }
}
