//! The connector against the embedded origin, with the settings that go with it.

use super::{
    super::{testing::call_of, *},
    symbols,
};
use crate::sources::{
    embedded,
    screener::testing::{MemoryScreens, OneCoolDown},
    universe::Universe,
};
use toolwire_base::files::Tree;
use toolwire_sources::upstream::{now::Now, testing};

#[tokio::test]
async fn every_screen_of_specification_004_has_stocks_of_the_universe() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/research/universe.json"));
    let universe = Universe::parse(text).unwrap();
    let settings = Settings::embedded(embedded::base("screener"), Now::Recorded(universe.recorded_at()));
    let stores =
        Stores { screens: Arc::<MemoryScreens>::default(), cool_downs: Arc::<OneCoolDown>::default() };
    let sender = embedded::attach(testing::sender(), Tree::Embedded(crate::data::files())).unwrap();
    let client = testing::client_over(PROFILE, sender);
    let screener = Screener::new(client, stores, Arc::<Credentials>::default(), settings);
    for (screen_id, name) in [
        ("default", "Large and steady"),
        ("value_picks", "Value picks"),
        ("small_cap", "Small caps"),
        ("momentum", "Price momentum"),
    ] {
        let browsed = screener.browse(screen_id, Refresh::IfStale, &call_of("demo")).await.unwrap();
        assert_eq!((browsed.copy.name.as_str(), browsed.warnings.len()), (name, 0));
        let unknown: Vec<_> =
            symbols(&browsed).into_iter().filter(|symbol| universe.get(symbol).is_none()).collect();
        assert!(!browsed.copy.stocks.is_empty() && unknown.is_empty(), "{screen_id}: {unknown:?}");
        assert_eq!(screener.as_of(&browsed.copy), universe.recorded_at());
    }
}
