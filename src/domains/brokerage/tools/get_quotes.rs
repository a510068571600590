//! `get_quotes`: the quotes of one or several symbols.

use super::{data, money::exact, reject, required};
use crate::{
    proto::v1::{self, GetQuotesOutput, GetQuotesRequest},
    source::{Master, Quote, Symbol},
};
use toolwire_contract::ToolError;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetQuotes;

impl Tool for GetQuotes {
    const NAME: &'static str = "get_quotes";
    type Input = GetQuotesRequest;
    type Output = GetQuotesOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetQuotesRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetQuotesOutput>, Unfinished> {
        let symbols = symbols(required("symbol", input.symbol.as_deref())?)?;
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let as_of = master.quotes()?.as_of.as_str();
        let mut provenance = data.provenance(&context.user.id, "tool:quotes:v1", as_of);
        let unknown = master.unknown(&symbols);
        if symbols.iter().all(|symbol| !master.knows(symbol)) {
            return Err(ToolError::not_found(unknown.unwrap_or_default()).into());
        }
        provenance.warnings.extend(unknown);
        let mut quotes = Vec::with_capacity(symbols.len());
        for symbol in symbols.iter().filter(|symbol| master.knows(symbol)) {
            match master.quote(symbol) {
                Some(quote) => quotes.push(quote_message(quote)),
                // A warning rather than an error: a composite requests quotes of everything held.
                None => provenance.warnings.push(without_quote(symbol, master)),
            }
        }
        let currency = master.currency().to_owned();
        Ok(Reply { data: GetQuotesOutput { as_of: as_of.to_owned(), quotes, currency }, provenance })
    }
}

/// The symbols of a list separated by commas, each once.
fn symbols(list: &str) -> Result<Vec<Symbol>, ToolError> {
    let mut symbols = Vec::new();
    for symbol in list.split(',').filter(|part| !part.trim().is_empty()).map(Symbol::new) {
        if !symbols.contains(&symbol) {
            symbols.push(symbol);
        }
    }
    if symbols.is_empty() {
        return Err(reject("symbol", "pattern", "`symbol` names no symbol".to_owned()));
    }
    Ok(symbols)
}

fn without_quote(symbol: &Symbol, master: &Master) -> String {
    let accounts: Vec<_> = master.holders(symbol).map(|(account, _)| account).collect();
    match accounts.as_slice() {
        [] => format!("{symbol} was traded, is not held any more and has no quote."),
        held_in => format!("{symbol} is held in {} but has no quote.", held_in.join(" and ")),
    }
}

fn quote_message(quote: &Quote) -> v1::Quote {
    v1::Quote {
        symbol: quote.symbol.to_string(),
        price: exact(quote.price),
        change_pct: exact(quote.change_pct),
    }
}
