//! The status of sources, over a limiter and cool-downs that each test sets.

use std::time::UNIX_EPOCH;

use futures_util::future::ready;
use tokio::time::Instant;

use super::*;
use crate::upstream::limiter::{Budgets, Permit, Refused, Usage};
use toolwire_contract::ErrorCode;
use toolwire_state::{MemoryCoolDowns, Store, hold_offs::HoldOff};

const BUDGET: Budget =
    Budget { max_requests: 12, window: Duration::from_mins(1), min_delay: Duration::from_secs(5) };

/// Limits `forum` and nothing else; every caller waits for three seconds there.
#[derive(Debug)]
struct Waiting;

impl Limiter for Waiting {
    fn acquire<'a>(
        &'a self,
        _: &'a str,
        _: &'a UserId,
        _: Instant,
        _: &'a (dyn Fn(Duration) + Send + Sync),
    ) -> BoxFuture<'a, Result<Permit, Refused>> {
        unreachable!("a look reserves nothing")
    }

    fn give_back(&self, _: &str, _: &UserId, _: Permit) {}

    fn usage<'a>(&'a self, source: &'a str, _: &'a UserId) -> BoxFuture<'a, Usage> {
        let limited = Usage { wait: Duration::from_secs(3), of_user: 12, of_all: 40 };
        Box::pin(ready(if source == "forum" { limited } else { Usage::default() }))
    }

    fn budgets(&self, source: &str) -> Option<Budgets> {
        let ceiling = Budget { max_requests: 100, ..BUDGET };
        (source == "forum").then_some(Budgets { per_user: BUDGET, ceiling })
    }
}

/// One cool-down of a source, for all users.
async fn cooling(source: &str, until: SystemTime) -> MemoryCoolDowns {
    let (cool_downs, reason) = (MemoryCoolDowns::default(), "Board refuses to serve us.".to_owned());
    cool_downs.begin(source, None, &CoolDown { code: ErrorCode::Blocked, reason, until }).await.unwrap();
    cool_downs
}

fn limits(cool_downs: impl CoolDowns + 'static) -> Limits {
    Limits::new(Arc::new(Waiting), Arc::new(cool_downs), Vec::new())
}

async fn of(limits: &Limits, source: &str) -> SourceStatus {
    limits.status(&"demo".parse().unwrap(), source).await
}

#[tokio::test]
async fn the_wait_and_the_budget_are_the_limiters() {
    let limits = limits(cooling("board", UNIX_EPOCH).await);
    let status = of(&limits, "forum").await;
    assert_eq!(status.wait_time, Duration::from_secs(3));
    assert!(!status.can_make_request());
    assert_eq!(status.budget, Some(BUDGET), "the user's, not the ceiling");
    let ceiling = Budget { max_requests: 100, ..BUDGET };
    assert_eq!((status.used, status.ceiling), (12, Some((ceiling, 40))));
    assert_eq!(of(&limits, "files").await, SourceStatus::default());
}

#[tokio::test]
async fn a_cool_down_is_waited_for() {
    let until = clock::wall() + Duration::from_hours(1);
    let status = of(&limits(cooling("board", until).await), "board").await;
    assert_eq!(status.cool_down_until, Some(until));
    assert!(status.wait_time > Duration::from_mins(50) && !status.can_make_request(), "{status:?}");
}

#[tokio::test]
async fn a_refused_source_says_why_and_until_when() {
    let until = UNIX_EPOCH + Duration::from_hours(1_139_568);
    let refused = limits(cooling("board", until).await).cool_downs().await.unwrap();
    let expected = "Board refuses to serve us. It is left alone until 2100-01-01T00:00:00Z.";
    assert_eq!(refused, BTreeMap::from([("board".to_owned(), expected.to_owned())]));
}

#[tokio::test]
async fn cool_downs_that_cannot_be_read_bar_no_request_and_are_an_error_to_the_operator() {
    let limits = limits(Store::unavailable("no home"));
    assert!(of(&limits, "board").await.can_make_request());
    assert!(limits.cool_downs().await.is_err());
}

#[tokio::test]
async fn a_pause_that_a_source_asked_for_says_until_when_and_why() {
    let hold_offs = Arc::new(MemoryHoldOffs::default());
    let limits = limits(cooling("files", UNIX_EPOCH).await).with_hold_offs(Arc::clone(&hold_offs) as _);
    let until = clock::wall() + Duration::from_mins(50);
    let pause = |who: &str| HoldOff { reason: format!("{who} asked for a pause."), until };
    hold_offs.begin("board/attic", &pause("The Attic")).await.unwrap();
    let at = clock::rfc3339(until);
    let (part, others) = (of(&limits, "board").await, of(&limits, "forum").await);
    let expected = format!(
        "The Attic asked for a pause. It is asked again from {at} on (in 50 min). Other requests to this source go on."
    );
    assert!(part.can_make_request() && part.reason == Some(expected), "{part:?}");
    assert_eq!(others.reason, None);
    hold_offs.begin("board", &pause("Board")).await.unwrap();
    let whole = of(&limits, "board").await;
    let expected = format!("Board asked for a pause. It is asked again from {at} on (in 50 min).");
    assert_eq!(whole.reason, Some(expected));
    assert!(whole.wait_time > Duration::from_mins(49) && whole.cool_down_until.is_none(), "{whole:?}");
}

#[tokio::test]
async fn a_part_that_refuses_us_is_named_beside_the_source_that_goes_on() {
    let until = UNIX_EPOCH + Duration::from_hours(1_139_568);
    let status = of(&limits(cooling("board/attic", until).await), "board").await;
    let reason = status.reason.clone().unwrap();
    assert!(status.can_make_request() && status.cool_down_until.is_none(), "{status:?}");
    assert!(reason.contains("It is asked again from 2100-01-01T00:00:00Z on"), "{reason}");
}
