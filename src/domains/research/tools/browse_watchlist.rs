//! `browse_watchlist`: the stocks that the user watches (spec 004 §2.1).

use super::{provenance, time, watchlist::unavailable};
use crate::{
    clock,
    context::{Required, ToolContext, Unfinished},
    domains::research::proto::v1::{BrowseWatchlistOutput, BrowseWatchlistRequest, WatchedStock},
    domains::research::sources::watchlist::UserWatchlists,
    domains::research::store::watchlist::{self, WatchOrigin},
    tool::{Reply, Tool},
};

/// `browse_watchlist`.
#[derive(Clone, Copy, Debug)]
pub struct BrowseWatchlist;

impl Tool for BrowseWatchlist {
    const NAME: &'static str = "browse_watchlist";
    type Input = BrowseWatchlistRequest;
    type Output = BrowseWatchlistOutput;

    fn services() -> Required {
        Required::none().of::<UserWatchlists>()
    }

    async fn execute(
        &self,
        _input: BrowseWatchlistRequest,
        context: &ToolContext,
    ) -> Result<Reply<BrowseWatchlistOutput>, Unfinished> {
        let watchlists = context.services.get::<UserWatchlists>();
        let watched = watchlists.0.list(&context.user.id).await.map_err(|error| unavailable(&error))?;
        let items = watched.into_iter().map(stock_message).collect();
        let provenance = provenance("watchlist", clock::wall());
        Ok(Reply { data: BrowseWatchlistOutput { items }, provenance })
    }
}

fn stock_message(stock: watchlist::WatchedStock) -> WatchedStock {
    let watchlist::WatchedStock { symbol, name, origin, note, added_at, updated_at, cmp } = stock;
    let source = match origin {
        WatchOrigin::User => "user",
        WatchOrigin::Screener => "screener",
    };
    WatchedStock {
        symbol,
        name,
        source: source.to_owned(),
        note,
        added_at: time(added_at),
        updated_at: time(updated_at),
        cmp,
    }
}
