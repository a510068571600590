//! The life of a confirmation and of its call in the store, against the table.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::state;
use bytes::Bytes;
use proptest::{prelude::*, sample::select};
use strum::VariantArray as _;
use tokio::runtime::Runtime;
use toolwire::{
    base::digest::Digest,
    contract::{ConfirmationCause, ConfirmationId, ErrorCode, proto::v1},
    state::{
        Store,
        confirmations::{
            Admission, CallRef, ConfirmationRequest, Decided, Decision, Scope, Verdict,
            life::{Event, Next, OnCall, State},
        },
        idempotency::{About, Beginning, Begun, Effect, Idempotency, Key},
    },
    tool::context::{CallId, KnownBy, Lineage},
};

use super::{RequestId, json};

const MINUTE: Duration = Duration::from_mins(1);

/// A store, one call, and the clock.
struct Desk {
    store: Store,
    key: Key,
    lineage: Lineage,
    now: SystemTime,
    definition: u8,
}

impl Desk {
    fn new() -> Self {
        let request_id = RequestId::generate();
        let key = Key { user: "riley".parse().unwrap(), tool: "pay_bill".parse().unwrap(), request_id };
        let lineage = Lineage::of(CallId::generate()).with_request_id(request_id);
        let now = UNIX_EPOCH + Duration::from_hours(491_266);
        Self { store: state::fresh(), key, lineage, now, definition: 0 }
    }

    fn digest(&self) -> Digest {
        Digest::of_bytes(&[self.definition])
    }

    async fn call(&self) -> Admission {
        self.call_with(b"arguments").await
    }

    async fn call_with(&self, arguments: &[u8]) -> Admission {
        let asked = ConfirmationRequest {
            user_email: Some("riley@example.com".to_owned()),
            face: "mcp".to_owned(),
            client: "acme-desk/2.1".to_owned(),
            path: vec![self.key.tool.clone()],
            summary: "Pay".to_owned(),
            arguments: json!({"to": "ACME", "amount": 9_007_199_254_740_993_i64}).as_object().cloned(),
            definition_digest: self.digest(),
            definition: Bytes::new(),
            category: v1::ToolCategory::Write,
            consequence_level: v1::ConsequenceLevel::High,
            cause: ConfirmationCause::Manifest,
            task_id: None,
            session_id: Some("s-1".parse().unwrap()),
            outermost: self.lineage.outermost(),
        };
        let digest = Digest::of_bytes(arguments);
        let about = About::of(self.lineage.outermost().call_id, self.digest());
        let begins = Beginning { key: &self.key, effect: Effect::Write, digest, about: &about };
        self.store.at_time(self.now).begin_confirmed(begins, &asked, MINUTE).await
    }

    /// The same call, as if it needed no confirmation.
    async fn begin(&self) -> Begun {
        let about = About::of(self.lineage.outermost().call_id, self.digest());
        let digest = Digest::of_bytes(b"arguments");
        let begins = Beginning { key: &self.key, effect: Effect::Write, digest, about: &about };
        self.store.at_time(self.now).begin(begins).await
    }

    async fn decide(&self, id: &ConfirmationId, approves: bool) -> bool {
        let verdict = match approves {
            true => Verdict::Approve { use_within: MINUTE, definition_digest: Some(self.digest()) },
            false => Verdict::Deny,
        };
        let decided = Decided {
            at: self.now,
            by: "alex".parse().unwrap(),
            via: "grpc".to_owned(),
            on_behalf_of: String::new(),
        };
        let decision = Decision {
            verdict,
            decided,
            reason: "because".to_owned(),
            known_by: KnownBy::Token,
            peer: None,
            workload: None,
        };
        self.store
            .at_time(self.now)
            .decide_confirmation(id, &decision)
            .await
            .unwrap()
            .expect("it is there")
            .holds
    }

    async fn state(&self, id: &ConfirmationId) -> State {
        self.store.at_time(self.now).confirmation(id).await.unwrap().unwrap().state
    }
}

#[track_caller]
fn confirmation_id(opened: Admission) -> ConfirmationId {
    match opened {
        Admission::Asks(confirmation) => confirmation.id,
        other => panic!("{other:?}"),
    }
}

/// An event, and what the table says becomes of it.
async fn step(desk: &mut Desk, id: &ConfirmationId, state: State, event: Event) -> State {
    let next = state.on(event);
    let holds = match event {
        Event::Approve | Event::Deny => desk.decide(id, event == Event::Approve).await,
        Event::TimePasses => {
            desk.now += MINUTE;
            desk.store.at_time(desk.now).expire_confirmations().await.unwrap();
            true
        }
        Event::DefinitionChanges => {
            desk.definition += 1;
            // It is compared when the call comes again: what was open is voided and another is asked for.
            if state.is_open() {
                assert_ne!(confirmation_id(desk.call().await), *id);
            }
            true
        }
        Event::Cancel => {
            let of = CallRef::Request(desk.key.request_id);
            desk.store.at_time(desk.now).withdraw_confirmations(&desk.key.user, of).await.unwrap();
            true
        }
    };
    assert_eq!(holds, next != Next::Refused, "{state:?} {event:?}");
    match next {
        Next::Becomes(state) => state,
        Next::Same | Next::Refused => state,
    }
}

/// The call again, and what the table says becomes of its confirmation.
async fn call_again(desk: &Desk, id: &ConfirmationId, state: State) -> State {
    let error = |opened: Admission| match opened {
        Admission::Begun(Begun::Ended(result)) => result.outcome.err().map(|error| error.code),
        other => panic!("{state:?}: {other:?}"),
    };
    let opened = desk.call().await;
    match state {
        State::Pending => assert_eq!(confirmation_id(opened), *id),
        State::Approved => assert!(matches!(opened, Admission::Begun(Begun::New)), "{opened:?}"),
        State::Used => assert!(matches!(opened, Admission::Begun(Begun::Unfinished { .. })), "{opened:?}"),
        State::Denied => assert_eq!(error(opened), Some(ErrorCode::ConfirmationDenied)),
        State::Expired => assert_eq!(error(opened), Some(ErrorCode::ConfirmationExpired)),
        State::Withdrawn => assert_eq!(error(opened), Some(ErrorCode::Cancelled)),
        State::Voided => assert_ne!(confirmation_id(opened), *id),
    }
    match state.on_call() {
        OnCall::Begins(used) => used,
        _ => state,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn the_store_follows_the_table_for_every_sequence(
        events in prop::collection::vec(prop::option::of(select(Event::VARIANTS)), 1..16)
    ) {
        Runtime::new().unwrap().block_on(async {
            let mut desk = Desk::new();
            let id = confirmation_id(desk.call().await);
            let mut state = State::Pending;
            for event in events {
                state = match event {
                    Some(event) => step(&mut desk, &id, state, event).await,
                    None => call_again(&desk, &id, state).await,
                };
                assert_eq!(desk.state(&id).await, state, "after {event:?}");
                // What is voided is followed by another confirmation, whose life is its own.
                if state == State::Voided {
                    break;
                }
            }
            let kept = desk.store.confirmation_change_range(&Scope::All).await.unwrap();
            let changes = desk.store.confirmation_changes(&Scope::All, 0, 1_000).await.unwrap();
            let sequences: Vec<_> = changes.iter().map(|change| change.confirmation.sequence).collect();
            assert_eq!(sequences, (1..=kept.last).collect::<Vec<_>>(), "no gap, no double");
            let states: Vec<_> =
                changes.iter().filter(|it| it.confirmation.id == id).map(|it| it.confirmation.state).collect();
            assert_eq!(states.first(), Some(&State::Pending));
            assert_eq!(states.last(), Some(&state), "the last change is how it stands");
        });
    }
}

#[tokio::test]
async fn a_confirmation_is_read_back_as_it_was_asked_and_each_change_as_it_stood() {
    let mut desk = Desk::new();
    let Admission::Asks(asked) = desk.call().await else { panic!("asked") };
    let found = desk.store.at_time(desk.now).confirmation(&asked.id).await.unwrap().unwrap();
    assert_eq!(found, *asked);
    desk.now += Duration::from_secs(1);
    assert!(desk.decide(&asked.id, true).await);
    assert!(matches!(desk.call().await, Admission::Begun(Begun::New)));
    let changes = desk.store.confirmation_changes(&Scope::All, 0, 10).await.unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|change| {
            let it = &change.confirmation;
            (it.state, it.decided.is_some(), it.used.is_some(), it.reason.as_str())
        })
        .collect();
    assert_eq!(
        told,
        [
            (State::Pending, false, false, ""),
            (State::Approved, true, false, "because"),
            (State::Used, true, true, "because"),
        ]
    );
    assert_eq!(changes[0].confirmation, *asked);
}

/// A crash between `open` and the effect leaves a call that was begun: it is never asked for or begun again.
#[tokio::test]
async fn what_was_used_has_begun_and_other_arguments_conflict() {
    let desk = Desk::new();
    let id = confirmation_id(desk.call().await);
    assert!(matches!(desk.call_with(b"others").await, Admission::Begun(Begun::Conflict)));
    assert!(desk.decide(&id, true).await);
    assert!(matches!(desk.call_with(b"others").await, Admission::Begun(Begun::Conflict)));
    assert!(matches!(desk.call().await, Admission::Begun(Begun::New)));
    assert!(matches!(desk.call().await, Admission::Begun(Begun::Unfinished { .. })));
    // Nothing was done and the same may succeed later: it is asked for again, since each use needs its own.
    desk.store.forget(&desk.key, "UNAVAILABLE").await.unwrap();
    assert_ne!(confirmation_id(desk.call().await), id);
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_is_begun_by_nothing_else() {
    let desk = Desk::new();
    confirmation_id(desk.call().await);
    let begun = desk.begin().await;
    assert!(matches!(begun, Begun::Asked), "{begun:?}");
}

#[tokio::test]
async fn arguments_and_then_everything_is_forgotten_after_the_end() {
    let mut desk = Desk::new();
    let id = confirmation_id(desk.call().await);
    assert!(desk.decide(&id, false).await);
    let days = |days: u64| Duration::from_hours(24 * days);
    desk.now += days(31);
    desk.store.at_time(desk.now).sweep_confirmations().await.unwrap();
    let found = desk.store.at_time(desk.now).confirmation(&id).await.unwrap().unwrap();
    assert_eq!((found.asked.arguments, found.state), (None, State::Denied));
    desk.now += days(60);
    desk.store.at_time(desk.now).sweep_confirmations().await.unwrap();
    assert!(desk.store.at_time(desk.now).confirmation(&id).await.unwrap().is_none());
    let kept = desk.store.confirmation_change_range(&Scope::All).await.unwrap();
    assert_eq!((kept.first, kept.last), (3, 2), "positions are never given again");
}

#[tokio::test]
async fn a_suspended_call_begins_again() {
    let desk = Desk::new();
    let begin = async || desk.begin().await;
    assert!(matches!(begin().await, Begun::New));
    desk.store.suspend(&desk.key).await.unwrap();
    assert!(matches!(begin().await, Begun::New));
    assert!(matches!(begin().await, Begun::Unfinished { .. }));
}
