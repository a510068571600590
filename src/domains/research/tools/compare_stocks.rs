//! `compare_stocks`: fundamentals and technicals of several stocks side by side.

mod metrics;

use futures_util::future::{try_join, try_join_all};

use self::metrics::{Column, as_of, currency, rows};
use super::{
    GetFundamentals, GetTechnicals, reject,
    symbol::{self, SymbolList},
};
use crate::proto::v1::{
    CompareStocksOutput, CompareStocksRequest, GetFundamentalsRequest, GetTechnicalsRequest,
};
use toolwire_contract::{ErrorCode, Provenance, ToolError, arguments::Arguments};
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

/// The metrics of a stock, or the message of a stock without any.
type Lookup<T> = Result<Reply<T>, String>;

#[derive(Clone, Copy, Debug)]
pub struct CompareStocks;

impl Tool for CompareStocks {
    const NAME: &'static str = "compare_stocks";
    type Input = CompareStocksRequest;
    type Output = CompareStocksOutput;

    fn services() -> Required {
        symbol::services()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: CompareStocksRequest,
        context: &ToolContext,
    ) -> Result<Reply<CompareStocksOutput>, Unfinished> {
        let SymbolList { symbols, unknown } = symbol::all(&input.symbols, context)?;
        if symbols.len() + unknown.len() < 2 {
            let description = "`symbols` names one stock; name two to five different ones".to_owned();
            return Err(reject("symbols", "minItems", description).into());
        }
        let found = try_join_all(symbols.iter().map(|symbol| column(symbol, context))).await?;
        let (mut columns, mut missing, mut provenance) = (Vec::new(), unknown, Provenance::default());
        for (symbol, found) in symbols.into_iter().zip(found) {
            match found {
                Ok(Reply { data, provenance: of_column }) => {
                    provenance.absorb(of_column);
                    columns.push(data);
                }
                Err(words) => missing.push((symbol, words)),
            }
        }
        if columns.is_empty() {
            return Err(symbol::none_known(missing).into());
        }
        let (missing, words): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
        provenance.warnings.extend(words);
        let (rows, currency, as_of) = (rows(&columns), currency(&columns), as_of(&columns));
        if currency.is_none() {
            provenance
                .warnings
                .push("The amounts are in several currencies, or in an unknown one.".to_owned());
        }
        let symbols = columns.into_iter().map(|column| column.symbol).collect();
        Ok(Reply { data: CompareStocksOutput { symbols, rows, missing, currency, as_of }, provenance })
    }
}

/// Fetches the metrics of a stock; the message if it has neither kind of numbers.
async fn column(symbol: &str, context: &ToolContext) -> Result<Lookup<Column>, Unfinished> {
    let of_fundamentals = GetFundamentalsRequest { symbol: Some(symbol.to_owned()) };
    let of_technicals = GetTechnicalsRequest { symbol: Some(symbol.to_owned()) };
    let (fundamentals, technicals) = try_join(
        if_found::<GetFundamentals>(&of_fundamentals, context),
        if_found::<GetTechnicals>(&of_technicals, context),
    )
    .await?;
    if let (Err(words), Err(_)) = (&fundamentals, &technicals) {
        return Ok(Err(words.clone()));
    }
    let mut provenance = Provenance::default();
    let fundamentals = part(fundamentals, "fundamentals", symbol, &mut provenance);
    let technicals = part(technicals, "technicals", symbol, &mut provenance);
    Ok(Ok(Reply { data: Column { symbol: symbol.to_owned(), fundamentals, technicals }, provenance }))
}

/// Only what does not exist may be missing; any other failure is the call's.
async fn if_found<T: Tool>(input: &T::Input, context: &ToolContext) -> Result<Lookup<T::Output>, Unfinished> {
    match tool::call::<T>(input, context).await {
        Ok(reply) => Ok(Ok(reply)),
        Err(Unfinished::Failed(ToolError { code: ErrorCode::NotFound, message, .. })) => Ok(Err(message)),
        Err(unfinished) => Err(unfinished),
    }
}

/// The data of a part, if it was found; its warnings say which stock they are about.
fn part<T>(found: Lookup<T>, what: &str, symbol: &str, provenance: &mut Provenance) -> Option<T> {
    let Ok(Reply { data, provenance: of_part }) = found else {
        provenance.warnings.push(format!("There are no {what} of {symbol}."));
        return None;
    };
    let warnings = of_part.warnings.iter().map(|warning| format!("{symbol}: {warning}")).collect();
    provenance.absorb(Provenance { warnings, ..of_part });
    Some(data)
}
