//! A scrape that another process has under way is waited for, and its copy is the answer.

use super::{
    super::testing::{DAY, Fixture, call_of, copy},
    *,
};
use crate::store::screens::{Claim, Screens};
use toolwire_contract::Event;
use toolwire_tool::context::{EventSink, UserId};

fn demo() -> UserId {
    "demo".parse().unwrap()
}

/// Another process begins the scrape of the day, which ends within this time: when it did.
async fn begun_elsewhere(fixture: &Fixture, time: Duration) -> std::time::SystemTime {
    match fixture.screens.claim_scrape(&demo(), time).await.unwrap() {
        Claim::Granted(at) => at,
        denied @ Claim::Denied { .. } => panic!("{denied:?}"),
    }
}

#[tokio::test]
async fn what_the_other_process_brings_is_the_answer_and_the_wait_is_told() {
    for refresh in [Refresh::IfStale, Refresh::Force] {
        let fixture = full_site().await;
        fixture.screens.put("demo", "default", copy(2 * DAY));
        let claimed_at = begun_elsewhere(&fixture, Duration::from_mins(1)).await;
        let (events, mut heard) = EventSink::speaking();
        let context = ToolContext { events, ..call_of("demo") };
        let browsed = fixture.screener.browse("default", refresh, &context);
        let other = async {
            let told = heard.recv().await;
            let Some(Event::Progress { message, .. }) = told else { panic!("{told:?}") };
            assert_eq!(message, "Waiting at most 60 s for another process that reads Screener.in…");
            fixture.screens.put("demo", "default", copy(Duration::ZERO));
            fixture.screens.end_scrape(&demo(), claimed_at).await.unwrap();
        };
        let (browsed, ()) = join(browsed, other).await;
        let browsed = browsed.unwrap();
        assert_eq!((symbols(&browsed), browsed.warnings.len()), (vec!["OLD"], 0), "{browsed:?}");
        assert!(matches!(browsed.freshness, Freshness::Kept(age) if age < DAY));
        assert_eq!(fixture.requests().await.len(), 0);
    }
}

#[tokio::test]
async fn a_scrape_that_the_other_process_gave_back_is_done_here() {
    let fixture = full_site().await;
    let claimed_at = begun_elsewhere(&fixture, Duration::from_mins(1)).await;
    let (events, mut heard) = EventSink::speaking();
    let context = ToolContext { events, ..call_of("demo") };
    let other = async {
        heard.recv().await.expect("it waits");
        fixture.screens.release_scrape(&demo(), claimed_at).await.unwrap();
    };
    let (browsed, ()) = join(fixture.screener.browse("default", Refresh::IfStale, &context), other).await;
    assert_eq!(browsed.unwrap().freshness, Freshness::Scraped);
}

#[tokio::test]
async fn a_process_that_was_killed_is_waited_for_until_the_deadline_of_its_scrape() {
    let fixture = full_site().await;
    fixture.screens.put("demo", "default", copy(2 * DAY));
    begun_elsewhere(&fixture, Duration::from_millis(50)).await;
    let kept = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    assert!(kept.warnings[0].contains("at most once a day"), "{:?}", kept.warnings);
    assert_eq!(fixture.requests().await.len(), 0, "it may have asked the site");
}

#[tokio::test]
async fn the_wait_leaves_the_call_time_to_return_the_copy() {
    let fixture = full_site().await;
    fixture.screens.put("demo", "default", copy(2 * DAY));
    begun_elsewhere(&fixture, Duration::from_hours(1)).await;
    let context = in_time(Duration::from_millis(500));
    let kept = fixture.screener.browse("default", Refresh::IfStale, &context).await.unwrap();
    assert!(kept.warnings[0].contains("TIMEOUT"), "{:?}", kept.warnings);
    assert_eq!(fixture.requests().await.len(), 0);
}

#[tokio::test]
async fn a_scrape_that_ended_is_not_waited_for_whatever_came_of_it() {
    let done = full_site().await;
    done.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    let broken = Fixture::serving(&[]).await;
    broken.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap_err();
    for fixture in [done, broken] {
        assert_eq!(fixture.screens.scrape_under_way(&demo(), clock::wall()).await.unwrap(), None);
        assert!(fixture.screens.is_spent("demo"));
    }
}
