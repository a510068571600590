//! Discover: the stocks that are named in what was browsed, ranked. What the user holds is not suggested.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{browse::Ideas, request::IdeaSource, stocks::Stocks};
use crate::tools::mentions;
use toolwire_base::offload;

/// A stock to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) symbol: String,
    /// The company; the symbol if it is not known.
    pub(super) name: String,
    /// Where it was named.
    pub(super) found_in: BTreeSet<IdeaSource>,
}

/// How a stock was named.
#[derive(Clone, Debug, Default)]
struct Mentions {
    places: BTreeSet<IdeaSource>,
    times: usize,
}

/// The first candidates: the watch-list's before others, then by how many sources name them, then by how often.
pub(super) async fn pick(stocks: &Arc<Stocks>, browsed: &Ideas, most: usize) -> Vec<Candidate> {
    let mut named: BTreeMap<String, Mentions> = BTreeMap::new();
    for (place, symbol) in browsed.symbols.iter().cloned().chain(in_texts(stocks, browsed).await) {
        let named = named.entry(symbol).or_default();
        named.places.insert(place);
        named.times += 1;
    }
    named.retain(|symbol, _| !browsed.held.contains(symbol));
    let mut ranked: Vec<_> = named.into_iter().collect();
    // Stable: those that are equal stay in order of symbol.
    ranked.sort_by_key(|(_, named)| {
        let is_watched = named.places.contains(&IdeaSource::Watchlist);
        (Reverse(is_watched), Reverse(named.places.len()), Reverse(named.times))
    });
    let candidate = |(symbol, named): (String, Mentions)| {
        let known = stocks.name(&symbol);
        let name =
            if known == symbol { browsed.names.get(&symbol).map_or(known, String::as_str) } else { known };
        Candidate { name: name.to_owned(), symbol, found_in: named.places }
    };
    ranked.into_iter().take(most).map(candidate).collect()
}

async fn in_texts(stocks: &Arc<Stocks>, browsed: &Ideas) -> Vec<(IdeaSource, String)> {
    let (stocks, texts) = (Arc::clone(stocks), browsed.texts.clone());
    // Each is looked for by the name of every known stock.
    let work = texts.iter().map(|(_, text)| text.len()).sum::<usize>() * stocks.namings.len();
    let found = move || {
        let of = |(place, text): &(IdeaSource, String)| {
            let named = stocks.namings.iter().filter(|naming| mentions(naming, text));
            named
                .filter_map(|naming| naming.symbol.clone())
                .map(|symbol| (*place, symbol))
                .collect::<Vec<_>>()
        };
        texts.iter().flat_map(of).collect()
    };
    offload::if_large(work, found).await
}

/// The message that lists the candidates.
pub(super) fn words(candidates: &[Candidate]) -> String {
    let symbols: Vec<_> = candidates.iter().map(|it| it.symbol.as_str()).collect();
    match symbols.as_slice() {
        [] => "No stocks to look at were found".to_owned(),
        symbols => format!("Found {}", symbols.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::universe::Universe;

    async fn picked(browsed: &Ideas, most: usize) -> Vec<(String, usize)> {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/research/universe.json"));
        let stocks = Arc::new(Stocks::of(Arc::new(Universe::parse(text).unwrap())));
        let picked = pick(&stocks, browsed, most).await;
        picked.into_iter().map(|it| (it.symbol, it.found_in.len())).collect()
    }

    fn listed(place: IdeaSource, symbol: &str) -> (IdeaSource, String) {
        (place, symbol.to_owned())
    }

    #[tokio::test]
    async fn the_watch_list_comes_first_and_what_is_held_not_at_all() {
        let browsed = Ideas {
            held: ["TCS".to_owned()].into(),
            symbols: vec![
                listed(IdeaSource::Screener, "INFY"),
                listed(IdeaSource::Watchlist, "WIPRO"),
                listed(IdeaSource::Screener, "TCS"),
            ],
            texts: vec![
                (IdeaSource::News, "Infosys wins, Reliance Industries too".to_owned()),
                (IdeaSource::Reddit, "Why is RELIANCE falling? reliance!".to_owned()),
                (IdeaSource::Valuepickr, "Tata Consultancy Services: the long run".to_owned()),
            ],
            ..Ideas::default()
        };
        let all = picked(&browsed, 9).await;
        let wanted = [("WIPRO", 1), ("INFY", 2), ("RELIANCE", 2)];
        assert_eq!(all, wanted.map(|(symbol, places)| (symbol.to_owned(), places)));
        assert_eq!(picked(&browsed, 1).await.len(), 1);
        assert_eq!(picked(&Ideas::default(), 9).await, []);
    }
}
