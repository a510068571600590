//! `backtest_filter`: how the rules of a profile would have done in the past.

use chrono::{NaiveDate, TimeDelta};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{
    Profiles,
    backtest::{self, Filter, Holding, Outcome, Plan, Stock, Trade, mean},
    dated,
    figure::round,
    insufficient, limited, reject, required,
    symbol::{self, Several},
};
use crate::{
    proto::v1::{BacktestFilterOutput, BacktestFilterRequest, BacktestSummary, BacktestTrade, BuyAndHold},
    sources::yahoo::{Bar, Chart, Span, Yahoo},
};
use toolwire_base::{offload, words::counted};
use toolwire_contract::{ErrorCode, Provenance, ToolError, arguments::Arguments};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

/// Maximum number of concurrent fetches; the limiter spaces them.
const AT_ONCE: usize = 8;
/// What the indicators need of the days before the first one.
const WARM_UP: TimeDelta = TimeDelta::days(731);
/// No exchange is closed for longer.
const CLOSED: TimeDelta = TimeDelta::days(7);

/// A stock, the currency of its prices, and what to say of them; or the symbol, and what to say of it where the source
/// does not know it or contradicts itself.
type PricedStock = Result<(Stock, Option<String>, Vec<String>), (String, String)>;

#[derive(Clone, Copy, Debug)]
pub struct BacktestFilter;

impl Tool for BacktestFilter {
    const NAME: &'static str = "backtest_filter";
    type Input = BacktestFilterRequest;
    type Output = BacktestFilterOutput;

    fn services() -> Required {
        symbol::services().of::<Profiles>().of::<Yahoo>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: BacktestFilterRequest,
        context: &ToolContext,
    ) -> Result<Reply<BacktestFilterOutput>, Unfinished> {
        let profile = required("profile", input.profile.as_deref())?;
        let profiles = context.services.get::<Profiles>();
        let filter = profiles.filter(profile)?;
        let yahoo = context.services.get::<Yahoo>();
        let plan = plan(&input, yahoo.today())?;
        let Several { symbols, unknown } = symbol::all(&input.symbols, context)?;
        let fetched = stream::iter(symbols).map(|symbol| stock(&yahoo, symbol, &plan, context));
        // In the order of the request, so that the answer does not depend on which chart came first.
        let fetched: Vec<_> = fetched.buffered(AT_ONCE).try_collect().await?;
        let (mut stocks, mut currencies, mut warnings, mut missing) =
            (Vec::new(), Vec::new(), Vec::new(), unknown);
        for found in fetched {
            match found {
                Ok((stock, currency, of_stock)) => {
                    stocks.push(stock);
                    currencies.push(currency);
                    warnings.extend(of_stock);
                }
                Err(unknown) => missing.push(unknown),
            }
        }
        if stocks.is_empty() {
            return Err(symbol::none_known(missing).into());
        }
        let (mut data, mut provenance) = play(input.clone(), filter, stocks, plan).await;
        provenance.warnings.extend(warnings);
        provenance.warnings.extend(missing.into_iter().map(|(_, words)| words));
        data.currency = one_of_all(currencies);
        // The latest ones are worth most.
        data.trades.reverse();
        limited(&mut data.trades, input.limit, "trades", &mut provenance.warnings);
        data.trades.reverse();
        Ok(Reply { data, provenance })
    }
}

/// Without a first day, the first one that computers know of: the charts begin later.
fn plan(input: &BacktestFilterRequest, today: NaiveDate) -> Result<Plan, ToolError> {
    let from = day("from", input.from.as_deref())?.unwrap_or_default();
    let to = day("to", input.to.as_deref())?.unwrap_or(today).min(today);
    if from >= to {
        return Err(reject("from", "maximum", format!("`from` is {from}, which is not before {to}")));
    }
    Ok(Plan { from, to, holding: TimeDelta::days(input.holding_days.unwrap_or(90).into()) })
}

fn day(name: &str, text: Option<&str>) -> Result<Option<NaiveDate>, ToolError> {
    let read = |text: &str| {
        let day = text.parse::<NaiveDate>().ok().filter(|day| *day >= NaiveDate::default());
        let words = || format!("`{name}` is '{text}'; expected a day since 1970 such as 2024-06-01");
        day.ok_or_else(|| reject(name, "pattern", words()))
    };
    text.map(read).transpose()
}

async fn stock(
    yahoo: &Yahoo,
    symbol: String,
    plan: &Plan,
    context: &ToolContext,
) -> Result<PricedStock, Unfinished> {
    let from = (plan.from - WARM_UP).max(NaiveDate::default());
    let chart = yahoo.chart(&symbol, Span::Between { from, to: plan.to }, context).await;
    match chart.map_err(|failure| symbol::explain(failure, &symbol, context)) {
        Ok(Chart { contradictions, .. }) if !contradictions.is_empty() => {
            let words = format!("{symbol} is left out: {}", insufficient(&contradictions.join("; ")));
            Ok(Err((symbol, words)))
        }
        Ok(Chart { bars, currency, warnings, .. }) => {
            let warnings = warnings.iter().map(|warning| format!("{symbol}: {warning}")).collect();
            Ok(Ok((Stock { symbol, bars }, currency.map(String::from), warnings)))
        }
        Err(Unfinished::Failed(error)) if error.code == ErrorCode::NotFound => {
            Ok(Err((symbol, error.message)))
        }
        Err(unfinished) => Err(unfinished),
    }
}

/// What became of the plan; in which currency is still to be said.
async fn play(
    input: BacktestFilterRequest,
    filter: Filter,
    stocks: Vec<Stock>,
    plan: Plan,
) -> (BacktestFilterOutput, Provenance) {
    let bars: usize = stocks.iter().map(|stock| stock.bars.len()).sum();
    let played = move || {
        let outcome = backtest::run(&filter, &stocks, &plan);
        let profile = input.profile.as_deref().unwrap_or_default();
        let mut provenance = provenance(&input, &stocks, &outcome, &plan);
        provenance.warnings.extend(all_open(&outcome).map(str::to_owned));
        (output(profile, &outcome), provenance)
    };
    offload::if_large(bars * size_of::<Bar>(), played).await
}

/// The currency of all, if it is the same.
fn one_of_all(mut currencies: Vec<Option<String>>) -> Option<String> {
    currencies.dedup();
    if currencies.len() == 1 { currencies.pop()? } else { None }
}

fn provenance(input: &BacktestFilterRequest, stocks: &[Stock], outcome: &Outcome, plan: &Plan) -> Provenance {
    let last = stocks.iter().filter_map(|stock| stock.bars.last()).map(|bar| bar.date).min();
    let mut provenance = dated("yahoo", last.unwrap_or(plan.to));
    for (stock, begun) in stocks.iter().zip(&outcome.begun) {
        let first = if input.from.is_some() { Some(plan.from) } else { None };
        provenance.warnings.extend(warn_shortened(stock, *begun, first, plan));
        provenance.warnings.extend(ends_early(stock, input.to.is_some(), plan));
    }
    provenance
}

/// What to say of a stock that is played from a later day than was asked for.
fn warn_shortened(
    stock: &Stock,
    begun: Option<NaiveDate>,
    asked: Option<NaiveDate>,
    plan: &Plan,
) -> Option<String> {
    let Stock { symbol, bars } = stock;
    let first = bars.iter().map(|bar| bar.date).find(|date| *date >= plan.from && *date <= plan.to);
    let (Some(first), Some(oldest)) = (first, bars.first()) else {
        return Some(format!("There are no prices of {symbol} in the period."));
    };
    let known = || {
        let end = begun.unwrap_or(plan.to);
        counted(bars.iter().filter(|bar| bar.date <= end).count(), "day", "days")
    };
    let Some(begun) = begun else {
        return Some(format!(
            "{symbol} is left out: its rules need more days of prices than the {} since {}.",
            known(),
            oldest.date
        ));
    };
    if begun > first {
        return Some(format!(
            "{symbol} is played and compared from {begun}, not from {}: until then its rules had too few days of prices, \
             {} since {}.",
            asked.unwrap_or(first),
            known(),
            oldest.date
        ));
    }
    // Markets are closed for some days.
    asked.filter(|asked| first - *asked > CLOSED).map(|asked| {
        format!("{symbol} is played and compared from {begun}, not from {asked}: its prices begin then.")
    })
}

fn ends_early(stock: &Stock, is_asked: bool, plan: &Plan) -> Option<String> {
    let last = stock.bars.last().filter(|_| is_asked)?.date;
    (plan.to - last > CLOSED).then(|| {
        format!("{} is played and compared up to {last}, not {}: its prices end then.", stock.symbol, plan.to)
    })
}

/// The warning where no trade has ended, so that trades do not help.
fn all_open(outcome: &Outcome) -> Option<&'static str> {
    let is_any_and_all = !outcome.trades.is_empty() && outcome.trades.iter().all(|trade| trade.is_cut_off);
    is_any_and_all.then_some(
        "All trades are still open where the prices or the period end, so there is no mean, median or hit rate of them. Ask \
         with a longer period or a shorter `holding_days`.",
    )
}

fn output(profile: &str, outcome: &Outcome) -> BacktestFilterOutput {
    let (cut_off, ended): (Vec<_>, Vec<_>) = outcome.trades.iter().partition(|trade| trade.is_cut_off);
    let mut returns: Vec<_> = ended.into_iter().map(Trade::return_pct).collect();
    returns.sort_by(f64::total_cmp);
    let hits: Vec<_> = returns.iter().map(|gain| if *gain > 0.0 { 100.0 } else { 0.0 }).collect();
    let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let summary = BacktestSummary {
        trades: count(outcome.trades.len()),
        cut_off_trades: count(cut_off.len()),
        hit_rate_pct: mean(&hits).map(round),
        mean_return_pct: mean(&returns).map(round),
        median_return_pct: median(&returns).map(round),
        worst_pct: returns.first().copied().map(round),
        any_day_mean_return_pct: outcome.any_day_pct.map(round),
    };
    BacktestFilterOutput {
        profile: profile.to_owned(),
        trades: outcome.trades.iter().map(trade_message).collect(),
        summary: Some(summary),
        currency: None,
        buy_and_hold: outcome.held.map(held_message),
    }
}

fn held_message(held: Holding) -> BuyAndHold {
    let Holding { from, to, total_pct } = held;
    BuyAndHold { from: from.to_string(), to: to.to_string(), total_return_pct: round(total_pct) }
}

fn trade_message(trade: &Trade) -> BacktestTrade {
    BacktestTrade {
        symbol: trade.symbol.clone(),
        entered: trade.entered.to_string(),
        exited: trade.exited.to_string(),
        entry: round(trade.entry),
        exit: round(trade.exit),
        return_pct: round(trade.return_pct()),
        cut_off: trade.is_cut_off,
    }
}

/// The median of sorted numbers.
fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => None,
        0 => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::wait_zone::WaitZone, *};
    use crate::settings;

    fn stock(from: &str, count: usize) -> Stock {
        let bars = from.parse::<NaiveDate>().unwrap().iter_days().take(count).map(|date| Bar {
            date,
            close: 100.0,
            adjusted_close: None,
            volume: None,
        });
        Stock { symbol: "X".to_owned(), bars: bars.collect() }
    }

    /// The warnings of a filter that needs 15 days of prices.
    fn warnings(stock: Stock, from: Option<&str>, to: Option<&str>) -> Vec<String> {
        let table = settings::WaitZone { max_rsi: Some(60.0), ..settings::WaitZone::default() };
        let zone = WaitZone::from(&table);
        let (from, to) = (from.map(str::to_owned), to.map(str::to_owned));
        let input = BacktestFilterRequest { from, to, ..BacktestFilterRequest::default() };
        let plan = plan(&input, "2024-12-31".parse().unwrap()).unwrap();
        let outcome = backtest::run(&Filter::WaitZone(zone), std::slice::from_ref(&stock), &plan);
        provenance(&input, &[stock], &outcome, &plan).warnings
    }

    #[test]
    fn a_range_that_is_shortened_is_said_with_dates_and_numbers() {
        let long = || stock("2024-01-01", 366);
        assert_eq!(warnings(long(), Some("2024-03-01"), Some("2024-12-31")), [""; 0]);
        let short = "X is played and compared from 2024-01-15, not from 2024-01-01: until then its rules had too few days \
                     of prices, 15 days since 2024-01-01.";
        assert_eq!(warnings(long(), None, None), [short]);
        let short = "X is played and compared from 2024-06-15, not from 2024-03-01: until then its rules had too few days \
                     of prices, 15 days since 2024-06-01.";
        assert_eq!(warnings(stock("2024-06-01", 213), Some("2024-03-01"), None), [short]);
        let out = "X is left out: its rules need more days of prices than the 10 days since 2024-12-01.";
        assert_eq!(warnings(stock("2024-12-01", 10), None, None), [out]);
        let ends = "X is played and compared up to 2024-04-09, not 2024-06-30: its prices end then.";
        assert_eq!(warnings(stock("2024-01-01", 100), Some("2024-02-01"), Some("2024-06-30")), [ends]);
        let none = "There are no prices of X in the period.";
        assert_eq!(warnings(stock("2024-01-01", 20), Some("2024-06-01"), None), [none]);
    }

    #[tokio::test]
    async fn a_long_plan_is_played_beside_the_thread_that_carries_calls() {
        let first = NaiveDate::default();
        for (stocks, days, works) in [(1, 250, 0), (40, 500, 1)] {
            let stock = stock("1970-01-01", days);
            let plan = Plan { from: first, to: first + TimeDelta::days(9_999), holding: TimeDelta::days(90) };
            let filter = Profiles::default().filter("value").unwrap();
            let before = offload::testing::requested_count();
            let (data, _) = play(BacktestFilterRequest::default(), filter, vec![stock; stocks], plan).await;
            assert!(data.buy_and_hold.is_some());
            assert_eq!(offload::testing::requested_count() - before, works, "{stocks} x {days}");
        }
    }

    #[test]
    fn that_no_trade_has_ended_is_said() {
        let trade = |is_cut_off| Trade {
            symbol: "X".to_owned(),
            entered: NaiveDate::default(),
            exited: NaiveDate::default(),
            entry: 1.0,
            exit: 2.0,
            is_cut_off,
        };
        for (trades, is_said) in
            [(vec![], false), (vec![trade(true)], true), (vec![trade(true), trade(false)], false)]
        {
            let outcome = Outcome { trades, ..Outcome::default() };
            let all_null = output("value", &outcome).summary.unwrap().mean_return_pct.is_none();
            assert_eq!(all_open(&outcome).is_some(), is_said, "{outcome:?}");
            assert!(all_null || !is_said);
        }
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
    }
}
