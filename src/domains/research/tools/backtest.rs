//! A backtest: what a filter's verdicts of the past would have earned.
//!
//! A verdict of a day sees that day and those before, by the same evaluators that judge the present. A stock is bought
//! at the close of the first day on which the filter lets buy, and sold at the first close after the holding period.
//! Not here: dividends and costs.

use chrono::{NaiveDate, TimeDelta};

use super::{
    forbidden::{Facts, Forbidden},
    indicators::Series,
    wait_zone::{Observed, WaitZone},
};
use crate::domains::research::sources::{india::CRORE, yahoo::Bar};

/// The turnover is the mean of so many days.
const TURNOVER_DAYS: usize = 10;

/// What decides whether to buy.
#[derive(Clone, Copy, Debug)]
pub enum Filter<'a> {
    /// Buy outside the wait zone.
    WaitZone(&'a WaitZone),
    /// Buy what no rule forbids.
    Forbidden(&'a Forbidden),
}

/// A stock and its prices in order of time.
#[derive(Clone, Debug)]
pub struct Stock {
    /// Symbol.
    pub symbol: String,
    /// Prices, also of the days before the plan that the indicators need.
    pub bars: Vec<Bar>,
}

/// Which days are played through, and how long a stock is held.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// First day.
    pub from: NaiveDate,
    /// Last day.
    pub to: NaiveDate,
    /// The holding period, in days of the calendar.
    pub holding: TimeDelta,
}

/// A purchase and its sale.
#[derive(Clone, Debug, PartialEq)]
pub struct Trade {
    /// Symbol.
    pub symbol: String,
    /// The day it was bought.
    pub entered: NaiveDate,
    /// The day it was sold.
    pub exited: NaiveDate,
    /// Price when it was bought.
    pub entry: f64,
    /// Price when it was sold.
    pub exit: f64,
}

/// The trades of all stocks, in order of entry, and what buying and holding would have gained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The trades.
    pub trades: Vec<Trade>,
    /// Mean gain of every stock from the first day to the last, in percent. `None` without prices.
    pub benchmark_pct: Option<f64>,
}

impl Trade {
    /// The gain in percent.
    pub fn return_pct(&self) -> f64 {
        gain_pct(self.entry, self.exit)
    }
}

/// Plays the plan through. Takes time linear in the number of prices.
pub fn run(filter: Filter<'_>, stocks: &[Stock], plan: &Plan) -> Outcome {
    let mut trades: Vec<_> = stocks.iter().flat_map(|stock| trades(filter, stock, plan)).collect();
    trades.sort_by(|one, other| (one.entered, &one.symbol).cmp(&(other.entered, &other.symbol)));
    let held: Vec<_> = stocks.iter().filter_map(|stock| held_pct(stock, plan)).collect();
    Outcome { trades, benchmark_pct: mean(&held) }
}

/// The mean of some numbers. `None` without any.
pub fn mean(numbers: &[f64]) -> Option<f64> {
    let count = u32::try_from(numbers.len()).ok().filter(|count| *count > 0)?;
    Some(numbers.iter().sum::<f64>() / f64::from(count))
}

/// The mean turnover of the last days in crore rupees. `None` where there are fewer, or a volume is not known.
pub fn turnover_cr(bars: &[Bar]) -> Option<f64> {
    let days = &bars[bars.len().checked_sub(TURNOVER_DAYS)?..];
    let turnovers: Option<Vec<_>> = days.iter().map(|bar| Some(bar.close * bar.volume? / CRORE)).collect();
    mean(&turnovers?)
}

/// The trades of one stock; none begins before another has ended.
fn trades(filter: Filter<'_>, stock: &Stock, plan: &Plan) -> Vec<Trade> {
    let bars = up_to(&stock.bars, plan.to);
    let series = Series::of(bars.iter().map(|bar| bar.close).collect());
    let mut trades = Vec::new();
    let mut day = bars.partition_point(|bar| bar.date < plan.from);
    // What is bought on the last day cannot be sold.
    while day + 1 < bars.len() {
        if !filter.lets_buy(&stock.symbol, &bars[..=day], &series) {
            day += 1;
            continue;
        }
        let due = bars[day].date + plan.holding;
        let sold = bars.partition_point(|bar| bar.date < due).clamp(day + 1, bars.len() - 1);
        trades.push(trade(&stock.symbol, &bars[day], &bars[sold]));
        day = sold + 1;
    }
    trades
}

fn trade(symbol: &str, bought: &Bar, sold: &Bar) -> Trade {
    Trade {
        symbol: symbol.to_owned(),
        entered: bought.date,
        exited: sold.date,
        entry: bought.close,
        exit: sold.close,
    }
}

impl Filter<'_> {
    /// Whether to buy on the last of the given days. `series` may know later ones; only that day's values are read.
    fn lets_buy(self, symbol: &str, known: &[Bar], series: &Series) -> bool {
        let Some(technicals) = series.at(known.len() - 1) else { return false };
        match self {
            Self::WaitZone(zone) => zone.hits(&Observed::from(&technicals)).next().is_none(),
            Self::Forbidden(forbidden) => {
                let facts = Facts {
                    price: Some(technicals.price),
                    rsi_14: technicals.rsi_14,
                    turnover_cr: turnover_cr(known),
                    ..Facts::default()
                };
                forbidden.findings(symbol, &facts).next().is_none()
            }
        }
    }
}

fn held_pct(stock: &Stock, plan: &Plan) -> Option<f64> {
    let bars = up_to(&stock.bars, plan.to);
    let bars = &bars[bars.partition_point(|bar| bar.date < plan.from)..];
    Some(gain_pct(bars.first()?.close, bars.last()?.close))
}

fn up_to(bars: &[Bar], last: NaiveDate) -> &[Bar] {
    &bars[..bars.partition_point(|bar| bar.date <= last)]
}

fn gain_pct(entry: f64, exit: f64) -> f64 {
    100.0 * (exit - entry) / entry
}

#[cfg(test)]
mod tests;
