//! The warnings of a backtest: stocks that are played for less than the period, and trades that are all open.

use chrono::{NaiveDate, TimeDelta};

use crate::tools::backtest::{Outcome, Plan, Stock};
use toolwire_base::words::counted;

/// No exchange is closed for longer.
const LONGEST_CLOSURE: TimeDelta = TimeDelta::days(7);

/// The warning of a stock that is played from a later day than was requested, or not at all.
pub(super) fn begins_late(
    stock: &Stock,
    begun: Option<NaiveDate>,
    requested: Option<NaiveDate>,
    plan: &Plan,
) -> Option<String> {
    let Stock { symbol, bars } = stock;
    let first = bars.iter().map(|bar| bar.date).find(|date| *date >= plan.from && *date <= plan.to);
    let (Some(first), Some(oldest)) = (first, bars.first()) else {
        return Some(format!("There are no prices of {symbol} in the period."));
    };
    let days = days_until(stock, begun.unwrap_or(plan.to));
    match begun {
        None => Some(format!(
            "{symbol} is left out: its rules need more days of prices than the {days} since {}.",
            oldest.date
        )),
        Some(begun) if begun > first => Some(format!(
            "{symbol} is played and compared from {begun}, not from {}: until then its rules had too few days of prices, \
             {days} since {}.",
            requested.unwrap_or(first),
            oldest.date
        )),
        // Prices may begin some days after the requested one: markets are closed on holidays.
        Some(begun) => requested.filter(|requested| first - *requested > LONGEST_CLOSURE).map(|requested| {
            format!(
                "{symbol} is played and compared from {begun}, not from {requested}: its prices begin then."
            )
        }),
    }
}

/// The warning of a stock whose prices end before the requested day.
pub(super) fn ends_early(stock: &Stock, is_requested: bool, plan: &Plan) -> Option<String> {
    let last = stock.bars.last().filter(|_| is_requested)?.date;
    (plan.to - last > LONGEST_CLOSURE).then(|| {
        format!("{} is played and compared up to {last}, not {}: its prices end then.", stock.symbol, plan.to)
    })
}

/// The warning where no trade has ended, so that there are no figures of trades.
pub(super) fn all_open(outcome: &Outcome) -> Option<&'static str> {
    let is_any_and_all = !outcome.trades.is_empty() && outcome.trades.iter().all(|trade| trade.is_cut_off);
    is_any_and_all.then_some(
        "All trades are still open where the prices or the period end, so there is no mean, median or hit rate of them. Ask \
         with a longer period or a shorter `holding_days`.",
    )
}

/// The days of prices up to a day, in words.
fn days_until(stock: &Stock, end: NaiveDate) -> String {
    counted(stock.bars.iter().filter(|bar| bar.date <= end).count(), "day", "days")
}
