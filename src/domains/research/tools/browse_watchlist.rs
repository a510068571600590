//! `browse_watchlist`: the stocks that the user watches.

use super::{
    one_of, provenance, required, time, truncate_list,
    watchlist::{count, unavailable},
};
use crate::{
    proto::v1::{BrowseWatchlistOutput, BrowseWatchlistRequest, WatchedStock},
    sources::watchlist::UserWatchlists,
    store::watchlist::{self, WatchOrigin},
};
use toolwire_base::clock;
use toolwire_sources::upstream::now::Now;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

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
            stocks
                .extend(watchlists.lists.list(&context.user.id).await.map_err(|error| unavailable(&error))?);
        }
        if screened {
            stocks.extend(
                watchlists.lists.screened(&context.user.id).await.map_err(|error| unavailable(&error))?,
            );
        }
        stocks.sort_by(|one, other| one.symbol.cmp(&other.symbol));
        let mut provenance = provenance("watchlist", clock::wall());
        let items_count = count(stocks.len());
        if stocks.is_empty() {
            let (warning, advice) = nothing(word);
            provenance.warnings.push(warning.to_owned());
            provenance.advice.push(advice.to_owned());
        }
        truncate_list(&mut stocks, input.limit, "stocks", &mut provenance);
        let items = stocks.into_iter().map(|stock| stock_message(stock, watchlists.prices)).collect();
        Ok(Reply { data: BrowseWatchlistOutput { items, items_count }, provenance })
    }
}

/// Whether the user's own picks are included, and whether those of the screens are.
fn parts(word: &str) -> Option<(bool, bool)> {
    match word {
        "user" => Some((true, false)),
        "screener" => Some((false, true)),
        "all" => Some((true, true)),
        _ => None,
    }
}

/// The warning of an empty list, and what a model can do about it.
fn nothing(source: &str) -> (&'static str, &'static str) {
    match source {
        "screener" => ("The user's screens hold nothing yet.", "Read a screen with browse_screener."),
        "all" => (
            "The watch-list is empty, and the user's screens hold nothing yet.",
            "Add stocks with add_to_watchlist, or read a screen with browse_screener.",
        ),
        _ => (
            "The watch-list is empty.",
            "Add stocks with add_to_watchlist, or see what the user's screens hold with source=screener.",
        ),
    }
}

fn stock_message(stock: watchlist::WatchedStock, prices: Now) -> WatchedStock {
    let watchlist::WatchedStock { symbol, name, origin, note, added_at, updated_at, cmp } = stock;
    // What a screen says has one time, that of its data.
    let at = |at| match origin {
        WatchOrigin::User => time(at),
        WatchOrigin::Screener => time(prices.of_data_read(at)),
    };
    WatchedStock {
        symbol,
        name: name.map(Into::into),
        source: origin.into_str().to_owned(),
        note: note.map(Into::into),
        added_at: at(added_at),
        updated_at: at(updated_at),
        cmp: cmp.map(|(price, _)| price),
        cmp_at: cmp.map(|(_, at)| time(prices.of_data_read(at))),
    }
}
