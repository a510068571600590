//! `remove_from_watchlist`: takes a stock out of the user's watch-list.
//!
//! Whatever is there can be removed, known or not; what is not there makes no error.

use super::{
    provenance, required,
    watchlist::{count, unavailable},
};
use crate::{
    clock,
    context::{Required, ToolContext, Unfinished},
    domains::research::proto::v1::{RemoveFromWatchlistOutput, RemoveFromWatchlistRequest},
    domains::research::sources::{universe::normal, watchlist::UserWatchlists},
    tool::{Reply, Tool},
};

/// `remove_from_watchlist`.
#[derive(Clone, Copy, Debug)]
pub struct RemoveFromWatchlist;

impl Tool for RemoveFromWatchlist {
    const NAME: &'static str = "remove_from_watchlist";
    type Input = RemoveFromWatchlistRequest;
    type Output = RemoveFromWatchlistOutput;

    fn services() -> Required {
        Required::none().of::<UserWatchlists>()
    }

    async fn execute(
        &self,
        input: RemoveFromWatchlistRequest,
        context: &ToolContext,
    ) -> Result<Reply<RemoveFromWatchlistOutput>, Unfinished> {
        let symbol = normal(required("symbol", input.symbol.as_deref())?);
        let watchlists = context.services.get::<UserWatchlists>();
        let removed = watchlists.0.remove(&context.user.id, &symbol).await;
        let changed = removed.map_err(|error| unavailable(&error))?;
        let data =
            RemoveFromWatchlistOutput { symbol, removed: changed.did, items_count: count(changed.count) };
        Ok(Reply { data, provenance: provenance("watchlist", clock::wall()) })
    }
}
