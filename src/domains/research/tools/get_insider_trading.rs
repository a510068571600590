//! `get_insider_trading`: the bulk and block deals in a stock. Not the disclosures of insiders, and the result says so.

use chrono::{NaiveDate, TimeDelta};

use super::{figure::round, provenance_on, symbol, truncate_list};
use crate::{
    proto::v1::{self, GetInsiderTradingOutput, GetInsiderTradingRequest},
    sources::{
        india::{CRORE, RUPEES},
        nse::{Deal, Nse, Side},
    },
};
use toolwire_contract::arguments::Arguments;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetInsiderTrading;

impl Tool for GetInsiderTrading {
    const NAME: &'static str = "get_insider_trading";
    type Input = GetInsiderTradingRequest;
    type Output = GetInsiderTradingOutput;

    fn services() -> Required {
        symbol::services().of::<Nse>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetInsiderTradingRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetInsiderTradingOutput>, Unfinished> {
        let symbol = symbol::of(input.symbol.as_deref(), context)?;
        let nse = context.services.get::<Nse>();
        let asked = nse.today() - TimeDelta::days(input.days.unwrap_or(30).into());
        let since = nse.first_deal().unwrap_or(asked).max(asked);
        let mut deals = nse.deals(&symbol, since, context).await?;
        let mut provenance = provenance_on("nse", nse.today());
        provenance.warnings.extend(symbol::doubt(&symbol, context));
        provenance.warnings.extend((asked < since).then(|| begins_later(since)));
        let net_quantity = deals.iter().map(signed_shares).fold(0, i64::saturating_add);
        let deals_count = i32::try_from(deals.len()).unwrap_or(i32::MAX);
        truncate_list(&mut deals, input.limit, "deals", &mut provenance);
        let data = GetInsiderTradingOutput {
            symbol,
            data_kind: "bulk_and_block_deals".to_owned(),
            net_quantity,
            deals: deals.into_iter().map(deal_message).collect(),
            deals_count,
            currency: RUPEES.to_owned(),
            from: since.to_string(),
            to: nse.today().to_string(),
        };
        Ok(Reply { data, provenance })
    }
}

fn begins_later(first: NaiveDate) -> String {
    format!("Deals are on record from {first} on: of the days before, nothing is known.")
}

fn signed_shares(deal: &Deal) -> i64 {
    match deal.side {
        Side::Buy => deal.quantity,
        Side::Sell => deal.quantity.saturating_neg(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "no deal has 2^53 shares")]
fn deal_message(deal: Deal) -> v1::Deal {
    v1::Deal {
        date: deal.date.to_string(),
        client: deal.client.into(),
        side: deal.side.into_str().to_owned(),
        quantity: deal.quantity,
        price: deal.price,
        value_cr: round(deal.quantity as f64 * deal.price / CRORE),
        kind: deal.kind.into_str().to_owned(),
    }
}
