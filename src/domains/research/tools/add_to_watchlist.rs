//! `add_to_watchlist`: puts a stock into the user's watch-list.

use super::{
    provenance, required, symbol,
    watchlist::{count, unavailable},
};
use crate::{
    proto::v1::{AddToWatchlistOutput, AddToWatchlistRequest},
    sources::{symbols::Symbols, watchlist::UserWatchlists},
    store::watchlist::MAX_NOTE,
};
use toolwire_base::clock;
use toolwire_contract::{ToolError, arguments::Arguments};
use toolwire_sources::upstream::text::Passage;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct AddToWatchlist;

impl Tool for AddToWatchlist {
    const NAME: &'static str = "add_to_watchlist";
    type Input = AddToWatchlistRequest;
    type Output = AddToWatchlistOutput;

    fn services() -> Required {
        Required::none().of::<Symbols>().of::<UserWatchlists>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: AddToWatchlistRequest,
        context: &ToolContext,
    ) -> Result<Reply<AddToWatchlistOutput>, Unfinished> {
        let symbols = context.services.get::<Symbols>();
        let written = required("symbol", input.symbol.as_deref())?;
        let symbol = symbol::read("symbol", written, symbols.universe())?;
        let name = symbols.name(&symbol).map_err(ToolError::not_found)?;
        let note = input.note.map(|note| Passage::of(&note, MAX_NOTE)).filter(|note| !note.is_empty());
        let watchlists = context.services.get::<UserWatchlists>();
        let now = clock::wall();
        let added = watchlists.lists.add(&context.user.id, &symbol, name, note.as_deref(), now).await;
        let changed = added.map_err(|error| unavailable(&error))?;
        let data = AddToWatchlistOutput { symbol, added: changed.did, items_count: count(changed.count) };
        Ok(Reply { data, provenance: provenance("watchlist", now) })
    }
}
