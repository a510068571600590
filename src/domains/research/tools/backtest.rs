//! A backtest: what a filter's verdicts of the past would have earned.
//!
//! A verdict of a day sees that day and those before, by the same evaluators that judge the present. A stock is bought
//! at the close of the first day on which the filter lets buy, and sold at the first close after the holding period.
//! Each stock is played from the first day on which its rules can be judged, and compared over the same days.
//! Not here: dividends and costs.

use chrono::{NaiveDate, TimeDelta};

use super::{
    figure::round,
    forbidden_stocks::{Facts, Finding, Forbidden},
    indicators::Series,
    wait_zone::{Hit, Observation, WaitZone},
};
use crate::sources::{india::CRORE, yahoo::Bar};

/// The turnover is the mean of this many days.
const TURNOVER_DAYS: usize = 10;

/// What decides whether to buy.
#[derive(Clone, Debug)]
pub enum Filter {
    /// Buy outside the wait zone.
    WaitZone(WaitZone),
    /// Buy what no rule forbids.
    Forbidden(Forbidden),
}

/// A stock and its prices in order of time.
#[derive(Clone, Debug)]
pub struct Stock {
    pub symbol: String,
    /// Prices, also of the days before the plan that the indicators need.
    pub bars: Vec<Bar>,
}

/// Which days are played through, and how long a stock is held.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub from: NaiveDate,
    /// Last day.
    pub to: NaiveDate,
    /// The holding period, in days of the calendar.
    pub holding: TimeDelta,
}

/// A purchase and its sale.
#[derive(Clone, Debug, PartialEq)]
pub struct Trade {
    pub symbol: String,
    /// The day it was bought.
    pub entered: NaiveDate,
    /// The day it was sold.
    pub exited: NaiveDate,
    /// Price when it was bought.
    pub entry: f64,
    /// Price when it was sold.
    pub exit: f64,
    /// Whether the prices end before the holding period does: nothing was sold.
    pub is_cut_off: bool,
}

/// What a filter says of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// A rule looks at more days than there are.
    Unknown,
    Wait,
    Buy,
}

/// A stock on the days that are played through.
struct Played<'a> {
    symbol: &'a str,
    /// Up to the last day of the plan.
    bars: &'a [Bar],
    series: Series,
    /// The first day that is played through; the number of bars if none is.
    first: usize,
}

/// The trades of all stocks, in order of entry, and what they compare with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub trades: Vec<Trade>,
    /// Mean gain of buying on any day and holding as long, in percent. `None` where no day leaves time for that.
    pub any_day_pct: Option<f64>,
    /// What holding every stock from the first day to the last gained. `None` without prices.
    pub held: Option<Holding>,
    /// For each stock the first day that was played through: that of the plan on which the rules can be judged.
    pub begun: Vec<Option<NaiveDate>>,
}

/// A gain over the whole time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding {
    /// First day with a price.
    pub from: NaiveDate,
    /// Last day with a price.
    pub to: NaiveDate,
    /// Mean gain of the stocks, in percent.
    pub total_pct: f64,
}

impl Trade {
    /// The gain in percent.
    pub fn return_pct(&self) -> f64 {
        gain_pct(self.entry, self.exit)
    }
}

/// Plays the plan through. Takes time linear in the number of prices.
pub fn run(filter: &Filter, stocks: &[Stock], plan: &Plan) -> Outcome {
    let played: Vec<_> = stocks.iter().map(|stock| Played::new(filter, stock, plan)).collect();
    let mut trades: Vec<_> = played.iter().flat_map(|stock| trades(filter, stock, plan)).collect();
    trades.sort_by(|one, other| (one.entered, &one.symbol).cmp(&(other.entered, &other.symbol)));
    let any_day: Vec<_> = played.iter().flat_map(|stock| of_any_day(stock, plan)).collect();
    let begun = played.iter().map(|stock| Some(stock.bars.get(stock.first)?.date)).collect();
    Outcome { trades, any_day_pct: mean(&any_day), held: buy_and_hold(&played), begun }
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

impl<'a> Played<'a> {
    fn new(filter: &Filter, stock: &'a Stock, plan: &Plan) -> Self {
        let bars = up_to(&stock.bars, plan.to);
        let series = Series::of(bars.iter().map(|bar| bar.close).collect());
        let is_known =
            |day: &usize| filter.verdict(&stock.symbol, &bars[..=*day], &series) != Verdict::Unknown;
        let from = bars.partition_point(|bar| bar.date < plan.from);
        let first = (from..bars.len()).find(is_known).unwrap_or(bars.len());
        Self { symbol: &stock.symbol, bars, series, first }
    }
}

/// The trades of one stock; none begins before another has ended.
fn trades(filter: &Filter, stock: &Played<'_>, plan: &Plan) -> Vec<Trade> {
    let Played { symbol, bars, ref series, first: mut day } = *stock;
    let mut trades = Vec::new();
    // What is bought on the last day cannot be sold.
    while day + 1 < bars.len() {
        if filter.verdict(symbol, &bars[..=day], series) != Verdict::Buy {
            day += 1;
            continue;
        }
        let due = sale(bars, day, plan);
        // Without a sale the trade is followed to the last price.
        let end = due.unwrap_or(bars.len() - 1);
        trades.push(trade(symbol, &bars[day], &bars[end], due.is_none()));
        day = end + 1;
    }
    trades
}

/// When what is bought on a day is sold: at the first close after the holding period, if there is one.
fn sale(bars: &[Bar], bought: usize, plan: &Plan) -> Option<usize> {
    let due = bars[bought].date + plan.holding;
    let at = bars.partition_point(|bar| bar.date < due).max(bought + 1);
    (at < bars.len()).then_some(at)
}

/// What buying on each day of the period would have gained, in percent.
fn of_any_day(stock: &Played<'_>, plan: &Plan) -> Vec<f64> {
    let Played { bars, first, .. } = *stock;
    let sold = (first..bars.len()).filter_map(|day| Some((day, sale(bars, day, plan)?)));
    sold.map(|(bought, sold)| gain_pct(bars[bought].close, bars[sold].close)).collect()
}

fn trade(symbol: &str, bought: &Bar, sold: &Bar, is_cut_off: bool) -> Trade {
    Trade {
        symbol: symbol.to_owned(),
        entered: bought.date,
        exited: sold.date,
        entry: bought.close,
        exit: sold.close,
        is_cut_off,
    }
}

impl Filter {
    /// Whether to buy on the last of the given days. `series` may know later ones; only that day's values are read.
    fn verdict(&self, symbol: &str, known: &[Bar], series: &Series) -> Verdict {
        let Some(technicals) = series.at(known.len() - 1) else { return Verdict::Unknown };
        match self {
            Self::WaitZone(zone) => {
                let hits = zone.hits(&Observation::from(&technicals));
                Verdict::of(hits.map(|hit| matches!(hit, Hit::InsufficientHistory { .. })))
            }
            Self::Forbidden(forbidden) => {
                let facts = Facts {
                    price: Some(round(technicals.price)),
                    rsi_14: technicals.rsi_14.map(round),
                    turnover_cr: turnover_cr(known),
                    ..Facts::default()
                };
                let findings = forbidden.findings(symbol, &facts);
                Verdict::of(findings.map(|finding| matches!(finding, Finding::Unknown(_))))
            }
        }
    }
}

impl Verdict {
    /// The verdict, from the reasons against buying: for each, whether it is merely unknown.
    fn of(mut against: impl Iterator<Item = bool>) -> Self {
        match against.next() {
            None => Self::Buy,
            Some(first) if first || against.any(|is_unknown| is_unknown) => Self::Unknown,
            Some(_) => Self::Wait,
        }
    }
}

fn buy_and_hold(stocks: &[Played<'_>]) -> Option<Holding> {
    let ends = stocks.iter().filter_map(|stock| {
        let bars = &stock.bars[stock.first..];
        Some((bars.first()?, bars.last()?))
    });
    let ends: Vec<_> = ends.collect();
    let gains: Vec<_> = ends.iter().map(|(first, last)| gain_pct(first.close, last.close)).collect();
    Some(Holding {
        from: ends.iter().map(|(first, _)| first.date).min()?,
        to: ends.iter().map(|(_, last)| last.date).max()?,
        total_pct: mean(&gains)?,
    })
}

fn up_to(bars: &[Bar], last: NaiveDate) -> &[Bar] {
    &bars[..bars.partition_point(|bar| bar.date <= last)]
}

fn gain_pct(entry: f64, exit: f64) -> f64 {
    100.0 * (exit - entry) / entry
}

#[cfg(test)]
mod tests;
