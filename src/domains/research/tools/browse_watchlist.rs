//! `browse_watchlist`: the stocks that the user watches (spec 004 §2.1).

use super::{
    limited, one_of, provenance, required, time,
    watchlist::{count, unavailable},
};
use crate::{
    clock,
    context::{Required, ToolContext, Unfinished},
    domains::research::proto::v1::{BrowseWatchlistOutput, BrowseWatchlistRequest, WatchedStock},
    domains::research::sources::watchlist::UserWatchlists,
    domains::research::store::watchlist,
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
        input: BrowseWatchlistRequest,
        context: &ToolContext,
    ) -> Result<Reply<BrowseWatchlistOutput>, Unfinished> {
        let word = required("source", input.source.as_deref())?;
        let (own, screened) = one_of("source", word, parts(word))?;
        let watchlists = context.services.get::<UserWatchlists>();
        let mut stocks = Vec::new();
        if own {
            stocks.extend(watchlists.0.list(&context.user.id).await.map_err(|error| unavailable(&error))?);
        }
        if screened {
            stocks
                .extend(watchlists.0.screened(&context.user.id).await.map_err(|error| unavailable(&error))?);
        }
        stocks.sort_by(|one, other| one.symbol.cmp(&other.symbol));
        let mut provenance = provenance("watchlist", clock::wall());
        let items_count = count(stocks.len());
        limited(&mut stocks, input.limit, "stocks", &mut provenance.warnings);
        let items = stocks.into_iter().map(stock_message).collect();
        Ok(Reply { data: BrowseWatchlistOutput { items, items_count }, provenance })
    }
}

/// Whether the user's own picks are meant, and whether those of the screens are.
fn parts(word: &str) -> Option<(bool, bool)> {
    match word {
        "user" => Some((true, false)),
        "screener" => Some((false, true)),
        "all" => Some((true, true)),
        _ => None,
    }
}

fn stock_message(stock: watchlist::WatchedStock) -> WatchedStock {
    let watchlist::WatchedStock { symbol, name, origin, note, added_at, updated_at, cmp } = stock;
    WatchedStock {
        symbol,
        name,
        source: origin.name().to_owned(),
        note,
        added_at: time(added_at),
        updated_at: time(updated_at),
        cmp: cmp.map(|(price, _)| price),
        cmp_at: cmp.map(|(_, at)| time(at)),
    }
}
