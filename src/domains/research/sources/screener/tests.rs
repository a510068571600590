//! The whole connector against a site of our own: what it asks, what it keeps, what it falls back to.

mod embedded_origin;
mod failures;
mod scrape_wait;

use std::time::Duration;

use futures_util::future::join;
use tokio::select;
use wiremock::ResponseTemplate;

use super::{
    testing::{DAY, Fixture, call_of, copy, html},
    *,
};
use toolwire_base::clock;
use toolwire_contract::Event;
use toolwire_state::cool_downs::CoolDown;

const DEFAULT: &str = "screens/101/default/";
const OTHERS: [&str; 3] = ["screens/102/value-picks/", "screens/103/small-cap/", "screens/104/momentum/"];

/// Every screen of the embedded catalogue, of one page each but the first.
async fn full_site() -> Fixture {
    let first: &[&[&str]] = &[&["TCS", "INFY"], &["WIPRO"]];
    let one: &[&[&str]] = &[&["ITC"]];
    Fixture::serving(&[(DEFAULT, first), (OTHERS[0], one), (OTHERS[1], one), (OTHERS[2], one)]).await
}

/// A call with this much time.
fn in_time(time: Duration) -> ToolContext {
    let context = call_of("demo");
    ToolContext { deadline: context.deadline.no_later_than(clock::now() + time), ..context }
}

fn symbols(browsed: &ScreenResult) -> Vec<&str> {
    browsed.copy.stocks.iter().map(|stock| stock.symbol.as_str()).collect()
}

#[tokio::test]
async fn a_first_call_scrapes_every_screen_in_one_session_as_a_browser_would() {
    let fixture = full_site().await;
    let browsed = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    assert_eq!(symbols(&browsed), ["TCS", "INFY", "WIPRO"]);
    assert_eq!((browsed.freshness, browsed.warnings.len()), (Freshness::Scraped, 0));
    assert_eq!(browsed.copy.name, "Screen of 3");
    assert_eq!(fixture.screens.ids("demo"), ["default", "momentum", "small_cap", "value_picks"]);

    let requests = fixture.requests().await;
    let asked: Vec<_> = requests
        .iter()
        .map(|it| format!("{} {}", it.method, it.url.path().trim_start_matches("/screener/")))
        .collect();
    let pages = [DEFAULT, DEFAULT, OTHERS[0], OTHERS[1], OTHERS[2]].map(|at| format!("GET {at}"));
    assert_eq!(asked[..2], ["GET login/", "POST login/"]);
    assert_eq!(asked[2..], pages);
    assert_eq!(
        String::from_utf8_lossy(&requests[1].body),
        "csrfmiddlewaretoken=t0&next=&username=riley%40example.com&password=s3cret-word"
    );
    let agents: Vec<_> = requests.iter().map(|it| it.headers["user-agent"].to_str().unwrap()).collect();
    assert!(agents[0].contains("Chrome/") && agents.iter().all(|agent| *agent == agents[0]), "{agents:?}");
}

#[tokio::test]
async fn a_fresh_copy_makes_no_request_whichever_screen_of_the_scrape_it_is() {
    let fixture = full_site().await;
    fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    let before = fixture.requests().await.len();
    for screen_id in ["default", "momentum"] {
        let kept = fixture.screener.browse(screen_id, Refresh::IfStale, &call_of("demo")).await.unwrap();
        assert!(matches!(kept.freshness, Freshness::Kept(_)), "{kept:?}");
        assert_eq!(kept.warnings, [""; 0]);
    }
    assert_eq!(fixture.requests().await.len(), before);
}

#[tokio::test]
async fn a_copy_is_fresh_for_a_day() {
    let fixture = full_site().await;
    fixture.screens.put("demo", "default", copy(DAY.checked_sub(Duration::from_mins(1)).unwrap()));
    let kept = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    assert_eq!(symbols(&kept), ["OLD"]);
    fixture.screens.put("demo", "default", copy(DAY + Duration::from_mins(1)));
    let scraped = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    assert_eq!(scraped.freshness, Freshness::Scraped);
}

#[tokio::test]
async fn a_fresh_copy_is_scraped_again_when_forced_but_only_once_a_day() {
    let fixture = full_site().await;
    fixture.screens.put("demo", "default", copy(Duration::from_hours(1)));
    let forced = fixture.screener.browse("default", Refresh::Force, &call_of("demo")).await.unwrap();
    assert_eq!((forced.freshness, symbols(&forced).len()), (Freshness::Scraped, 3));

    let before = fixture.requests().await.len();
    let again = fixture.screener.browse("default", Refresh::Force, &call_of("demo")).await.unwrap();
    assert!(matches!(again.freshness, Freshness::Kept(_)));
    assert_eq!(symbols(&again), ["TCS", "INFY", "WIPRO"]);
    assert!(again.warnings[0].contains("a refresh is allowed from 2"), "{:?}", again.warnings);
    assert_eq!(fixture.requests().await.len(), before);
}

#[tokio::test]
async fn without_a_copy_and_without_a_scrape_left_the_call_is_told_when() {
    let fixture = Fixture::empty().await;
    fixture.screens.spend("demo", clock::wall() - Duration::from_hours(23));
    let error = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::RateLimited);
    assert!(error.retryable && error.message.contains("at most once a day"), "{error}");
    let retry_after = error.retry_after.unwrap();
    assert!(
        retry_after <= Duration::from_hours(1) && retry_after > Duration::from_mins(59),
        "{retry_after:?}"
    );
    assert_eq!(fixture.requests().await.len(), 0);
}

#[tokio::test]
async fn one_broken_screen_does_not_cost_the_others() {
    let fixture =
        Fixture::serving(&[(OTHERS[0], &[&["ITC"]]), (OTHERS[1], &[]), (OTHERS[2], &[&["TCS"]])]).await;
    fixture.get(OTHERS[1], html("<!doctype html><a href='/user/account/'>me</a>")).await;
    let error = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound, "the site has no such screen: {error}");
    assert_eq!(fixture.screens.ids("demo"), ["momentum", "value_picks"]);
}

#[tokio::test]
async fn a_block_ends_the_scrape_and_what_was_fetched_is_kept() {
    let fixture = Fixture::serving(&[(DEFAULT, &[&["TCS"]])]).await;
    fixture.get(OTHERS[0], ResponseTemplate::new(403)).await;
    let browsed = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    assert_eq!(browsed.freshness, Freshness::Scraped);
    assert_eq!(browsed.warnings.len(), 3);
    assert!(browsed.warnings.iter().all(|warning| warning.contains("BLOCKED")), "{:?}", browsed.warnings);
    assert_eq!(fixture.screens.ids("demo"), ["default"]);
    assert_eq!(fixture.requests().await.len(), 4);
}

#[tokio::test]
async fn live_without_credentials_the_copy_is_returned_or_they_are_asked_for() {
    let fixture = Fixture::with(|settings| settings.demo = None, PROFILE).await;
    let error = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::AuthFailed);
    assert!(error.message.contains("SetScreenerCredentials"), "{error}");
    fixture.screens.put("demo", "default", copy(2 * DAY));
    let kept = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    assert!(kept.warnings[0].contains("SetScreenerCredentials"), "{:?}", kept.warnings);
    assert!(!fixture.screens.is_spent("demo"), "the day's scrape is still to be had");
    assert_eq!(fixture.requests().await.len(), 0);
}

#[tokio::test]
async fn each_user_signs_in_as_that_user_and_sees_that_users_copies_only() {
    let fixture = full_site().await;
    let user = |name: &str| name.parse::<toolwire_tool::context::UserId>().unwrap();
    fixture.credentials.set(&user("demo"), None, Login::new("demo-name", "demo-word"));
    fixture.credentials.set(&user("riley"), None, Login::new("riley-name", "riley-word"));
    fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    let before = fixture.requests().await.len();
    let browsed = fixture.screener.browse("default", Refresh::IfStale, &call_of("riley")).await.unwrap();
    assert_eq!(browsed.freshness, Freshness::Scraped, "not the other user's copy");
    let requests = fixture.requests().await;
    let form = String::from_utf8_lossy(&requests[before + 1].body);
    assert!(form.contains("riley-name") && form.contains("riley-word") && !form.contains("demo"), "{form}");
}

#[tokio::test]
async fn calls_at_the_same_time_share_one_scrape_whichever_screen_they_want() {
    let fixture = full_site().await;
    let (first, second) = (call_of("demo"), call_of("demo"));
    let (default, momentum) = join(
        fixture.screener.browse("default", Refresh::IfStale, &first),
        fixture.screener.browse("momentum", Refresh::Force, &second),
    )
    .await;
    assert_eq!(symbols(&default.unwrap()), ["TCS", "INFY", "WIPRO"]);
    let momentum = momentum.unwrap();
    assert_eq!((symbols(&momentum), momentum.freshness), (vec!["ITC"], Freshness::Scraped));
    assert_eq!(fixture.requests().await.len(), 7);
}

#[tokio::test]
async fn when_the_last_caller_leaves_the_scrape_stops_and_what_was_fetched_is_kept() {
    let fixture = Fixture::serving(&[(DEFAULT, &[&["TCS"]])]).await;
    fixture.get(OTHERS[0], html("").set_delay(Duration::from_mins(5))).await;
    let context = call_of("demo");
    select! {
        browsed = fixture.screener.browse("default", Refresh::IfStale, &context) => panic!("{browsed:?}"),
        () = fixture.screens.kept.notified() => {}
    }
    let kept = fixture.screener.browse("default", Refresh::IfStale, &context).await.unwrap();
    assert_eq!(symbols(&kept), ["TCS"]);
    assert!(matches!(kept.freshness, Freshness::Kept(_)));
    let error = fixture.screener.browse("momentum", Refresh::IfStale, &context).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::RateLimited, "the scrape was begun, and was the day's: {error}");
}

#[tokio::test]
async fn the_other_screens_never_cost_the_call_the_one_it_asked_for() {
    let fixture = Fixture::serving(&[(DEFAULT, &[&["TCS"]])]).await;
    fixture.get(OTHERS[0], html("").set_delay(Duration::from_mins(5))).await;
    let context = in_time(Duration::from_secs(2));
    let browsed = fixture.screener.browse("default", Refresh::IfStale, &context).await.unwrap();
    assert_eq!((symbols(&browsed), browsed.freshness), (vec!["TCS"], Freshness::Scraped));
    assert!(browsed.warnings[0].contains("TIMEOUT"), "{:?}", browsed.warnings);
}

#[tokio::test]
async fn a_scrape_that_outlasts_the_call_leaves_it_time_to_return_the_copy() {
    let fixture = Fixture::empty().await;
    fixture.get("login/", html("").set_delay(Duration::from_mins(5))).await;
    fixture.screens.put("demo", "default", copy(2 * DAY));
    let context = in_time(Duration::from_millis(500));
    let kept = fixture.screener.browse("default", Refresh::IfStale, &context).await.unwrap();
    assert!(kept.warnings[0].contains("TIMEOUT"), "{:?}", kept.warnings);
}

#[tokio::test]
async fn the_scrape_of_the_day_is_not_spent_where_it_would_be_lost() {
    let fixture = Fixture::with(|settings| settings.least_time = Duration::from_hours(1), PROFILE).await;
    let error = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Timeout);
    assert!(error.message.contains("at least 60 min"), "{error}");
    assert!(!fixture.screens.is_spent("demo"));

    let fixture = Fixture::empty().await;
    let until = clock::wall() + Duration::from_hours(2);
    let reason = "Screener.in refused us at noon.".to_owned();
    *fixture.cool_downs.0.lock().unwrap() = Some(CoolDown { code: ErrorCode::Blocked, reason, until });
    let error = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Blocked, "Screener.in refused us at noon."));
    assert!(error.retry_after.is_some());
    assert!(!fixture.screens.is_spent("demo"));
    assert_eq!(fixture.requests().await.len(), 0);
}

#[tokio::test]
async fn without_its_store_the_site_is_not_asked() {
    let fixture = full_site().await;
    fixture.screens.fail();
    for refresh in [Refresh::IfStale, Refresh::Force] {
        let error = fixture.screener.browse("default", refresh, &call_of("demo")).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Unavailable);
    }
    assert_eq!(fixture.requests().await.len(), 0);
}

#[tokio::test]
async fn a_cancelled_call_asks_nothing() {
    let fixture = full_site().await;
    let context = call_of("demo");
    context.cancellation.cancel(toolwire_tool::context::StopCause::Cancelled);
    let error = fixture.screener.browse("default", Refresh::Force, &context).await.unwrap_err();
    assert_eq!(error, ToolError::cancelled());
    assert_eq!(fixture.requests().await.len(), 0);
}

#[tokio::test]
async fn a_caller_hears_which_page_is_read() {
    let fixture = full_site().await;
    let (events, mut heard) = toolwire_tool::context::EventSink::speaking();
    let context = ToolContext { events, ..call_of("demo") };
    fixture.screener.browse("default", Refresh::IfStale, &context).await.unwrap();
    drop(context);
    let mut messages = Vec::new();
    while let Some(Event::Progress { message, .. }) = heard.recv().await {
        messages.push(message);
    }
    assert!(messages.iter().any(|message| message.contains("of the screen default")), "{messages:?}");
}
