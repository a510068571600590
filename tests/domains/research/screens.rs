//! Copies of screens, and one scrape a day.

use toolwire::{
    domains::research::store::{
        screens::{Claim, SCRAPE_INTERVAL, ScreenCopy, ScreenedStock, Screens},
        watchlist::{WatchOrigin, Watchlists},
    },
    sources::upstream::text::{Identifier, Line},
};

use super::support::{SECOND, instant, tables_in, tables_in_file, user};

fn stock(symbol: &str, cmp: f64) -> ScreenedStock {
    ScreenedStock {
        symbol: Identifier::of(symbol),
        name: Line::of(&format!("{symbol} Limited")),
        cmp,
        pe: None,
        market_cap_cr: 0.1 + 0.2,
        roe: Some(17.3),
    }
}

fn copy(stocks: Vec<ScreenedStock>) -> ScreenCopy {
    ScreenCopy { name: Line::of("Value"), stocks, scraped_at: instant() }
}

#[tokio::test]
async fn a_copy_comes_back_as_it_was_kept_to_its_own_user() {
    let (store, directory) = tables_in_file();
    let first = copy(vec![stock("TCS", 3_456.7), stock("INFY", 1_500.0), stock("ABB", 1.0)]);
    store.keep(&user("a"), "value", &first).await.unwrap();
    let later = copy(vec![stock("WIPRO", 250.5)]);
    store.keep(&user("a"), "growth", &later).await.unwrap();
    assert_eq!(store.copy(&user("b"), "value").await.unwrap(), None);
    assert_eq!(store.copy(&user("a"), "none").await.unwrap(), None);
    drop(store);
    let store = tables_in(directory.path());
    assert_eq!(store.copy(&user("a"), "value").await.unwrap(), Some(first));
    store.keep(&user("a"), "value", &later).await.unwrap();
    assert_eq!(store.copy(&user("a"), "value").await.unwrap(), Some(later));
}

#[tokio::test]
async fn screened_stocks_stand_beside_the_users_picks_with_their_newest_price() {
    let (store, _directory) = tables_in_file();
    let riley = user("riley");
    store.add(&riley, "INFY", None, Some("wait for 1400"), instant()).await.unwrap();
    let scraped = ScreenCopy {
        scraped_at: instant() + SECOND,
        ..copy(vec![stock("INFY", 1_500.0), stock("TCS", 3_400.0)])
    };
    store.keep(&riley, "value", &scraped).await.unwrap();
    let again = ScreenCopy { scraped_at: instant() + 2 * SECOND, ..copy(vec![stock("TCS", 3_500.0)]) };
    store.keep(&riley, "growth", &again).await.unwrap();

    let list = store.list(&riley).await.unwrap();
    let [infy] = list.as_slice() else { panic!("{list:?}") };
    assert_eq!((infy.origin, infy.note.as_deref()), (WatchOrigin::User, Some("wait for 1400")));
    assert_eq!((infy.name.as_deref(), infy.cmp), (Some("INFY Limited"), Some((1_500.0, instant() + SECOND))));
    assert_eq!((infy.added_at, infy.updated_at), (instant(), instant()));
    let screened = store.screened(&riley).await.unwrap();
    let [tcs] = screened.as_slice() else { panic!("{screened:?}") };
    assert_eq!((tcs.origin, tcs.cmp), (WatchOrigin::Screener, Some((3_500.0, instant() + 2 * SECOND))));
    assert!(store.list(&user("other")).await.unwrap().is_empty());
    assert!(store.screened(&user("other")).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_refused_login_is_its_own_and_a_claim_can_be_given_back() {
    let (store, directory) = tables_in_file();
    let riley = user("riley");
    let until = instant() + SECOND;
    store.refuse_login(&riley, "ab12", until).await.unwrap();
    drop(store);
    let store = tables_in(directory.path());
    let refused = async |of, login, now| store.login_refused_until(&user(of), login, now).await.unwrap();
    assert_eq!(refused("riley", "ab12", instant()).await, Some(until));
    assert_eq!(refused("riley", "ab12", until).await, None);
    assert_eq!(refused("riley", "cd34", instant()).await, None);
    assert_eq!(refused("other", "ab12", instant()).await, None);

    assert_eq!(store.claim_scrape(&riley, instant(), instant() + SECOND).await.unwrap(), Claim::Granted);
    store.release_scrape(&riley, instant() - SECOND).await.unwrap();
    assert!(store.scrape_allowed_at(&riley, instant()).await.unwrap().is_some(), "another's claim stays");
    store.release_scrape(&riley, instant()).await.unwrap();
    assert_eq!(store.claim_scrape(&riley, instant(), instant() + SECOND).await.unwrap(), Claim::Granted);
}

#[tokio::test]
async fn a_user_may_scrape_once_in_any_24_hours() {
    let (store, directory) = tables_in_file();
    let riley = user("riley");
    assert_eq!(store.scrape_allowed_at(&riley, instant()).await.unwrap(), None);
    assert_eq!(store.claim_scrape(&riley, instant(), instant() + SECOND).await.unwrap(), Claim::Granted);
    drop(store);
    let store = tables_in(directory.path());
    let allowed_at = instant() + SCRAPE_INTERVAL;
    let before = allowed_at - SECOND;
    assert_eq!(
        store.claim_scrape(&riley, before, before + SECOND).await.unwrap(),
        Claim::Denied { allowed_at, is_under_way: false }
    );
    assert_eq!(store.scrape_allowed_at(&riley, before).await.unwrap(), Some(allowed_at));
    assert_eq!(store.claim_scrape(&user("other"), before, before + SECOND).await.unwrap(), Claim::Granted);
    assert_eq!(store.claim_scrape(&riley, allowed_at, allowed_at + SECOND).await.unwrap(), Claim::Granted);
    assert_eq!(
        store.scrape_allowed_at(&riley, allowed_at).await.unwrap(),
        Some(allowed_at + SCRAPE_INTERVAL)
    );
}

#[tokio::test]
async fn a_scrape_is_under_way_until_it_ends_and_no_longer_than_its_deadline() {
    let (store, directory) = tables_in_file();
    let (riley, ends_by) = (user("riley"), instant() + 60 * SECOND);
    let other = tables_in(directory.path());
    let under_way = async |now| other.scrape_under_way(&riley, now).await.unwrap();
    assert_eq!(under_way(instant()).await, None);
    assert_eq!(store.claim_scrape(&riley, instant(), ends_by).await.unwrap(), Claim::Granted);
    assert_eq!(under_way(instant() + SECOND).await, Some(ends_by));
    assert_eq!(under_way(ends_by).await, None, "that of a process which was killed ends, too");
    let denied = async |now| match other.claim_scrape(&riley, now, ends_by).await.unwrap() {
        Claim::Denied { is_under_way, .. } => is_under_way,
        Claim::Granted => panic!("there is one a day"),
    };
    assert!(denied(instant() + SECOND).await);
    store.end_scrape(&riley, instant() - SECOND, instant() + SECOND).await.unwrap();
    assert_eq!(under_way(instant() + SECOND).await, Some(ends_by), "it was not this one that ended");
    store.end_scrape(&riley, instant(), instant() + SECOND).await.unwrap();
    assert_eq!(under_way(instant() + SECOND).await, None);
    assert!(!denied(instant() + SECOND).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_processes_at_the_same_instant_one_scrapes() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (tables_in(directory.path()), tables_in(directory.path()));
    for number in 0..20 {
        let user = user(&format!("user-{number}"));
        let claims = tokio::join!(
            one.claim_scrape(&user, instant(), instant() + SECOND),
            other.claim_scrape(&user, instant(), instant() + SECOND)
        );
        let claims = [claims.0.unwrap(), claims.1.unwrap()];
        let granted = claims.iter().filter(|claim| **claim == Claim::Granted).count();
        assert_eq!(granted, 1, "{claims:?}");
    }
}
