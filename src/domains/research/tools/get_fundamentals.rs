//! `get_fundamentals`: what a company is worth, earns and owes.

use super::{figure::round, insufficient, provenance_on, symbol};
use crate::{
    proto::v1::{GetFundamentalsOutput, GetFundamentalsRequest},
    sources::{
        india::CRORE,
        universe::Universe,
        yahoo::{Summary, Yahoo},
    },
};
use toolwire_contract::arguments::Arguments;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetFundamentals;

impl Tool for GetFundamentals {
    const NAME: &'static str = "get_fundamentals";
    type Input = GetFundamentalsRequest;
    type Output = GetFundamentalsOutput;

    fn services() -> Required {
        symbol::services().of::<Yahoo>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetFundamentalsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetFundamentalsOutput>, Unfinished> {
        let symbol = symbol::of_comparable(input.symbol.as_deref(), context)?;
        let yahoo = context.services.get::<Yahoo>();
        let summary = yahoo.summary(&symbol, context).await;
        let summary = summary.map_err(|failure| symbol::explain(failure, &symbol, context))?;
        let universe = context.services.get::<Universe>();
        let stock = universe.get(&symbol);
        let mut provenance = provenance_on("yahoo", yahoo.today());
        provenance.warnings.extend(summary.contradictions.iter().map(|words| insufficient(words)));
        let numbers = numbers(&summary, &mut provenance.warnings);
        let data = GetFundamentalsOutput {
            name: stock.map(|stock| stock.name.clone()),
            sector: summary.sector.map(Into::into).or_else(|| stock.map(|stock| stock.sector.clone())),
            currency: summary.currency.map(Into::into),
            as_of: Some(provenance.as_of.clone()),
            symbol,
            ..numbers
        };
        Ok(Reply { data, provenance })
    }
}

/// The numbers, with a warning for each one that is computed here, because the source left it out.
fn numbers(summary: &Summary, warnings: &mut Vec<String>) -> GetFundamentalsOutput {
    let pct = |fraction: f64| round(100.0 * fraction);
    GetFundamentalsOutput {
        market_cap_cr: market_cap(summary, warnings).map(|cap| round(cap / CRORE)),
        pe: summary.trailing_pe.or_else(|| compute_pe(summary, warnings)).map(round),
        forward_pe: summary.forward_pe.map(round),
        pb: summary.price_to_book.map(round),
        roe_pct: summary.return_on_equity.map(pct),
        debt_to_equity: summary.debt_to_equity_pct.map(|pct| round(pct / 100.0)),
        dividend_yield_pct: summary.dividend_yield.map(pct),
        eps: summary.trailing_eps.map(round),
        book_value: summary.book_value.map(round),
        fifty_two_week_high: summary.fifty_two_week_high.map(round),
        fifty_two_week_low: summary.fifty_two_week_low.map(round),
        ..GetFundamentalsOutput::default()
    }
}

fn market_cap(summary: &Summary, warnings: &mut Vec<String>) -> Option<f64> {
    summary.market_cap.or_else(|| {
        let cap = summary.price? * summary.shares?;
        warnings.push("Yahoo Finance states no market capitalisation, so the one given is the price times the number of shares.".to_owned());
        Some(cap)
    })
}

/// Negative for a company that makes losses, of which Yahoo states none.
fn compute_pe(summary: &Summary, warnings: &mut Vec<String>) -> Option<f64> {
    let eps = summary.trailing_eps.filter(|eps| *eps != 0.0)?;
    let pe = summary.price? / eps;
    let loss = if pe < 0.0 { " It is negative because the company made a loss." } else { "" };
    warnings.push(format!(
        "Yahoo Finance states no price to earnings, so `pe` is the price divided by the earnings per share of the last \
         twelve months.{loss}"
    ));
    Some(pe)
}
