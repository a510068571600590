//! `get_earnings`: the quarterly results of a company, newest first.
//!
//! Yahoo's results are consolidated; quarters of which it says nothing come from the exchange, where they may be
//! stand-alone. No quarter mixes the two (`quarters`).

mod quarters;

use chrono::TimeDelta;
use futures_util::future::join;

use self::quarters::{Quarters, of_nse, of_yahoo};
use super::{provenance_on, symbol, warn_missing};
use crate::{
    proto::v1::{GetEarningsOutput, GetEarningsRequest},
    sources::{
        india::RUPEES,
        nse::Nse,
        yahoo::{Summary, Timeseries, Yahoo},
    },
};
use toolwire_contract::{Provenance, arguments::Arguments};
use toolwire_sources::upstream::http::{Failure, FailureKind};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

/// Far enough back for the maximum number of quarters, and a year more.
const LOOK_BACK: TimeDelta = TimeDelta::days(8 * 366);

#[derive(Clone, Copy, Debug)]
pub struct GetEarnings;

impl Tool for GetEarnings {
    const NAME: &'static str = "get_earnings";
    type Input = GetEarningsRequest;
    type Output = GetEarningsOutput;

    fn services() -> Required {
        symbol::services().of::<Yahoo>().of::<Nse>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetEarningsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetEarningsOutput>, Unfinished> {
        let symbol = symbol::of(input.symbol.as_deref(), context)?;
        let wanted = usize::try_from(input.quarters.unwrap_or(4)).unwrap_or_default();
        let yahoo = context.services.get::<Yahoo>();
        let since = yahoo.today() - LOOK_BACK;
        let asked = join(yahoo.summary(&symbol, context), yahoo.timeseries(&symbol, since, context)).await;
        let mut provenance = provenance_on("yahoo", yahoo.today());
        let (summary, series) = both_or_one(asked, &mut provenance.warnings)
            .map_err(|failure| symbol::explain(failure, &symbol, context))?;
        let mut quarters = of_yahoo(&summary, &series);
        let currency = series.currency.or(summary.financial_currency);
        // The exchange's amounts are rupees: they do not go into a list of dollars.
        if quarters.len() < wanted && currency.as_deref().is_none_or(|currency| currency == RUPEES) {
            complement(&mut quarters, &mut provenance, &symbol, context).await;
        }
        provenance.warnings.extend(too_few(&quarters, wanted, &symbol));
        let available_from = quarters.values().next().and_then(|oldest| oldest.date.clone());
        let quarters: Vec<_> = quarters.into_values().rev().take(wanted).collect();
        if let Some(date) = quarters.first().and_then(|newest| newest.date.clone()) {
            provenance.as_of = date;
        }
        let currency = currency.map(Into::into);
        Ok(Reply { data: GetEarningsOutput { symbol, currency, quarters, available_from }, provenance })
    }
}

/// The warning that a list is shorter than requested.
fn too_few(quarters: &Quarters, wanted: usize, symbol: &str) -> Option<String> {
    if quarters.len() >= wanted {
        return None;
    }
    let Some((oldest, _)) = quarters.first_key_value() else {
        return Some(format!("The sources have no results of {symbol}."));
    };
    let (oldest, count) = (oldest.fiscal(), quarters.len());
    Some(format!("The sources have results from {oldest} on: {count} of the {wanted} quarters asked for."))
}

/// The two documents, or the one that came: the series needs no crumb, and the summary suffices for four quarters.
fn both_or_one(
    asked: (Result<Summary, Failure>, Result<Timeseries, Failure>),
    warnings: &mut Vec<String>,
) -> Result<(Summary, Timeseries), Failure> {
    match asked {
        (Ok(summary), Ok(series)) => Ok((summary, series)),
        (Ok(summary), Err(failure)) if may_go_on(&failure) => {
            warnings.push(warn_missing("the longer history of results", failure));
            Ok((summary, Timeseries::default()))
        }
        (Err(failure), Ok(series)) if may_go_on(&failure) && !series.results.is_empty() => {
            warnings.push(warn_missing("earnings per share", failure));
            Ok((Summary::default(), series))
        }
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
    }
}

/// Not where the call itself is over, nor where the symbol is unknown.
fn may_go_on(failure: &Failure) -> bool {
    !matches!(failure.kind, FailureKind::Cancelled | FailureKind::OutOfTime | FailureKind::NotFound)
}

/// Adds the quarters that Yahoo says nothing of. Without the exchange the result is only shorter.
async fn complement(
    quarters: &mut Quarters,
    provenance: &mut Provenance,
    symbol: &str,
    context: &ToolContext,
) {
    let nse = context.services.get::<Nse>();
    let filed = match nse.results(symbol, context).await {
        Ok(filed) => of_nse(&filed),
        Err(failure) => {
            return provenance.warnings.push(warn_missing("what the exchange has on file", failure));
        }
    };
    let added: Quarters = filed.into_iter().filter(|(quarter, _)| !quarters.contains_key(quarter)).collect();
    if added.is_empty() {
        return;
    }
    let names: Vec<_> = added.keys().map(|quarter| quarter.fiscal()).collect();
    provenance.absorb(provenance_on("nse", nse.today()));
    let warning = format!("{} as filed with the exchange, maybe without subsidiaries.", names.join(", "));
    provenance.warnings.push(warning);
    quarters.extend(added);
}
