//! `browse_screener`: the stocks of one of the user's screens.
//!
//! Goes round the pipeline's cache: its copies belong to its source, which knows when a refresh is allowed.

use std::time::{Duration, SystemTime};

use super::{provenance, recorded_warning, time, truncate_list};
use crate::{
    proto::v1::{BrowseScreenerOutput, BrowseScreenerRequest, ScreenedStock},
    sources::{
        india::RUPEES,
        screener::{Freshness, Refresh, ScreenResult, Screener},
    },
    store::screens,
};
use toolwire_contract::Provenance;
use toolwire_telemetry::metric;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

/// The primary screen.
const PRIMARY: &str = "default";

#[derive(Clone, Copy, Debug)]
pub struct BrowseScreener;

impl Tool for BrowseScreener {
    const NAME: &'static str = "browse_screener";
    type Input = BrowseScreenerRequest;
    type Output = BrowseScreenerOutput;

    fn services() -> Required {
        Required::none().of::<Screener>()
    }

    async fn execute(
        &self,
        input: BrowseScreenerRequest,
        context: &ToolContext,
    ) -> Result<Reply<BrowseScreenerOutput>, Unfinished> {
        let screener = context.services.get::<Screener>();
        let screen_id = input.screen_id.as_deref().unwrap_or(PRIMARY);
        let refresh = if input.force_refresh.unwrap_or(false) { Refresh::Force } else { Refresh::IfStale };
        let mut browsed = screener.browse(screen_id, refresh, context).await?;
        metric::cache_lookup(Self::NAME, browsed.freshness != Freshness::Scraped);
        browsed.warnings.extend(recorded_warning(screener.recorded_at()));
        let as_of = screener.as_of(&browsed.copy);
        Ok(reply(browsed, input.limit, as_of))
    }
}

fn reply(browsed: ScreenResult, limit: Option<i32>, as_of: SystemTime) -> Reply<BrowseScreenerOutput> {
    let ScreenResult { copy, freshness, warnings } = browsed;
    let age = match freshness {
        Freshness::Scraped => None,
        Freshness::Kept(age) => Some(age),
    };
    let mut stocks: Vec<_> = copy.stocks.into_iter().map(stock_message).collect();
    let stocks_count = i32::try_from(stocks.len()).unwrap_or(i32::MAX);
    let mut provenance = Provenance { cached_for: age, warnings, ..provenance("screener", as_of) };
    truncate_list(&mut stocks, limit, "stocks", &mut provenance);
    let data = BrowseScreenerOutput {
        screen_name: copy.name.into(),
        stocks_count,
        currency: RUPEES.to_owned(),
        from_cache: age.is_some(),
        cache_age_hours: hours(age.unwrap_or_default()),
        stocks,
        last_updated: time(as_of),
    };
    Reply { data, provenance }
}

/// Hours to two decimals, which is half a minute.
fn hours(age: Duration) -> f64 {
    (age.as_secs_f64() / 36.0).round() / 100.0
}

fn stock_message(stock: screens::ScreenedStock) -> ScreenedStock {
    let screens::ScreenedStock { symbol, name, cmp, pe, market_cap_cr, roe } = stock;
    ScreenedStock { symbol: symbol.into(), name: name.into(), cmp, pe, market_cap_cr, roe }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::screens::ScreenCopy;
    use toolwire_sources::upstream::text::{Identifier, Line};

    /// 2026-01-16T10:00:00Z, in seconds of Unix time.
    #[allow(clippy::duration_suboptimal_units, reason = "Unix time is in seconds")]
    const RECORDED: Duration = Duration::from_secs(1_768_557_600);

    fn replied(freshness: Freshness, warnings: Vec<String>) -> Reply<BrowseScreenerOutput> {
        let scraped_at = SystemTime::UNIX_EPOCH + RECORDED;
        let stock = screens::ScreenedStock {
            symbol: Identifier::of("TCS"),
            name: Line::of("Tata Consultancy Services"),
            cmp: 3000.5,
            pe: None,
            market_cap_cr: 1_085_000.0,
            roe: Some(52.4),
        };
        let copy = ScreenCopy { name: Line::of("Value picks"), stocks: vec![stock], scraped_at };
        reply(ScreenResult { copy, freshness, warnings }, None, scraped_at - Duration::from_hours(1))
    }

    #[test]
    fn a_copy_says_that_it_is_one_and_how_old() {
        let warnings = vec!["stale".to_owned()];
        let reply = replied(Freshness::Kept(Duration::from_mins(90)), warnings.clone());
        assert!(reply.data.from_cache);
        assert!((reply.data.cache_age_hours - 1.5).abs() < f64::EPSILON);
        assert_eq!(reply.data.last_updated, "2026-01-16T09:00:00Z", "that of the prices");
        assert_eq!(reply.data.stocks_count, 1);
        let Provenance { source_ids, as_of, cached_for, warnings: told, .. } = reply.provenance;
        assert_eq!((source_ids, as_of.as_str()), (vec!["tool:screener:v1".to_owned()], "2026-01-16"));
        assert_eq!((cached_for, told), (Some(Duration::from_mins(90)), warnings));
    }

    #[test]
    fn what_was_scraped_for_the_call_is_no_copy() {
        let reply = replied(Freshness::Scraped, Vec::new());
        assert!(!reply.data.from_cache && reply.provenance.cached_for.is_none());
        let stock = &reply.data.stocks[0];
        assert_eq!((stock.symbol.as_str(), stock.pe, stock.roe), ("TCS", None, Some(52.4)));
    }
}
