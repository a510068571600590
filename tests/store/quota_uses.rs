//! What is used of limits that each of many users has: read in pages, the fullest first, and by the clock of the state.

use std::time::{Duration, UNIX_EPOCH};

use toolwire::state::{
    Store,
    reservations::{Limit, LimitOfEach, Nanos, Use},
};

use super::user;
use crate::support::state;

const BEGIN: Nanos = 1_800_000_000_000_000_000;
const WINDOW: Nanos = 1_000;

fn limit(group: &str, most: u32) -> LimitOfEach {
    LimitOfEach { group: format!("quota:{group}:calls"), most, window: WINDOW }
}

/// Counts a call of a user under a limit at this many nanoseconds after the beginning, whatever is left of it.
async fn count(store: &Store, limit: &LimitOfEach, id: &str, at: Nanos) {
    store.at_time(UNIX_EPOCH + Duration::from_nanos(BEGIN + at));
    let (name, window) = (limit.name_of(&user(id)), limit.window);
    let any = Limit { name, most: u32::MAX, window, ahead: 0 };
    store.reserve_within(&user(id), &[any]).await.unwrap().unwrap();
}

/// The user, the count, the share and the first instant of each.
fn rows(uses: &[Use]) -> Vec<(&str, u32, u64, Nanos)> {
    uses.iter().map(|it| (it.user.as_str(), it.count, it.share, it.first - BEGIN)).collect()
}

#[tokio::test]
async fn what_counts_is_listed_the_fullest_first_and_what_is_too_old_is_not() {
    let store = state::fresh();
    let (narrow, wide) = (limit("n", 2), limit("w", 10));
    for (limit, id, at) in [
        (&narrow, "old", 0),
        (&narrow, "b", 300),
        (&narrow, "a", 400),
        (&wide, "a", 500),
        (&wide, "corp:c", 600),
    ] {
        count(&store, limit, id, at).await;
    }
    // More than the limit allows, as after it was reduced: two must leave before there is room.
    for at in [700, 800, 900] {
        count(&store, &narrow, "d", at).await;
    }
    // Neither a longer name nor a source is one of the group.
    count(&store, &limit("n:calls2", 1), "z", 950).await;
    count(&store, &LimitOfEach { group: "quota:n:callsX".to_owned(), ..limit("n", 1) }, "z", 960).await;
    store.at_time(UNIX_EPOCH + Duration::from_nanos(BEGIN + WINDOW + 1));
    let limits = [narrow.clone(), wide.clone()];
    let all = store.uses(&limits, None, &user("x"), None, 10).await.unwrap();
    let expected = [
        ("d", 3, 1_500_000, 800),
        ("a", 1, 500_000, 400),
        ("b", 1, 500_000, 300),
        ("a", 1, 100_000, 500),
        ("corp:c", 1, 100_000, 600),
    ];
    assert_eq!(rows(&all), expected);
    let mut behind = None;
    for row in expected {
        let page = store.uses(&limits, None, &user("x"), behind.as_ref(), 1).await.unwrap();
        assert_eq!(rows(&page), [row]);
        behind = Some(page[0].place());
    }
    assert_eq!(store.uses(&limits, None, &user("x"), behind.as_ref(), 1).await.unwrap(), []);
    let one = store.uses(&limits, Some(&user("a")), &user("x"), None, 10).await.unwrap();
    assert_eq!(rows(&one), [("a", 1, 500_000, 400), ("a", 1, 100_000, 500)]);
    assert_eq!(one[1].name, wide.name_of(&user("a")));
    assert_eq!(store.uses(&[], None, &user("x"), None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn any_number_of_limits_is_read() {
    let store = state::fresh();
    let limits: Vec<_> = (0..250).map(|number| limit(&format!("{number:03}"), 1 + number % 7)).collect();
    for (number, limit) in limits.iter().enumerate() {
        count(&store, limit, &format!("u{number:03}"), 0).await;
    }
    let all = store.uses(&limits, None, &user("x"), None, 1_000).await.unwrap();
    assert_eq!(all.len(), 250);
    assert!(all.is_sorted_by_key(Use::place));
    let first = store.uses(&limits, None, &user("x"), None, 9).await.unwrap();
    assert_eq!(first, all[..9]);
    let rest = store.uses(&limits, None, &user("x"), Some(&first[8].place()), 1_000).await.unwrap();
    assert_eq!(rest, all[9..]);
}
