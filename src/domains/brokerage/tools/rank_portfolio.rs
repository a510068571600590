//! `rank_portfolio`: the positions of an account in order of performance.

use std::cmp::{Ordering, Reverse};

use rust_decimal::Decimal;

use super::{GetPositionsList, GetQuotes, money::exact, one_of, valuation::Valuation};
use crate::proto::v1::{
    GetPositionsListOutput, GetPositionsListRequest, GetQuotesOutput, GetQuotesRequest, Position, Quote,
    RankPortfolioOutput, RankPortfolioRequest, RankedPosition,
};
use toolwire_contract::ToolError;
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct RankPortfolio;

/// Which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
enum Direction {
    Best,
    Worst,
}

/// What positions are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
enum Basis {
    UnrealizedPl,
    UnrealizedPlPct,
    DayChange,
    MarketValue,
}

/// A position that has a quote, and what it is worth.
struct Priced {
    position: Position,
    price: f64,
    valuation: Valuation,
}

impl Tool for RankPortfolio {
    const NAME: &'static str = "rank_portfolio";
    type Input = RankPortfolioRequest;
    type Output = RankPortfolioOutput;

    async fn execute(
        &self,
        input: RankPortfolioRequest,
        context: &ToolContext,
    ) -> Result<Reply<RankPortfolioOutput>, Unfinished> {
        let word = input.direction.as_deref().unwrap_or("best");
        let direction: Direction = one_of("direction", word, word.parse().ok())?;
        let word = input.basis.as_deref().unwrap_or("unrealized_pl");
        let basis: Basis = one_of("basis", word, word.parse().ok())?;
        let all = GetPositionsListRequest { asset_class: None, account: input.account };
        let held = tool::call::<GetPositionsList>(&all, context).await?;
        let symbols: Vec<_> = held.data.positions.iter().map(|position| position.symbol.as_str()).collect();
        if symbols.is_empty() {
            return Err(ToolError::not_found("No positions available for ranking").into());
        }
        let of_all_held = GetQuotesRequest { symbol: Some(symbols.join(",")) };
        let quotes = tool::call::<GetQuotes>(&of_all_held, context).await?;
        Ok(rank(held, quotes, direction, basis))
    }
}

fn rank(
    held: Reply<GetPositionsListOutput>,
    quotes: Reply<GetQuotesOutput>,
    direction: Direction,
    basis: Basis,
) -> Reply<RankPortfolioOutput> {
    let mut provenance = held.provenance;
    provenance.absorb(quotes.provenance);
    let (mut priced, unpriced) = price(held.data.positions, &quotes.data.quotes);
    // A stable sort: equal values keep the order of the account.
    priced.sort_by(|one, other| direction.order(basis.value(one), basis.value(other)));
    let data = RankPortfolioOutput {
        as_of: provenance.as_of.clone(),
        price_as_of: quotes.data.as_of,
        currency: quotes.data.currency,
        account: held.data.account,
        direction: direction.into_str().to_owned(),
        basis: basis.into_str().to_owned(),
        rankings: (1..).zip(priced).map(|(rank, priced)| priced.into_ranked(rank)).collect(),
        unpriced,
    };
    Reply { data, provenance }
}

/// The positions that have a quote, and the symbols of those that have none.
fn price(positions: Vec<Position>, quotes: &[Quote]) -> (Vec<Priced>, Vec<String>) {
    let (mut priced, mut unpriced) = (Vec::new(), Vec::new());
    for position in positions {
        match quotes.iter().find(|quote| quote.symbol == position.symbol) {
            Some(quote) => {
                let valuation = Valuation::new(&position, quote);
                priced.push(Priced { position, price: quote.price, valuation });
            }
            None => unpriced.push(position.symbol),
        }
    }
    (priced, unpriced)
}

impl Direction {
    /// Positions without a value come last in both orders.
    fn order(self, one: Option<Decimal>, other: Option<Decimal>) -> Ordering {
        match (one, other) {
            (Some(one), Some(other)) if self == Self::Best => Reverse(one).cmp(&Reverse(other)),
            (Some(one), Some(other)) => one.cmp(&other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
    }
}

impl Basis {
    const fn value(self, priced: &Priced) -> Option<Decimal> {
        let valuation = &priced.valuation;
        match self {
            Self::UnrealizedPl => Some(valuation.unrealized_pl),
            Self::UnrealizedPlPct => valuation.unrealized_pl_pct,
            Self::DayChange => Some(valuation.day_change),
            Self::MarketValue => Some(valuation.market_value),
        }
    }
}

impl Priced {
    fn into_ranked(self, rank: i32) -> RankedPosition {
        let Self { position, price, valuation } = self;
        RankedPosition {
            rank,
            symbol: position.symbol,
            asset_class: position.asset_class,
            quantity: position.quantity,
            cost_basis: position.cost_basis,
            price,
            market_value: exact(valuation.market_value),
            unrealized_pl: exact(valuation.unrealized_pl),
            unrealized_pl_pct: valuation.unrealized_pl_pct.map(exact),
            day_change: exact(valuation.day_change),
        }
    }
}
