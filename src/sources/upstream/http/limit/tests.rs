//! Requests wait for their permits, say so, and are refused at once where none comes in time.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use tokio::time::sleep;
use tower::Layer as _;

use super::{
    super::{
        Answer, Failure, FailureKind,
        testing::{PROFILE, context, failing, get, request},
    },
    *,
};
use crate::upstream::{
    limiter::{Budget, Budgets, Limiter, MemoryLimiter},
    stack::HoldOff,
};
use toolwire_base::{clock, middleware::Layer};
use toolwire_contract::Event;
use toolwire_state::MemoryHoldOffs;
use toolwire_tool::context::{EventSink, StopCause, ToolContext};

/// One request every four seconds.
fn limiter() -> Arc<MemoryLimiter> {
    let budget = Budget { max_requests: 1, window: Duration::from_secs(4), min_delay: Duration::ZERO };
    Arc::new(MemoryLimiter::new([(PROFILE.name, Budgets { per_user: budget, ceiling: budget })]))
}

async fn send(limiter: &Arc<MemoryLimiter>, context: &ToolContext) -> Result<Answer, Failure> {
    let hold_off = HoldOff::new(PROFILE.subject(None), Arc::<MemoryHoldOffs>::default());
    let limit = stack::Limit::new(PROFILE.subject(None), Arc::clone(limiter) as _, hold_off);
    let stack = Layer(Limit(limit)).layer(failing([]));
    stack.oneshot(request(get(), context)).await
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_says_how_long() {
    let (sink, mut events) = EventSink::speaking();
    let (limiter, context) = (limiter(), ToolContext { events: sink, ..context(Duration::from_mins(1)) });
    let began = clock::now();
    assert!(send(&limiter, &context).await.is_ok());
    assert_eq!(clock::now(), began);
    assert!(events.try_recv().is_err(), "nothing to tell");
    assert!(send(&limiter, &context).await.is_ok());
    assert_eq!(clock::now() - began, Duration::from_secs(4));
    let event = events.recv().await.unwrap();
    assert!(matches!(event, Event::Progress { message, .. } if message == "Waiting 4 s for Toy Forum"));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_would_wait_too_long_is_refused_with_the_instant() {
    let (limiter, context) = (limiter(), context(Duration::from_secs(3)));
    send(&limiter, &context).await.unwrap();
    let (began, before) = (clock::now(), clock::wall());
    let failure = send(&limiter, &context).await.unwrap_err();
    let after = clock::wall();
    assert_eq!(clock::now(), began);
    assert_eq!((failure.kind, failure.retry_after), (FailureKind::OverBudget, Some(Duration::from_secs(4))));
    let message = failure.message.unwrap();
    let instant =
        message.strip_prefix("Toy Forum may be asked again at ").unwrap().split(' ').next().unwrap();
    let instant = DateTime::parse_from_rfc3339(instant).unwrap().to_utc();
    let around = |wall| DateTime::<Utc>::from(wall).timestamp_millis() + 4_000;
    assert!((around(before)..=around(after)).contains(&instant.timestamp_millis()), "{message}");
    assert!(message.contains("(in 4 s), which is past the deadline"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_cancelled_gives_its_place_back() {
    let (limiter, context) = (limiter(), context(Duration::from_mins(1)));
    send(&limiter, &context).await.unwrap();
    let cancellation = context.cancellation.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        cancellation.cancel(StopCause::Cancelled);
    });
    assert_eq!(send(&limiter, &context).await.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(limiter.wait_time(PROFILE.name, &context.user.id).await, Duration::from_secs(3));
}
