//! Copies of screens, and one scrape a day.

use futures_util::poll;
use toolwire::{
    db::Durability,
    domains::research::store::{
        screens::{Claim, SCRAPE_INTERVAL, ScreenCopy, ScreenedStock, Screens},
        watchlist::WatchOrigin,
    },
    sources::upstream::text::{Identifier, Line},
};

use super::support::{SECOND, instant, state_in, tables_in, tables_in_file, user};

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
    let directory = tempfile::tempdir().unwrap();
    let (state, store) = state_in(directory.path());
    state.at_time(instant());
    let riley = user("riley");
    let until = instant() + SECOND;
    store.refuse_login(&riley, "ab12", SECOND).await.unwrap();
    drop((state, store));
    let (state, store) = state_in(directory.path());
    state.at_time(instant());
    let refused = async |of, login, now| store.login_refused_until(&user(of), login, now).await.unwrap();
    assert_eq!(refused("riley", "ab12", instant()).await, Some(until));
    assert_eq!(refused("riley", "ab12", until).await, None);
    assert_eq!(refused("riley", "cd34", instant()).await, None);
    assert_eq!(refused("other", "ab12", instant()).await, None);

    assert_eq!(store.claim_scrape(&riley, SECOND).await.unwrap(), Claim::Granted(instant()));
    store.release_scrape(&riley, instant() - SECOND).await.unwrap();
    assert!(store.scrape_allowed_at(&riley, instant()).await.unwrap().is_some(), "another's claim stays");
    store.release_scrape(&riley, instant()).await.unwrap();
    assert_eq!(store.claim_scrape(&riley, SECOND).await.unwrap(), Claim::Granted(instant()));
}

#[tokio::test]
async fn a_user_may_scrape_once_in_any_24_hours() {
    let directory = tempfile::tempdir().unwrap();
    let (state, store) = state_in(directory.path());
    state.at_time(instant());
    let riley = user("riley");
    assert_eq!(store.scrape_allowed_at(&riley, instant()).await.unwrap(), None);
    assert_eq!(store.claim_scrape(&riley, SECOND).await.unwrap(), Claim::Granted(instant()));
    drop((state, store));
    let (state, store) = state_in(directory.path());
    let allowed_at = instant() + SCRAPE_INTERVAL;
    let before = allowed_at - SECOND;
    state.at_time(before);
    assert_eq!(
        store.claim_scrape(&riley, SECOND).await.unwrap(),
        Claim::Denied { allowed_at, is_under_way: false }
    );
    assert_eq!(store.scrape_allowed_at(&riley, before).await.unwrap(), Some(allowed_at));
    assert_eq!(store.claim_scrape(&user("other"), SECOND).await.unwrap(), Claim::Granted(before));
    state.at_time(allowed_at);
    assert_eq!(store.claim_scrape(&riley, SECOND).await.unwrap(), Claim::Granted(allowed_at));
    assert_eq!(
        store.scrape_allowed_at(&riley, allowed_at).await.unwrap(),
        Some(allowed_at + SCRAPE_INTERVAL)
    );
}

/// A process that waited, or stood still, before its claim must not shorten the day by that time.
#[tokio::test]
async fn a_claim_counts_from_the_time_of_its_grant() {
    let directory = tempfile::tempdir().unwrap();
    let (state, store) = state_in(directory.path());
    state.at_time(instant());
    let writing = state.change(Durability::Process).await.unwrap();
    let riley = user("riley");
    let mut claim = store.claim_scrape(&riley, SECOND);
    assert!(poll!(&mut claim).is_pending());
    let granted_at = instant() + 60 * SECOND;
    state.at_time(granted_at);
    // Together: they may share a commit.
    let (committed, claimed) = tokio::join!(writing.commit(), claim);
    committed.unwrap();
    assert_eq!(claimed.unwrap(), Claim::Granted(granted_at));
    let allowed_at = store.scrape_allowed_at(&riley, granted_at).await.unwrap();
    assert_eq!(allowed_at, Some(granted_at + SCRAPE_INTERVAL));
    assert_eq!(store.scrape_under_way(&riley, granted_at).await.unwrap(), Some(granted_at + SECOND));
}

#[tokio::test]
async fn a_scrape_is_under_way_until_it_ends_and_no_longer_than_its_deadline() {
    let directory = tempfile::tempdir().unwrap();
    let ((state, store), (other_state, other)) = (state_in(directory.path()), state_in(directory.path()));
    let at = |time| {
        state.at_time(time);
        other_state.at_time(time);
    };
    at(instant());
    let (riley, ends_by) = (user("riley"), instant() + 60 * SECOND);
    let under_way = async |now| other.scrape_under_way(&riley, now).await.unwrap();
    assert_eq!(under_way(instant()).await, None);
    assert_eq!(store.claim_scrape(&riley, 60 * SECOND).await.unwrap(), Claim::Granted(instant()));
    at(instant() + SECOND);
    assert_eq!(under_way(instant() + SECOND).await, Some(ends_by));
    assert_eq!(under_way(ends_by).await, None, "that of a process which was killed ends, too");
    let denied = async || match other.claim_scrape(&riley, 60 * SECOND).await.unwrap() {
        Claim::Denied { is_under_way, .. } => is_under_way,
        Claim::Granted(_) => panic!("there is one a day"),
    };
    assert!(denied().await);
    store.end_scrape(&riley, instant() - SECOND).await.unwrap();
    assert_eq!(under_way(instant() + SECOND).await, Some(ends_by), "it was not this one that ended");
    store.end_scrape(&riley, instant()).await.unwrap();
    assert_eq!(under_way(instant() + SECOND).await, None);
    assert!(!denied().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_processes_at_the_same_instant_one_scrapes() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (tables_in(directory.path()), tables_in(directory.path()));
    for number in 0..20 {
        let user = user(&format!("user-{number}"));
        let claims = tokio::join!(one.claim_scrape(&user, SECOND), other.claim_scrape(&user, SECOND));
        let claims = [claims.0.unwrap(), claims.1.unwrap()];
        let granted = claims.iter().filter(|claim| matches!(claim, Claim::Granted(_))).count();
        assert_eq!(granted, 1, "{claims:?}");
    }
}
