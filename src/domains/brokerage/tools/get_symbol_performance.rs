//! `get_symbol_performance`: one position, its quote, and its profit or loss.

use futures_util::join;

use super::{
    GetActivity, GetPositions, GetQuotes,
    fifo::{self, Realized},
    money::{self, decimal, exact},
    required,
    valuation::Valuation,
};
use crate::{
    proto::v1::{
        GetActivityOutput, GetActivityRequest, GetPositionsOutput, GetPositionsRequest, GetQuotesOutput,
        GetQuotesRequest, GetSymbolPerformanceOutput, GetSymbolPerformanceRequest, Position, Quote,
    },
    source::Symbol,
};
use toolwire_contract::ErrorCode;
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetSymbolPerformance;

impl Tool for GetSymbolPerformance {
    const NAME: &'static str = "get_symbol_performance";
    type Input = GetSymbolPerformanceRequest;
    type Output = GetSymbolPerformanceOutput;

    async fn execute(
        &self,
        input: GetSymbolPerformanceRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetSymbolPerformanceOutput>, Unfinished> {
        let symbol = Symbol::new(required("symbol", input.symbol.as_deref())?).to_string();
        let account = input.account;
        let position_input = GetPositionsRequest { symbol: Some(symbol.clone()), account: account.clone() };
        let quote_input = GetQuotesRequest { symbol: Some(symbol.clone()) };
        let activity_input = GetActivityRequest { account, ..Default::default() };
        let (positions, quotes, activity) = join!(
            tool::call::<GetPositions>(&position_input, context),
            tool::call::<GetQuotes>(&quote_input, context),
            tool::call::<GetActivity>(&activity_input, context),
        );
        let activity = match activity {
            // A user without the section, or an account without trades, still has a position and a quote.
            Err(Unfinished::Failed(error)) if error.code == ErrorCode::NotFound => Err(error.message),
            activity => Ok(activity?),
        };
        Ok(combine(symbol, positions?, quotes?, activity))
    }
}

fn combine(
    symbol: String,
    positions: Reply<GetPositionsOutput>,
    quotes: Reply<GetQuotesOutput>,
    activity: Result<Reply<GetActivityOutput>, String>,
) -> Reply<GetSymbolPerformanceOutput> {
    let mut provenance = positions.provenance;
    provenance.absorb(quotes.provenance);
    let GetPositionsOutput { position, account, .. } = positions.data;
    let position = position.unwrap_or_default();
    let (realized_pl, warning) = match activity {
        Ok(activity) => {
            provenance.absorb(activity.provenance);
            realize(&symbol, &activity.data, &position)
        }
        Err(reason) => (None, Some(format!("{symbol}: realized_pl is not known: {reason}."))),
    };
    provenance.warnings.extend(warning);
    let GetQuotesOutput { as_of: price_as_of, quotes, currency } = quotes.data;
    let quote = quotes.first();
    let data = GetSymbolPerformanceOutput {
        as_of: provenance.as_of.clone(),
        account,
        realized_pl,
        price_as_of: quote.map(|_| price_as_of),
        currency,
        ..value(symbol, &position, quote)
    };
    Reply { data, provenance }
}

/// Profit or loss of the shares sold, and what a reader of it should know.
fn realize(symbol: &str, activity: &GetActivityOutput, held: &Position) -> (Option<f64>, Option<String>) {
    let trades: Vec<_> = activity.trades.iter().filter(|trade| trade.symbol == symbol).collect();
    if trades.is_empty() && held.symbol.is_empty() {
        // `get_positions` reports the account that holds it.
        let warning = format!(
            "{symbol} is not held in {account} and was never traded there, so all amounts are 0.",
            account = activity.account
        );
        return (Some(0.0), Some(warning));
    }
    match fifo::realize(trades.into_iter()) {
        Realized::Uncovered { shares } => {
            let warning = format!(
                "{symbol}: realized_pl is not known: the sales exceed the known purchases by {}.",
                money::shares(shares)
            );
            (None, Some(warning))
        }
        Realized::Known { profit, left, is_any_sold } => {
            // Shares from before the known trades would have been sold first.
            let is_incomplete = is_any_sold && left != decimal(held.quantity);
            let warning = format!(
                "{symbol}: realized_pl is from the known trades, which leave {} while {} are held.",
                money::shares(left),
                held.quantity
            );
            (Some(exact(profit)), is_incomplete.then_some(warning))
        }
    }
}

fn value(symbol: String, position: &Position, quote: Option<&Quote>) -> GetSymbolPerformanceOutput {
    let is_held = !position.symbol.is_empty();
    // Nothing is worth nothing, whatever the price.
    let valuation =
        if is_held { quote.map(|quote| Valuation::new(position, quote)) } else { Some(Valuation::nothing()) };
    GetSymbolPerformanceOutput {
        symbol,
        quantity: position.quantity,
        cost_basis: is_held.then_some(position.cost_basis),
        total_cost: position.total_cost,
        price: quote.map(|quote| quote.price),
        change_pct: quote.map(|quote| quote.change_pct),
        market_value: valuation.map(|valuation| exact(valuation.market_value)),
        unrealized_pl: valuation.map(|valuation| exact(valuation.unrealized_pl)),
        unrealized_pl_pct: valuation.and_then(|valuation| valuation.unrealized_pl_pct).map(exact),
        day_change: valuation.map(|valuation| exact(valuation.day_change)),
        ..GetSymbolPerformanceOutput::default()
    }
}
