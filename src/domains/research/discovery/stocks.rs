//! The known stocks, and how people write of them: made once, for every discovery.

use std::sync::Arc;

use crate::{sources::universe::Universe, tools::Naming};

/// The known stocks, and the names that people write for them.
#[derive(Debug)]
pub(crate) struct Stocks {
    universe: Arc<Universe>,
    pub(super) namings: Vec<Naming>,
}

impl Stocks {
    pub(crate) fn of(universe: Arc<Universe>) -> Self {
        let namings = universe.stocks().map(|stock| Naming::of_stock(stock, &universe)).collect();
        Self { universe, namings }
    }

    /// The name of a company; its symbol if it is not known.
    pub(super) fn name<'a>(&'a self, symbol: &'a str) -> &'a str {
        self.universe.get(symbol).map_or(symbol, |stock| &stock.name)
    }
}
