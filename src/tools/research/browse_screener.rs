//! `browse_screener`: the stocks of one of the user's screens (spec 004 §3.0).
//!
//! Goes round the pipeline's cache: its copies belong to its source, which knows when a refresh is allowed.

use super::{provenance, time};
use crate::{
    context::{ToolContext, Unfinished},
    contract::proto::research::v1::{BrowseScreenerOutput, BrowseScreenerRequest, ScreenedStock},
    sources::screener::{Freshness, Refresh, Screener},
    store::screens,
    tools::tool::{Reply, Tool},
};

/// The primary screen (spec 004 §3.0).
const PRIMARY: &str = "default";

/// `browse_screener`.
#[derive(Clone, Copy, Debug)]
pub struct BrowseScreener;

impl Tool for BrowseScreener {
    const NAME: &'static str = "browse_screener";
    type Input = BrowseScreenerRequest;
    type Output = BrowseScreenerOutput;

    async fn execute(
        &self,
        input: BrowseScreenerRequest,
        context: &ToolContext,
    ) -> Result<Reply<BrowseScreenerOutput>, Unfinished> {
        let screener = context.services.get::<Screener>();
        let screen_id = input.screen_id.as_deref().unwrap_or(PRIMARY);
        let refresh = if input.force_refresh.unwrap_or(false) { Refresh::Force } else { Refresh::IfStale };
        let browsed = screener.browse(screen_id, refresh, context).await?;
        let mut provenance = provenance("screener", screener.as_of(&browsed.copy));
        provenance.warnings = browsed.warnings;
        let age = match browsed.freshness {
            Freshness::Scraped => None,
            Freshness::Kept(age) => Some(age),
        };
        provenance.cached_for = age;
        let stocks: Vec<_> = browsed.copy.stocks.into_iter().map(shown).collect();
        let data = BrowseScreenerOutput {
            screen_name: browsed.copy.name,
            stocks_count: i32::try_from(stocks.len()).unwrap_or(i32::MAX),
            from_cache: age.is_some(),
            cache_age_hours: (age.unwrap_or_default().as_secs_f64() / 36.0).round() / 100.0,
            stocks,
            last_updated: time(browsed.copy.scraped_at),
        };
        Ok(Reply { data, provenance })
    }
}

fn shown(stock: screens::ScreenedStock) -> ScreenedStock {
    let screens::ScreenedStock { symbol, name, cmp, pe, market_cap_cr, roe } = stock;
    ScreenedStock { symbol, name, cmp, pe, market_cap_cr, roe }
}
