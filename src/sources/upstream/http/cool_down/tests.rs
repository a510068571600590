//! A source that refused us gets a cool-down: for all users, or for the user whose credentials it refused.

use std::{sync::Arc, time::Duration};

use tower::Layer as _;

use super::{
    super::{
        CredentialsOf, Failure, FailureKind, Part, Profile,
        testing::{FakeCoolDowns, PROFILE, context, failing, failure, get, request},
    },
    *,
};
use crate::upstream::settings;
use toolwire_base::middleware::Layer;
use toolwire_tool::context::{ToolContext, User};

const MINUTE: Duration = Duration::from_mins(1);

fn of(name: &str) -> ToolContext {
    ToolContext { user: User::new(name.parse().unwrap()), ..context(MINUTE) }
}

fn scope(profile: Profile, part: Option<Part>, store: &Arc<FakeCoolDowns>) -> Scope {
    Scope::new(profile.subject(part), Arc::clone(store) as _, settings::CoolDown::default())
}

/// A request of riley that fails like this, then one of the given user, which the source would answer.
async fn after(
    profile: Profile,
    kind: FailureKind,
    store: &Arc<FakeCoolDowns>,
    user: &str,
) -> Option<Failure> {
    let stack = Layer(Check(scope(profile, None, store))).layer(failing([failure(kind)]));
    let first = stack.clone().oneshot(request(get(), &of("riley"))).await.unwrap_err();
    assert_eq!((first.kind, first.detail), (kind, failure(kind).detail), "the failure itself is not lost");
    let length = match kind {
        FailureKind::Blocked => Some(Duration::from_hours(6)),
        FailureKind::AuthFailed => Some(Duration::from_mins(30)),
        _ => None,
    };
    assert_eq!(first.retry_after, length, "the first one learns for how long too");
    stack.oneshot(request(get(), &of(user))).await.err()
}

#[tokio::test]
async fn a_source_that_blocks_us_is_asked_no_more() {
    let store = Arc::default();
    let refusal = after(PROFILE, FailureKind::Blocked, &store, "ops").await.unwrap();
    assert_eq!(refusal.kind, FailureKind::Blocked);
    assert_eq!(refusal.message.as_deref(), Some("Toy Forum is blocking requests."));
    let left = refusal.retry_after.unwrap();
    assert!(left > Duration::from_mins(359) && left <= Duration::from_hours(6), "{left:?}");
    assert_eq!(store.begun.lock().unwrap().len(), 1, "a refusal of ours begins nothing");
}

#[tokio::test]
async fn refused_credentials_concern_those_whose_they_are() {
    let users = Profile { credentials: CredentialsOf::User, ..PROFILE };
    assert_eq!(after(users, FailureKind::AuthFailed, &Arc::default(), "ops").await, None);
    let refusal = after(users, FailureKind::AuthFailed, &Arc::default(), "riley").await.unwrap();
    assert!(refusal.retry_after.unwrap() <= Duration::from_mins(30));
    let refusal = after(PROFILE, FailureKind::AuthFailed, &Arc::default(), "ops").await.unwrap();
    assert_eq!(refusal.kind, FailureKind::AuthFailed);
    assert!(after(users, FailureKind::Blocked, &Arc::default(), "ops").await.is_some());
}

#[tokio::test]
async fn other_failures_begin_nothing() {
    for kind in [FailureKind::Down, FailureKind::NotFound, FailureKind::Malformed, FailureKind::RateLimited] {
        assert_eq!(after(PROFILE, kind, &Arc::default(), "riley").await, None, "{kind:?}");
    }
}

#[tokio::test]
async fn a_store_that_fails_stops_no_request_and_hides_nothing() {
    let store = Arc::new(FakeCoolDowns { is_broken: true, ..FakeCoolDowns::default() });
    assert_eq!(after(PROFILE, FailureKind::Blocked, &store, "riley").await, None);
}

#[tokio::test]
async fn a_part_that_refuses_us_is_left_alone_by_itself_and_with_its_source() {
    const GAZETTE: Part = Part { name: "toy_forum/gazette", title: "The Gazette" };
    let store = Arc::<FakeCoolDowns>::default();
    let ask = async |part, failures: Vec<Failure>| {
        let stack = Layer(Check(scope(PROFILE, part, &store))).layer(failing(failures));
        stack.oneshot(request(get(), &of("riley"))).await.map(drop).map_err(|failure| failure.kind)
    };
    let blocked = || vec![failure(FailureKind::Blocked)];
    assert!(ask(Some(GAZETTE), blocked()).await.is_err());
    assert_eq!(ask(Some(GAZETTE), Vec::new()).await, Err(FailureKind::Blocked));
    assert_eq!(ask(None, Vec::new()).await, Ok(()), "the rest goes on");
    let other = Part { name: "toy_forum/post", ..GAZETTE };
    assert!(ask(None, blocked()).await.is_err());
    assert_eq!(ask(Some(other), Vec::new()).await, Err(FailureKind::Blocked), "it belongs to the source");
}

#[tokio::test]
async fn a_refusal_that_came_while_a_request_waited_does_not_begin_another() {
    let store = Arc::<FakeCoolDowns>::default();

    let meanwhile = failure(FailureKind::Blocked).with_retry_after(Some(MINUTE));
    let stack = Layer(Check(scope(PROFILE, None, &store))).layer(failing([meanwhile]));
    let failure = stack.oneshot(request(get(), &of("riley"))).await.unwrap_err();
    assert_eq!(failure.retry_after, Some(MINUTE));
    assert!(store.begun.lock().unwrap().is_empty());
}

#[tokio::test]
async fn credentials_that_do_not_exist_are_not_mentioned() {
    let anonymous = Profile { credentials: CredentialsOf::None, ..PROFILE };
    let refusal = after(anonymous, FailureKind::AuthFailed, &Arc::default(), "ops").await.unwrap();
    assert_eq!(refusal.message.as_deref(), Some("Toy Forum refuses access."));
    let refusal = after(PROFILE, FailureKind::AuthFailed, &Arc::default(), "ops").await.unwrap();
    assert!(refusal.message.unwrap().contains("credentials"));
}
