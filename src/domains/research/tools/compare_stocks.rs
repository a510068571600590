//! `compare_stocks`: fundamentals and technicals of several stocks side by side.

mod metrics;

use futures_util::future::{try_join, try_join_all};

use self::metrics::{Column, rows};
use super::{GetFundamentals, GetTechnicals, refused, symbol};
use crate::{
    context::{Required, ToolContext, Unfinished},
    contract::{ErrorCode, Provenance, ToolError},
    domains::research::proto::v1::{
        CompareStocksOutput, CompareStocksRequest, GetFundamentalsRequest, GetTechnicalsRequest,
    },
    tool::{self, Reply, Tool},
};

/// `compare_stocks`.
#[derive(Clone, Copy, Debug)]
pub struct CompareStocks;

impl Tool for CompareStocks {
    const NAME: &'static str = "compare_stocks";
    type Input = CompareStocksRequest;
    type Output = CompareStocksOutput;

    fn services() -> Required {
        symbol::services()
    }

    async fn execute(
        &self,
        input: CompareStocksRequest,
        context: &ToolContext,
    ) -> Result<Reply<CompareStocksOutput>, Unfinished> {
        let symbols = symbol::all(&input.symbols, context)?;
        if symbols.len() < 2 {
            let description = "`symbols` names one stock; name two to five different ones".to_owned();
            return Err(refused("symbols", "minItems", description).into());
        }
        let found = try_join_all(symbols.iter().map(|symbol| column(symbol, context))).await?;
        let (mut columns, mut missing, mut provenance) = (Vec::new(), Vec::new(), Provenance::default());
        for (symbol, found) in symbols.into_iter().zip(found) {
            match found {
                Some(Reply { data, provenance: of_column }) => {
                    provenance.absorb(of_column);
                    columns.push(data);
                }
                None => missing.push(symbol),
            }
        }
        let rows = rows(&columns);
        let symbols = columns.into_iter().map(|column| column.symbol).collect();
        Ok(Reply { data: CompareStocksOutput { symbols, rows, missing }, provenance })
    }
}

/// What is found of a stock; `None` if neither kind of numbers is.
async fn column(symbol: &str, context: &ToolContext) -> Result<Option<Reply<Column>>, Unfinished> {
    let of_fundamentals = GetFundamentalsRequest { symbol: Some(symbol.to_owned()) };
    let of_technicals = GetTechnicalsRequest { symbol: Some(symbol.to_owned()) };
    let (fundamentals, technicals) = try_join(
        if_found::<GetFundamentals>(&of_fundamentals, context),
        if_found::<GetTechnicals>(&of_technicals, context),
    )
    .await?;
    if fundamentals.is_none() && technicals.is_none() {
        return Ok(None);
    }
    let mut provenance = Provenance::default();
    let fundamentals = part(fundamentals, "fundamentals", symbol, &mut provenance);
    let technicals = part(technicals, "technicals", symbol, &mut provenance);
    Ok(Some(Reply { data: Column { symbol: symbol.to_owned(), fundamentals, technicals }, provenance }))
}

/// Only what does not exist may be missing; any other failure is the call's.
async fn if_found<T: Tool>(
    input: &T::Input,
    context: &ToolContext,
) -> Result<Option<Reply<T::Output>>, Unfinished> {
    match tool::call::<T>(input, context).await {
        Ok(reply) => Ok(Some(reply)),
        Err(Unfinished::Failed(ToolError { code: ErrorCode::NotFound, .. })) => Ok(None),
        Err(unfinished) => Err(unfinished),
    }
}

/// The data of a part, if it was found; its warnings say which stock they are about.
fn part<T>(found: Option<Reply<T>>, what: &str, symbol: &str, provenance: &mut Provenance) -> Option<T> {
    let Some(Reply { data, provenance: of_part }) = found else {
        provenance.warnings.push(format!("there are no {what} of {symbol}"));
        return None;
    };
    let warnings = of_part.warnings.iter().map(|warning| format!("{symbol}: {warning}")).collect();
    provenance.absorb(Provenance { warnings, ..of_part });
    Some(data)
}
