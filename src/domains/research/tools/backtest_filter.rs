//! `backtest_filter`: how the rules of a profile would have done in the past.

mod warnings;

use chrono::{NaiveDate, TimeDelta};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{
    Profiles,
    backtest::{self, Filter, Holding, Outcome, Plan, Stock, Trade, mean},
    figure::round,
    insufficient, provenance_on, reject, required,
    symbol::{self, SymbolList},
    truncate_list,
};
use crate::{
    proto::v1::{BacktestFilterOutput, BacktestFilterRequest, BacktestSummary, BacktestTrade, BuyAndHold},
    sources::yahoo::{Bar, Chart, Span, Yahoo},
};
use toolwire_base::offload;
use toolwire_contract::{ErrorCode, Provenance, ToolError, arguments::Arguments};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

/// Maximum number of concurrent fetches; the limiter spaces them.
const MAX_CONCURRENT: usize = 8;
/// The time before the first day of which the indicators need prices.
const WARM_UP: TimeDelta = TimeDelta::days(731);

/// A stock, the currency of its prices, and what to say of them; or the symbol, and what to say of it where the source
/// does not know it or contradicts itself.
type PricedStock = Result<(Stock, Option<String>, Vec<String>), (String, String)>;

/// The stocks that can be played, and what to say of those that were requested.
struct Fetched {
    stocks: Vec<Stock>,
    /// Of each stock.
    currencies: Vec<Option<String>>,
    warnings: Vec<String>,
    /// The symbols that are not played, each with the reason.
    missing: Vec<(String, String)>,
}

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
        let SymbolList { symbols, unknown } = symbol::all(&input.symbols, context)?;
        let fetched = stream::iter(symbols).map(|symbol| stock(&yahoo, symbol, &plan, context));
        // In the order of the request, so that the answer does not depend on which chart came first.
        let fetched: Vec<_> = fetched.buffered(MAX_CONCURRENT).try_collect().await?;
        let Fetched { stocks, currencies, warnings, missing } = Fetched::new(fetched, unknown);
        if stocks.is_empty() {
            return Err(symbol::none_known(missing).into());
        }
        let (mut data, mut provenance) = play(input.clone(), filter, stocks, plan).await;
        provenance.warnings.extend(warnings);
        provenance.warnings.extend(missing.into_iter().map(|(_, words)| words));
        data.currency = one_of_all(currencies);
        // Reversed, so that the latest trades are kept.
        data.trades.reverse();
        truncate_list(&mut data.trades, input.limit, "trades", &mut provenance);
        data.trades.reverse();
        Ok(Reply { data, provenance })
    }
}

impl Fetched {
    fn new(priced: Vec<PricedStock>, unknown: Vec<(String, String)>) -> Self {
        let (stocks, currencies, warnings) = (Vec::new(), Vec::new(), Vec::new());
        let mut fetched = Self { stocks, currencies, warnings, missing: unknown };
        for stock in priced {
            match stock {
                Ok((stock, currency, warnings)) => {
                    fetched.stocks.push(stock);
                    fetched.currencies.push(currency);
                    fetched.warnings.extend(warnings);
                }
                Err(missing) => fetched.missing.push(missing),
            }
        }
        fetched
    }
}

/// Without a first day, 1970: the charts begin later.
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

/// Plays the plan. The currency of the output is left to the caller.
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
        provenance.warnings.extend(warnings::all_open(&outcome).map(str::to_owned));
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
    let mut provenance = provenance_on("yahoo", last.unwrap_or(plan.to));
    for (stock, begun) in stocks.iter().zip(&outcome.begun) {
        let first = if input.from.is_some() { Some(plan.from) } else { None };
        provenance.warnings.extend(warnings::begins_late(stock, *begun, first, plan));
        provenance.warnings.extend(warnings::ends_early(stock, input.to.is_some(), plan));
    }
    provenance
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
    fn warnings_of(stock: Stock, from: Option<&str>, to: Option<&str>) -> Vec<String> {
        let table = settings::WaitZone { max_rsi: Some(60.0), ..settings::WaitZone::default() };
        let zone = WaitZone::from(&table);
        let (from, to) = (from.map(str::to_owned), to.map(str::to_owned));
        let input = BacktestFilterRequest { from, to, ..BacktestFilterRequest::default() };
        let plan = plan(&input, "2024-12-31".parse().unwrap()).unwrap();
        let outcome = backtest::run(&Filter::WaitZone(zone), std::slice::from_ref(&stock), &plan);
        provenance(&input, &[stock], &outcome, &plan).warnings
    }

    #[test]
    fn a_shortened_range_is_a_warning_with_dates_and_numbers() {
        let long = || stock("2024-01-01", 366);
        assert_eq!(warnings_of(long(), Some("2024-03-01"), Some("2024-12-31")), [""; 0]);
        let short = "X is played and compared from 2024-01-15, not from 2024-01-01: until then its rules had too few days \
                     of prices, 15 days since 2024-01-01.";
        assert_eq!(warnings_of(long(), None, None), [short]);
        let short = "X is played and compared from 2024-06-15, not from 2024-03-01: until then its rules had too few days \
                     of prices, 15 days since 2024-06-01.";
        assert_eq!(warnings_of(stock("2024-06-01", 213), Some("2024-03-01"), None), [short]);
        let out = "X is left out: its rules need more days of prices than the 10 days since 2024-12-01.";
        assert_eq!(warnings_of(stock("2024-12-01", 10), None, None), [out]);
        let ends = "X is played and compared up to 2024-04-09, not 2024-06-30: its prices end then.";
        assert_eq!(warnings_of(stock("2024-01-01", 100), Some("2024-02-01"), Some("2024-06-30")), [ends]);
        let none = "There are no prices of X in the period.";
        assert_eq!(warnings_of(stock("2024-01-01", 20), Some("2024-06-01"), None), [none]);
    }

    #[tokio::test]
    async fn a_long_plan_is_offloaded() {
        let first = NaiveDate::default();
        for (stocks, days, offloaded) in [(1, 250, 0), (40, 500, 1)] {
            let stock = stock("1970-01-01", days);
            let plan = Plan { from: first, to: first + TimeDelta::days(9_999), holding: TimeDelta::days(90) };
            let filter = Profiles::default().filter("value").unwrap();
            let before = offload::testing::requested_count();
            let (data, _) = play(BacktestFilterRequest::default(), filter, vec![stock; stocks], plan).await;
            assert!(data.buy_and_hold.is_some());
            assert_eq!(offload::testing::requested_count() - before, offloaded, "{stocks} x {days}");
        }
    }

    #[test]
    fn a_backtest_without_an_ended_trade_is_a_warning() {
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
            assert_eq!(warnings::all_open(&outcome).is_some(), is_said, "{outcome:?}");
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
