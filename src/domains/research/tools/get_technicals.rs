//! `get_technicals`: price, relative strength and moving averages of a stock.

use chrono::{NaiveDate, TimeDelta};

use super::{
    figure::round,
    indicators::{Series, Technicals},
    insufficient, provenance_on, symbol,
};
use crate::{
    proto::v1::{GetTechnicalsOutput, GetTechnicalsRequest},
    sources::yahoo::{Chart, Span, Yahoo},
};
use toolwire_contract::{ToolError, arguments::Arguments};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

/// No exchange is closed for longer.
const STALE_AFTER: TimeDelta = TimeDelta::days(7);

#[derive(Clone, Copy, Debug)]
pub struct GetTechnicals;

impl Tool for GetTechnicals {
    const NAME: &'static str = "get_technicals";
    type Input = GetTechnicalsRequest;
    type Output = GetTechnicalsOutput;

    fn services() -> Required {
        symbol::services().of::<Yahoo>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetTechnicalsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetTechnicalsOutput>, Unfinished> {
        let symbol = symbol::of_comparable(input.symbol.as_deref(), context)?;
        let yahoo = context.services.get::<Yahoo>();
        let chart = yahoo.chart(&symbol, Span::TwoYears, context).await;
        let Chart { currency, bars, warnings, contradictions } =
            chart.map_err(|failure| symbol::explain(failure, &symbol, context))?;
        let series = Series::of(bars.iter().map(|bar| bar.close).collect());
        let (Some(last), Some(technicals)) = (bars.last(), series.last()) else {
            return Err(ToolError::not_found(format!("There are no prices of {symbol}.")).into());
        };
        // Nothing is computed from prices that contradict each other.
        let technicals = if contradictions.is_empty() {
            technicals
        } else {
            Technicals { days: technicals.days, price: technicals.price, ..Technicals::default() }
        };
        let data = output(symbol, last.date, &technicals, currency.map(String::from));
        let mut provenance = provenance_on("yahoo", last.date);
        provenance.warnings.extend(warnings);
        provenance.warnings.extend(contradictions.iter().map(|words| insufficient(words)));
        provenance.warnings.extend(stale(last.date, yahoo.today()));
        Ok(Reply { data, provenance })
    }
}

fn output(
    symbol: String,
    day: NaiveDate,
    technicals: &Technicals,
    currency: Option<String>,
) -> GetTechnicalsOutput {
    GetTechnicalsOutput {
        symbol,
        current_price: round(technicals.price),
        rsi_14: technicals.rsi_14.map(round),
        sma_50: technicals.sma_50.map(round),
        sma_200: technicals.sma_200.map(round),
        price_vs_sma50_pct: technicals.price_vs_sma50_pct().map(round),
        price_vs_sma200_pct: technicals.price_vs_sma200_pct().map(round),
        currency,
        as_of: day.to_string(),
        days: i32::try_from(technicals.days).unwrap_or(i32::MAX),
    }
}

fn stale(last: NaiveDate, today: NaiveDate) -> Option<String> {
    (today - last > STALE_AFTER).then(|| format!("The last price is of {last}. Trading may be suspended."))
}
