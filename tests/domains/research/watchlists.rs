//! Watch-lists: the tools, and the tables that they stand on.

use serde_json::json;
use toolwire::{
    domains::research::store::{
        screens::{ScreenCopy, ScreenedStock, Screens},
        watchlist::{Changed, WatchOrigin},
    },
    sources::upstream::text::{Identifier, Line},
};

use super::support::{Research, SECOND, data, instant, tables_in, tables_in_file, user};

#[tokio::test]
async fn a_stock_is_watched_under_its_exchange_symbol_and_name_with_a_safe_note() {
    let research = Research::embedded();
    let note = json!({"symbol": " reliance.ns ", "note": "wait\u{202e} for\u{0} it"});
    for (arguments, is_added) in [(note, true), (json!({"symbol": "RELIANCE"}), false)] {
        let added = data(research.call("add_to_watchlist", arguments).await);
        assert_eq!(added, json!({"symbol": "RELIANCE", "added": is_added, "items_count": 1}));
    }
    let watched = data(research.call("browse_watchlist", json!({})).await);
    let stock = &watched["items"][0];
    assert_eq!((&stock["name"], &stock["source"]), (&json!("Reliance Industries"), &json!("user")));
    assert_eq!(stock["note"], "wait for it");
    assert!(stock["added_at"].as_str().is_some_and(|at| at.len() == 20 && at.ends_with('Z')), "{stock}");
    for is_removed in [true, false] {
        let removed = data(research.call("remove_from_watchlist", json!({"symbol": "reliance"})).await);
        assert_eq!(removed, json!({"symbol": "RELIANCE", "removed": is_removed, "items_count": 0}));
    }
}

#[tokio::test]
async fn stocks_are_added_once_changed_and_removed() {
    let (store, directory) = tables_in_file();
    let riley = user("riley");
    let add = async |symbol, name, note, at| store.add(&riley, symbol, name, note, at).await.unwrap();
    assert_eq!(add("TCS", Some("Tata Consultancy"), None, instant()).await, Changed { did: true, count: 1 });
    assert_eq!(add("INFY", None, Some("first"), instant()).await, Changed { did: true, count: 2 });
    assert_eq!(add("INFY", None, Some("second"), instant() + SECOND).await, Changed { did: false, count: 2 });
    assert_eq!(add("INFY", None, None, instant() + 2 * SECOND).await, Changed { did: false, count: 2 });
    drop(store);

    let store = tables_in(directory.path());
    let list = store.list(&riley).await.unwrap();
    let [infy, tcs] = list.as_slice() else { panic!("{list:?}") };
    assert_eq!((infy.symbol.as_str(), infy.note.as_deref()), ("INFY", Some("second")));
    assert_eq!((infy.added_at, infy.updated_at), (instant(), instant() + 2 * SECOND));
    assert_eq!((tcs.name.as_deref(), tcs.cmp), (Some("Tata Consultancy"), None));

    assert_eq!(store.remove(&riley, "INFY").await.unwrap(), Changed { did: true, count: 1 });
    assert_eq!(store.remove(&riley, "INFY").await.unwrap(), Changed { did: false, count: 1 });
}

#[tokio::test]
async fn a_screened_stock_that_the_user_adds_is_a_pick_as_any_other() {
    let (store, _directory) = tables_in_file();
    let riley = user("riley");
    let (symbol, name) = (Identifier::of("TCS"), Line::of("TCS Limited"));
    let stock = ScreenedStock { symbol, name, cmp: 3_400.0, pe: None, market_cap_cr: 1.0, roe: None };
    let copy = ScreenCopy { name: Line::of("Value"), stocks: vec![stock], scraped_at: instant() };
    store.keep(&riley, "value", &copy).await.unwrap();
    let changed = store.add(&riley, "TCS", None, None, instant() + SECOND).await.unwrap();
    assert_eq!(changed, Changed { did: true, count: 1 });
    let list = store.list(&riley).await.unwrap();
    assert_eq!((list[0].origin, list[0].cmp), (WatchOrigin::User, Some((3_400.0, instant()))));
    assert_eq!(list[0].name.as_deref(), Some("TCS Limited"));
    assert!(store.screened(&riley).await.unwrap().is_empty(), "each stock once");
    assert_eq!(store.remove(&riley, "TCS").await.unwrap(), Changed { did: true, count: 0 });
    assert_eq!(store.screened(&riley).await.unwrap().len(), 1, "the screen still has it");
}
