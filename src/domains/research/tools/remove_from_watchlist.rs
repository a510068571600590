//! `remove_from_watchlist`: takes a stock out of the user's watch-list.
//!
//! Whatever is there can be removed, known or not; what is not there makes no error.

use super::{
    provenance, required, symbol,
    watchlist::{count, unavailable},
};
use crate::{
    proto::v1::{RemoveFromWatchlistOutput, RemoveFromWatchlistRequest},
    sources::{
        symbols::Symbols,
        universe::{Universe, normal},
        watchlist::UserWatchlists,
    },
};
use toolwire_base::clock;
use toolwire_contract::arguments::Arguments;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct RemoveFromWatchlist;

impl Tool for RemoveFromWatchlist {
    const NAME: &'static str = "remove_from_watchlist";
    type Input = RemoveFromWatchlistRequest;
    type Output = RemoveFromWatchlistOutput;

    fn services() -> Required {
        Required::none().of::<Symbols>().of::<UserWatchlists>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: RemoveFromWatchlistRequest,
        context: &ToolContext,
    ) -> Result<Reply<RemoveFromWatchlistOutput>, Unfinished> {
        let written = required("symbol", input.symbol.as_deref())?;
        symbol::refuse_bse("symbol", written)?;
        let symbols = context.services.get::<Symbols>();
        symbol::refuse_several("symbol", written, symbols.universe())?;
        let symbol = symbol::read("symbol", written, symbols.universe()).unwrap_or_else(|_| normal(written));
        let watchlists = context.services.get::<UserWatchlists>();
        let removed = watchlists.lists.remove(&context.user.id, &symbol).await;
        let changed = removed.map_err(|error| unavailable(&error))?;
        let mut provenance = provenance("watchlist", clock::wall());
        provenance.warnings.extend((!changed.did).then(|| not_watched(&symbol, symbols.universe())));
        let data =
            RemoveFromWatchlistOutput { symbol, removed: changed.did, items_count: count(changed.count) };
        Ok(Reply { data, provenance })
    }
}

fn not_watched(symbol: &str, universe: &Universe) -> String {
    match universe.get(symbol) {
        Some(_) => format!("{symbol} was not on the watch-list."),
        None => format!("Nothing was removed. {}", universe.unknown(symbol)),
    }
}
