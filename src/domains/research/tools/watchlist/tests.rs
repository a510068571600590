//! The tools of the watch-list over one in memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, ready};

use crate::{
    proto::v1 as wire,
    sources::{symbols::Symbols, universe::Universe, watchlist::UserWatchlists},
    store::watchlist::{Changed, MAX_NOTE, WatchOrigin, WatchedStock, Watchlists},
    tools::{AddToWatchlist, BrowseWatchlist, RemoveFromWatchlist},
};
use toolwire_base::clock;
use toolwire_contract::ErrorCode;
use toolwire_sources::upstream::{
    now::Now,
    text::{Line, Passage},
};
use toolwire_store::StoreError;
use toolwire_tool::{
    Tool,
    context::{Services, ToolContext, Unfinished, User, UserId},
};

#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<(UserId, String), WatchedStock>>);

impl Memory {
    fn changed(&self, user: &UserId, did: bool) -> BoxFuture<'static, Result<Changed, StoreError>> {
        let count = self.0.lock().unwrap().keys().filter(|(of, _)| of == user).count();
        Box::pin(ready(Ok(Changed { did, count })))
    }
}

impl Watchlists for Memory {
    fn list<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        let all = self.0.lock().unwrap();
        let own = all.iter().filter(|((of, _), _)| of == user).map(|(_, stock)| stock.clone()).collect();
        drop(all);
        Box::pin(ready(Ok(own)))
    }

    fn screened<'a>(&'a self, _user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        let at = SystemTime::UNIX_EPOCH;
        let stock = WatchedStock {
            symbol: "ITC".to_owned(),
            name: None,
            origin: WatchOrigin::Screener,
            note: None,
            added_at: at,
            updated_at: at,
            cmp: Some((401.5, at)),
        };
        Box::pin(ready(Ok(vec![stock])))
    }

    fn add<'a>(
        &'a self,
        user: &'a UserId,
        symbol: &'a str,
        name: Option<&'a str>,
        note: Option<&'a str>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, StoreError>> {
        let key = (user.clone(), symbol.to_owned());
        let before = self.0.lock().unwrap().get(&key).cloned();
        let stock = WatchedStock {
            symbol: symbol.to_owned(),
            name: name.map(Line::of),
            origin: WatchOrigin::User,
            note: note.map(|note| Passage::of(note, MAX_NOTE)).or_else(|| before.clone()?.note),
            added_at: before.as_ref().map_or(now, |it| it.added_at),
            updated_at: now,
            cmp: None,
        };
        self.0.lock().unwrap().insert(key, stock);
        self.changed(user, before.is_none())
    }

    fn remove<'a>(&'a self, user: &'a UserId, symbol: &'a str) -> BoxFuture<'a, Result<Changed, StoreError>> {
        let removed = self.0.lock().unwrap().remove(&(user.clone(), symbol.to_owned()));
        self.changed(user, removed.is_some())
    }
}

fn services() -> Services {
    let universe = r#"{"recorded_at": "2026-01-16T10:00:00Z", "stocks": [
        {"symbol": "RELIANCE", "name": "Reliance Industries", "sector": "Energy"}]}"#;
    let symbols = Symbols::Known(Arc::new(Universe::parse(universe).unwrap()));
    let watchlists = UserWatchlists { lists: Arc::<Memory>::default(), prices: Now::Wall };
    Services::default().with(Arc::new(symbols)).with(Arc::new(watchlists))
}

fn call_of(user: &str, services: &Services) -> ToolContext {
    let user = User::new(user.parse().unwrap());
    let context = ToolContext::new(user, clock::now() + Duration::from_mins(1));
    ToolContext { services: services.clone(), ..context }
}

fn add(symbol: &str, note: Option<&str>) -> wire::AddToWatchlistRequest {
    wire::AddToWatchlistRequest { symbol: Some(symbol.to_owned()), note: note.map(str::to_owned) }
}

async fn watched(context: &ToolContext) -> Vec<wire::WatchedStock> {
    of_source("user", context).await.items
}

async fn of_source(source: &str, context: &ToolContext) -> wire::BrowseWatchlistOutput {
    let input = wire::BrowseWatchlistRequest { source: Some(source.to_owned()), limit: None };
    BrowseWatchlist.execute(input, context).await.unwrap().data
}

#[tokio::test]
async fn the_users_own_picks_are_shown_and_those_of_screens_when_asked_for() {
    let demo = call_of("demo", &services());
    AddToWatchlist.execute(add("RELIANCE", None), &demo).await.unwrap();
    for (source, expected) in [
        ("user", vec![("RELIANCE", "user")]),
        ("screener", vec![("ITC", "screener")]),
        ("all", vec![("ITC", "screener"), ("RELIANCE", "user")]),
    ] {
        let output = of_source(source, &demo).await;
        let shown: Vec<_> = output.items.iter().map(|it| (it.symbol.as_str(), it.source.as_str())).collect();
        assert_eq!((shown, output.items_count), (expected.clone(), i32::try_from(expected.len()).unwrap()));
    }
    let [screened] = of_source("screener", &demo).await.items.try_into().unwrap();
    assert_eq!((screened.cmp, screened.cmp_at.as_deref()), (Some(401.5), Some("1970-01-01T00:00:00Z")));
}

#[tokio::test]
async fn a_stock_is_added_under_its_exchange_symbol_and_name() {
    let demo = call_of("demo", &services());
    let reply =
        AddToWatchlist.execute(add(" reliance.ns ", Some("wait\u{202e} for\u{0} it")), &demo).await.unwrap();
    let data = reply.data;
    assert_eq!((data.symbol.as_str(), data.added, data.items_count), ("RELIANCE", true, 1));
    let [stock] = watched(&demo).await.try_into().unwrap();
    assert_eq!((stock.source.as_str(), stock.name.as_deref()), ("user", Some("Reliance Industries")));
    assert_eq!(stock.note.as_deref(), Some("wait for it"));
    assert!(stock.added_at.ends_with('Z') && stock.added_at.len() == 20, "{}", stock.added_at);
    let again = AddToWatchlist.execute(add("RELIANCE", None), &demo).await.unwrap().data;
    assert_eq!((again.added, again.items_count), (false, 1));
}

#[tokio::test]
async fn an_unknown_symbol_is_not_added_and_near_ones_are_named() {
    let demo = call_of("demo", &services());
    let error = AddToWatchlist.execute(add("RELIANC", None), &demo).await.unwrap_err();
    let Unfinished::Failed(error) = error else { panic!("{error:?}") };
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.message.contains("Did you mean RELIANCE?"), "{error}");
    assert_eq!(watched(&demo).await, []);
}

#[tokio::test]
async fn what_is_not_watched_can_be_removed_without_an_error() {
    let demo = call_of("demo", &services());
    AddToWatchlist.execute(add("RELIANCE", None), &demo).await.unwrap();
    for expected in [true, false] {
        let input = wire::RemoveFromWatchlistRequest { symbol: Some("reliance".to_owned()) };
        let data = RemoveFromWatchlist.execute(input, &demo).await.unwrap().data;
        assert_eq!((data.symbol.as_str(), data.removed, data.items_count), ("RELIANCE", expected, 0));
    }
}

#[tokio::test]
async fn one_users_list_is_out_of_reach_of_another() {
    let services = services();
    let (demo, riley) = (call_of("demo", &services), call_of("riley", &services));
    AddToWatchlist.execute(add("RELIANCE", Some("secret plan")), &demo).await.unwrap();
    assert_eq!(watched(&riley).await, []);
    let input = wire::RemoveFromWatchlistRequest { symbol: Some("RELIANCE".to_owned()) };
    let data = RemoveFromWatchlist.execute(input, &riley).await.unwrap().data;
    assert_eq!((data.removed, data.items_count), (false, 0));
    assert_eq!(watched(&demo).await.len(), 1);
}
