//! A gate holds calls back by limits, pauses and cool-downs, and none of another provider.

use std::sync::Arc;

use super::*;
use crate::upstream::{
    limiter::{Budget, Budgets, MemoryLimiter},
    provider::COOL_DOWN,
    stack::{CredentialsOf, HoldOff, Subject},
};
use toolwire_contract::Event;
use toolwire_state::{MemoryCoolDowns, MemoryHoldOffs};
use toolwire_tool::context::{EventSink, User};

const MINUTE: Duration = Duration::from_mins(1);

/// What providers share.
#[derive(Default)]
struct State {
    cool_downs: Arc<MemoryCoolDowns>,
    hold_offs: Arc<MemoryHoldOffs>,
}

impl State {
    /// The gate of a provider. `shop` has two calls a minute.
    fn gate(&self, provider: &'static str) -> Gate {
        let per_user = Budget { max_requests: 2, window: MINUTE, min_delay: Duration::ZERO };
        let limiter = MemoryLimiter::new([("shop", Budgets { per_user, ceiling: Budget::UNLIMITED })]);
        let subject = Subject {
            source: provider.into(),
            name: provider.into(),
            title: provider.into(),
            credentials: CredentialsOf::Service,
        };
        let hold_off = HoldOff::new(subject.clone(), Arc::clone(&self.hold_offs) as _);
        let limit = Limit::new(subject.clone(), Arc::new(limiter), hold_off);
        Gate::new(Scope::new(subject, Arc::clone(&self.cool_downs) as _, COOL_DOWN), limit)
    }
}

fn call(user: &str) -> ToolContext {
    ToolContext::new(User::new(user.parse().unwrap()), clock::now() + 10 * MINUTE)
}

async fn admit(gate: &Gate, user: &str, time: Duration) -> Result<Permit, ToolError> {
    gate.admit(&call(user), clock::now() + time).await
}

async fn note(gate: &Gate, code: ErrorCode, retry_after: Option<Duration>) -> ToolError {
    let error = ToolError { retry_after, ..ToolError::new(code, "riley's own words") };
    gate.note(error, Permit::Unlimited, &"riley".parse().unwrap()).await
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_is_waited_for_and_reported_or_refused_with_the_wait() {
    let gate = State::default().gate("shop");
    for _ in 0..2 {
        admit(&gate, "riley", Duration::ZERO).await.expect("within the budget");
    }
    let error = admit(&gate, "riley", MINUTE / 2).await.expect_err("too late");
    assert_eq!((error.code, error.retry_after), (ErrorCode::RateLimited, Some(MINUTE)), "{error}");
    admit(&gate, "alex", Duration::ZERO).await.expect("each user has one");
    let (events, mut reports) = EventSink::speaking();
    let (context, began) = (ToolContext { events, ..call("riley") }, clock::now());
    gate.admit(&context, began + 2 * MINUTE).await.expect("after a wait");
    assert_eq!(clock::now() - began, MINUTE);
    let message = reports.recv().await.unwrap();
    assert!(matches!(message, Event::Progress { message, .. } if message.contains("for shop")));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_started_spends_nothing() {
    let gate = State::default().gate("shop");
    let user = "riley".parse().unwrap();
    for origin in [Origin::Service, Origin::Tool, Origin::Tool] {
        let permit = admit(&gate, "riley", Duration::ZERO).await.expect("within the budget");
        let error = ToolError::new(ErrorCode::Unavailable, "no slot").with_origin(origin);
        assert_eq!(gate.note(error.clone(), permit, &user).await, error);
    }
    admit(&gate, "riley", Duration::ZERO).await.expect_err("two are spent");
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_a_provider_asks_for_holds_for_all_its_calls_and_for_no_other_provider() {
    let state = State::default();
    let (gate, other) = (state.gate("bank"), state.gate("docs"));
    admit(&gate, "riley", Duration::ZERO).await.expect("nothing is in force");
    let error = note(&gate, ErrorCode::RateLimited, Some(MINUTE)).await;
    assert_eq!((error.retry_after, error.message.as_str()), (Some(MINUTE), "riley's own words"));
    let error = admit(&gate, "alex", MINUTE / 2).await.expect_err("a pause");
    assert_eq!(error.code, ErrorCode::RateLimited);
    assert!(error.retry_after.is_some_and(|it| it > MINUTE / 2 && it <= MINUTE), "{error:?}");
    admit(&other, "alex", Duration::ZERO).await.expect("another provider");
}

/// By the real clock, which pauses are stored by.
#[tokio::test]
async fn a_pause_within_the_deadline_is_waited_for() {
    let gate = State::default().gate("bank");
    let (began, pause) = (clock::now(), Duration::from_millis(50));
    note(&gate, ErrorCode::RateLimited, Some(pause)).await;
    admit(&gate, "alex", MINUTE).await.expect("after the pause");
    assert!(clock::now() - began >= pause / 2);
}

#[tokio::test]
async fn refused_credentials_begin_a_cool_down_that_every_user_learns_without_the_words_of_the_call() {
    let state = State::default();
    let (gate, other) = (state.gate("bank"), state.gate("docs"));
    let error = note(&gate, ErrorCode::AuthFailed, Some(Duration::from_hours(9))).await;
    assert_eq!(error.retry_after, Some(MINUTE), "its length is ours");
    let error = admit(&gate, "alex", MINUTE).await.expect_err("a cool-down");
    assert_eq!(error.code, ErrorCode::AuthFailed);
    assert!(error.message.contains("bank") && !error.message.contains("riley"), "{error}");
    assert!(state.gate("bank").admit(&call("sam"), clock::now()).await.is_err(), "it is in the state");
    admit(&other, "alex", MINUTE).await.expect("another provider");
}

#[tokio::test]
async fn other_errors_begin_nothing() {
    let gate = State::default().gate("bank");
    for code in [
        ErrorCode::Unavailable,
        ErrorCode::Blocked,
        ErrorCode::NotFound,
        ErrorCode::OutcomeUnknown,
        ErrorCode::Timeout,
    ] {
        note(&gate, code, Some(MINUTE)).await;
    }
    note(&gate, ErrorCode::RateLimited, None).await;
    admit(&gate, "riley", Duration::ZERO).await.expect("nothing is in force");
}

/// Otherwise thousands of calls a second would read it.
#[tokio::test(start_paused = true)]
async fn the_state_is_read_once_a_second_and_what_another_process_began_is_found_then() {
    let state = State::default();
    let (gate, of_other_process) = (state.gate("bank"), state.gate("bank"));
    admit(&gate, "riley", Duration::ZERO).await.expect("nothing is in force");
    note(&of_other_process, ErrorCode::AuthFailed, None).await;
    admit(&gate, "riley", Duration::ZERO).await.expect("not looked at yet");
    tokio::time::advance(CLEAR).await;
    admit(&gate, "riley", Duration::ZERO).await.expect_err("a cool-down");
}
