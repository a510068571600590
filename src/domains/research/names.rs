//! What users call stocks: their symbols and the names of their companies. Short forms are in the lexicon.

use std::sync::Arc;

use super::{sources::universe::Universe, tools::ORDINARY};
use toolwire_agent_api::{Name, Names, Vocabulary};
use toolwire_tool::context::{Services, UserId};

/// The kind of these names: the `of` of manifests.
const MARKET: &str = "market";

/// How each exchange writes a symbol: what stands before and behind it.
const EXCHANGES: [(&str, &str); 4] = [("", ".NS"), ("", ".BO"), ("NSE:", ""), ("BSE:", "")];

/// Shorter symbols are words or letters too.
const MIN_LENGTH: usize = 3;

/// The words and names of the domain.
pub(super) fn vocabulary() -> Vocabulary {
    Vocabulary { lexicon: Some(include_str!("data/research/lexicon.json")), names, ..Vocabulary::default() }
}

fn names(services: &Services) -> Vec<Arc<dyn Names>> {
    vec![Arc::new(Stocks::of(&services.get::<Universe>()))]
}

/// The known stocks, the same for all users.
#[derive(Debug)]
struct Stocks(Arc<[Name]>);

impl Stocks {
    fn of(universe: &Universe) -> Self {
        let names = universe.stocks().flat_map(|stock| {
            let name = |text: &str, is_a_word| Name {
                text: text.to_owned(),
                value: stock.symbol.clone(),
                of: MARKET.to_owned(),
                is_a_word,
            };
            let is_a_word = |text: &str| ORDINARY.iter().any(|word| word.eq_ignore_ascii_case(text));
            let symbol = name(&stock.symbol, stock.symbol.len() < MIN_LENGTH || is_a_word(&stock.symbol));
            let of_exchanges =
                EXCHANGES.map(|(before, behind)| name(&format!("{before}{}{behind}", stock.symbol), false));
            [symbol, name(&stock.name, is_a_word(&stock.name))].into_iter().chain(of_exchanges)
        });
        Self(names.collect())
    }
}

impl Names for Stocks {
    fn of(&self, _user: &UserId) -> Arc<[Name]> {
        Arc::clone(&self.0)
    }
}
