//! `get_institutional_holdings`: who holds a company, and what institutions did in the market.

use futures_util::future::{OptionFuture, join};

use super::{figure::round, provenance_on, symbol, warn_missing};
use crate::{
    proto::v1::{
        GetInstitutionalHoldingsOutput, GetInstitutionalHoldingsRequest, HoldingsChange, MarketFlow,
    },
    sources::{
        nse::{Filing, Flows, Holding, Nse},
        quarter::Quarter,
    },
};
use toolwire_contract::arguments::Arguments;
use toolwire_sources::upstream::http::Failure;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetInstitutionalHoldings;

/// The last holding, and that of the quarter before if one was filed.
struct Holdings {
    latest: Holding,
    before: Option<Result<Holding, Failure>>,
}

impl Tool for GetInstitutionalHoldings {
    const NAME: &'static str = "get_institutional_holdings";
    type Input = GetInstitutionalHoldingsRequest;
    type Output = GetInstitutionalHoldingsOutput;

    fn services() -> Required {
        symbol::services().of::<Nse>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetInstitutionalHoldingsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetInstitutionalHoldingsOutput>, Unfinished> {
        let symbol = symbol::of(input.symbol.as_deref(), context)?;
        let nse = context.services.get::<Nse>();
        let (holdings, flows) = join(holdings(&nse, &symbol, context), nse.flows(context)).await;
        let holdings = holdings.map_err(|failure| symbol::explain(failure, &symbol, context))?;
        let Holdings { latest, before } = holdings;
        let mut provenance = provenance_on("nse", latest.date);
        let warnings = &mut provenance.warnings;
        let before = before.and_then(|before| or_warn(before, "the quarter before", warnings));
        let flows = or_warn(flows, "the market's institutional flow", warnings);
        let data = GetInstitutionalHoldingsOutput {
            symbol,
            as_of: latest.date.to_string(),
            fii_pct: round(latest.fii_pct),
            dii_pct: round(latest.dii_pct),
            promoter_pct: round(latest.promoter_pct),
            public_pct: round(latest.public_pct),
            change_qoq: before.map(|before| change(&latest, &before)),
            market: flows.map(market),
        };
        Ok(Reply { data, provenance })
    }
}

/// Both filings are fetched at once.
async fn holdings(nse: &Nse, symbol: &str, context: &ToolContext) -> Result<Holdings, Failure> {
    let filings = nse.filings(symbol, context).await?;
    let latest = &filings[0];
    // Between the two there may be filings within a quarter.
    let before = filings.iter().find(|filing| is_quarter_before(filing, latest));
    let before = OptionFuture::from(before.map(|filing| nse.holding(filing, context)));
    let (latest, before) = join(nse.holding(latest, context), before).await;
    Ok(Holdings { latest: latest?, before })
}

fn is_quarter_before(filing: &Filing, latest: &Filing) -> bool {
    Quarter::of(filing.date) == Quarter::of(latest.date).before()
}

/// A part without which the result is worth having.
fn or_warn<T>(part: Result<T, Failure>, what: &str, warnings: &mut Vec<String>) -> Option<T> {
    part.map_err(|failure| warnings.push(warn_missing(what, failure))).ok()
}

fn change(latest: &Holding, before: &Holding) -> HoldingsChange {
    HoldingsChange {
        fii_pct: round(latest.fii_pct - before.fii_pct),
        dii_pct: round(latest.dii_pct - before.dii_pct),
        promoter_pct: round(latest.promoter_pct - before.promoter_pct),
        public_pct: round(latest.public_pct - before.public_pct),
    }
}

fn market(flows: Flows) -> MarketFlow {
    let Flows { date, fii_net_cr, dii_net_cr } = flows;
    MarketFlow { date: date.to_string(), fii_net_cr: round(fii_net_cr), dii_net_cr: round(dii_net_cr) }
}
