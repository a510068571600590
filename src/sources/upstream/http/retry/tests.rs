//! Each kind of failure is retried as often as its row says, and no longer than the deadline allows.

use tower::Layer as _;

use super::{
    super::{
        CredentialsOf, Outgoing,
        testing::{PROFILE, context, failing, failure, get, request},
    },
    *,
};
use crate::upstream::{
    http::ExpectedBody,
    limiter::{Budget, Budgets, MemoryLimiter},
};
use toolwire_base::{clock, middleware::Layer};
use toolwire_contract::Event;
use toolwire_tool::context::{EventSink, StopCause, ToolContext};

const HOUR: Duration = Duration::from_hours(1);

fn limiter() -> Arc<MemoryLimiter> {
    let budget =
        Budget { max_requests: 1, window: Duration::from_secs(10), min_delay: Duration::from_secs(5) };
    Arc::new(MemoryLimiter::new([(PROFILE.name, Budgets { per_user: budget, ceiling: budget })]))
}

/// The outcome of a request to a source that fails like this, and the number of attempts.
async fn asked(
    profile: Profile,
    outgoing: Outgoing,
    failures: Vec<Failure>,
    context: &ToolContext,
) -> (Result<(), Failure>, u32) {
    let request = request(outgoing, context);
    let attempts = request.attempts.clone();
    let end = Layer(Retry::new(profile, limiter())).layer(failing(failures)).oneshot(request).await;
    (end.map(drop), attempts.get())
}

async fn attempts(failures: Vec<Failure>) -> u32 {
    asked(PROFILE, get(), failures, &context(HOUR)).await.1
}

#[tokio::test(start_paused = true)]
async fn each_kind_has_its_number_of_attempts() {
    for (kind, expected) in [
        (FailureKind::TimedOut, 2),
        (FailureKind::Unreachable, 3),
        (FailureKind::Down, 3),
        (FailureKind::RateLimited, 2),
        (FailureKind::OverBudget, 1),
        (FailureKind::Uncounted, 1),
        (FailureKind::NotFound, 1),
        (FailureKind::AuthFailed, 1),
        (FailureKind::Blocked, 1),
        (FailureKind::Malformed, 1),
        (FailureKind::OutOfTime, 1),
        (FailureKind::Cancelled, 1),
        (FailureKind::NotConfigured, 1),
    ] {
        let (end, attempts) = asked(PROFILE, get(), vec![failure(kind); 9], &context(HOUR)).await;
        assert_eq!((end.unwrap_err().kind, attempts), (kind, expected));
        let (end, attempts) = asked(PROFILE, get(), vec![failure(kind)], &context(HOUR)).await;
        assert_eq!((end.is_ok(), attempts), (expected > 1, expected.min(2)), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn failures_of_several_kinds_share_the_two_retries() {
    use FailureKind::{Down, RateLimited, TimedOut, Unreachable};
    let of = |kinds: &[FailureKind]| attempts(kinds.iter().map(|kind| failure(*kind)).collect());
    assert_eq!(of(&[Down, TimedOut, Unreachable]).await, 3);
    assert_eq!(of(&[TimedOut, TimedOut]).await, 2);
    assert_eq!(of(&[RateLimited, Down, Down, Down]).await, 4);
    assert_eq!(of(&[Down, RateLimited, Down, RateLimited]).await, 4);
}

#[tokio::test(start_paused = true)]
async fn only_what_changes_nothing_is_sent_again() {
    let post =
        || Outgoing::post_form("http://127.0.0.1:9/".parse().unwrap(), &[("a", "b")], ExpectedBody::Json);
    let down = || vec![failure(FailureKind::Down); 9];
    assert_eq!(asked(PROFILE, post(), down(), &context(HOUR)).await.1, 1);
    assert_eq!(asked(PROFILE, post().repeatable(), down(), &context(HOUR)).await.1, 3);
    let per_user = Profile { may_retry: false, credentials: CredentialsOf::User, ..PROFILE };
    assert_eq!(asked(per_user, get(), down(), &context(HOUR)).await.1, 1);
    assert_eq!(asked(per_user, get(), vec![failure(FailureKind::RateLimited)], &context(HOUR)).await.1, 1);
}

#[tokio::test(start_paused = true)]
async fn a_429_is_waited_for_as_long_as_it_asks() {
    let began = clock::now();
    let asks = failure(FailureKind::RateLimited).with_retry_after(Some(Duration::from_secs(33)));
    assert_eq!(attempts(vec![asks]).await, 2);
    assert_eq!(clock::now() - began, Duration::from_secs(33));
}

#[tokio::test(start_paused = true)]
async fn a_429_that_asks_for_nothing_is_waited_for_twice_as_long_as_the_limiter_says() {
    let limiter = limiter();
    let user = context(HOUR).user.id;
    let stack = Layer(Retry::new(PROFILE, Arc::clone(&limiter) as _));
    let stack = stack.layer(failing(vec![failure(FailureKind::RateLimited); 9]));
    limiter.acquire(PROFILE.name, &user, clock::now(), &|_| {}).await.unwrap();
    let began = clock::now();
    let end = stack.clone().oneshot(request(get(), &context(HOUR))).await;
    assert_eq!(clock::now() - began, Duration::from_secs(20));
    // By now the limiter would wait no more: the spacing is the least.
    assert_eq!(end.unwrap_err().retry_after, Some(Duration::from_secs(5)));
}

#[tokio::test(start_paused = true)]
async fn what_the_deadline_has_no_room_for_is_not_waited_for() {
    let began = clock::now();
    let asks = failure(FailureKind::RateLimited).with_retry_after(Some(Duration::from_secs(33)));
    let (end, attempts) = asked(PROFILE, get(), vec![asks.clone()], &context(Duration::from_secs(33))).await;
    assert_eq!((end.unwrap_err(), attempts), (asks, 1));
    let forever = failure(FailureKind::RateLimited).with_retry_after(Some(Duration::MAX));
    assert_eq!(asked(PROFILE, get(), vec![forever], &context(HOUR)).await.1, 1);
    let (end, attempts) =
        asked(PROFILE, get(), vec![failure(FailureKind::Down)], &context(Duration::ZERO)).await;
    assert_eq!((end.unwrap_err().kind, attempts), (FailureKind::Down, 1));
    assert_eq!(clock::now(), began);
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_the_limit_refuses_says_what_made_it_necessary() {
    let failures = vec![failure(FailureKind::Down), failure(FailureKind::OverBudget)];
    let (end, _) = asked(PROFILE, get(), failures, &context(HOUR)).await;
    assert_eq!(end.unwrap_err().kind, FailureKind::Down);
    let failures = vec![failure(FailureKind::RateLimited), failure(FailureKind::OverBudget)];
    let (end, _) = asked(PROFILE, get(), failures, &context(HOUR)).await;
    assert_eq!(end.unwrap_err().kind, FailureKind::OverBudget);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_cancellation_and_is_reported() {
    let (sink, mut events) = EventSink::speaking();
    let context = ToolContext { events: sink, ..context(HOUR) };
    let cancellation = context.cancellation.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        cancellation.cancel(StopCause::Cancelled);
    });
    let began = clock::now();
    let asks = failure(FailureKind::RateLimited).with_retry_after(Some(Duration::from_millis(9_100)));
    let (end, attempts) = asked(PROFILE, get(), vec![asks], &context).await;
    assert_eq!((end.unwrap_err().kind, attempts), (FailureKind::Cancelled, 1));
    assert_eq!(clock::now() - began, Duration::from_secs(1));
    let event = events.recv().await.unwrap();
    assert!(matches!(event, Event::Progress { message, .. } if message == "Waiting 10 s for Toy Forum"));
}

#[tokio::test(start_paused = true)]
async fn a_503_that_says_when_to_come_back_is_asked_no_sooner_and_not_at_all_beyond_the_deadline() {
    let pause = Duration::from_secs(20);
    let down = || vec![failure(FailureKind::Down).with_retry_after(Some(pause))];
    let began = clock::now();
    let (end, attempts) = asked(PROFILE, get(), down(), &context(HOUR)).await;
    assert_eq!((end, attempts), (Ok(()), 2));
    assert!(clock::now() - began >= pause);
    let began = clock::now();
    let (end, attempts) = asked(PROFILE, get(), down(), &context(pause)).await;
    assert_eq!((end.unwrap_err().kind, attempts), (FailureKind::Down, 1));
    assert_eq!(clock::now(), began);
}
